//! The findings as tables of 80 columns.

use crate::cli::{Output, output};
use crate::estimate::findings::{CrossRow, Estimate, Findings, Marginal, Measures, Share};
use crate::model::{BatchName, RaterName};

pub(super) fn head(
    batch: &BatchName,
    rubric: &str,
    pair: (&RaterName, &RaterName),
    found: &Findings,
    output: &mut Output,
) {
    output.line(format!("batch {batch} · rubric {rubric} · raters {} and {} · label {}", pair.0, pair.1, found.label));
    paragraph(&format!("Estimated: {}.", found.estimand), output);
    if let Some(reason) = &found.not_weighted {
        paragraph(&format!("Not weighted: {reason}."), output);
    }
    output.line("");
}

pub(super) fn all(found: &Findings, cases: bool, output: &mut Output) {
    let rows: Vec<&Estimate> = found.cells.iter().chain(&found.models).chain([&found.overall]).collect();
    if found.not_weighted.is_some() {
        sample(&rows, output);
    } else {
        rates(found, output);
        reasons(found, &rows, output);
        corrections(found, output);
    }
    cross(found, output);
    kappa(found, output);
    if cases {
        disagreeing(found, output);
    } else {
        let count = found.disagreeing.iter().filter(|case| case.metric == found.metric).count();
        if count > 0 {
            output.line(format!("{count} cases differ from GAR; --cases lists them with the cue"));
        }
    }
    for note in &found.notes {
        paragraph(&format!("note: {note}"), output);
    }
}

fn percent(share: Option<f64>) -> String {
    output::percent(share.map(|share| share * 100.0))
}

fn with_limits(share: Option<f64>, limits: Option<[f64; 2]>) -> String {
    format!("{} {}", percent(share), whole(limits)).trim_end().to_owned()
}

/// An interval in whole percent: the tables have no room for more, and the sample rarely has it either.
fn whole(limits: Option<[f64; 2]>) -> String {
    output::interval(limits.map(|limits| limits.map(|limit| limit * 100.0)), 0)
}

fn count(value: Option<u64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}

/// Running text in the width of the terminal.
fn paragraph(text: &str, output: &mut Output) {
    let width = usize::from(output::width());
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            output.line(&line);
            "  ".clone_into(&mut line);
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    output.line(line);
}

/// A heading for each run and the rows below it: the category, or what takes its place. At the end the row over all runs.
fn blocks<'a, R>(found: &'a Findings, rows: impl Fn(&'a Estimate) -> Vec<R>, mut show: impl FnMut(&str, Vec<R>)) {
    for model in &found.models {
        let own = |row: &&Estimate| row.run == model.run && row.model == model.model;
        let mut block: Vec<R> = found.cells.iter().filter(own).flat_map(&rows).collect();
        if found.cells.iter().filter(own).count() > 1 {
            block.extend(rows(model));
        }
        show(&model.cell, block);
    }
    if found.models.len() > 1 {
        show("all runs", rows(&found.overall));
    }
}

/// What a row is called below the heading of its run.
fn name(row: &Estimate) -> String {
    match (row.category, &row.model) {
        (Some(category), _) => category.to_string(),
        (None, Some(_)) => "together".to_owned(),
        (None, None) => "all runs".to_owned(),
    }
}

/// The rates: a covered row has its own, of a row that is covered in part the part stands below.
fn rates(found: &Findings, output: &mut Output) {
    let line = |name: String, found: &Measures| {
        vec![
            name,
            count(found.population),
            found.n.to_string(),
            with_limits(found.weighted_rate, found.ci95),
            percent(found.gar_rate),
            with_limits(found.difference_estimator.rate, found.difference_estimator.ci95),
        ]
    };
    let rows = |row: &Estimate| {
        let mut lines = vec![line(name(row), &row.measures)];
        lines.extend(row.covered_part.as_ref().map(|part| line("  covered part".to_owned(), part)));
        lines
    };
    let mut table = Vec::new();
    blocks(found, rows, |run, lines| {
        if run != "all runs" {
            table.push(vec![run.to_owned()]);
        }
        table.extend(lines);
    });
    output.table(&["", "N", "n", "human %", "GAR %", "corrected %"], &table, &[1, 2, 3, 4, 5]);
    output.line("");
}

fn reasons(found: &Findings, rows: &[&Estimate], output: &mut Output) {
    for row in rows {
        if let Some(reason) = &row.reason {
            let bounds = row.whole_bounds.map_or_else(String::new, |[low, high]| {
                format!(
                    " If the rest had the finding never or always: {} to {} %.",
                    percent(Some(low)),
                    percent(Some(high))
                )
            });
            paragraph(&format!("{}: {reason}.{bounds}", row.cell), output);
        }
        let bounds = row.measures.weighted.and_then(|weighted| weighted.bounds);
        if let Some([low, high]) = bounds {
            let (low, high) = (percent(Some(low)), percent(Some(high)));
            paragraph(
                &format!("{}: {} drawn without an answer: {low} to {high} %.", row.cell, row.measures.unanswered),
                output,
            );
        }
    }
    if let [_, _, ..] = found.overall.pooled_over.as_slice() {
        paragraph(
            &format!("`all` mixes {}: it is a rate of none of them.", found.overall.pooled_over.join(", ")),
            output,
        );
    }
    output.line("");
}

/// The other corrections, per cell.
fn corrections(found: &Findings, output: &mut Output) {
    if let Some(reason) = &found.not_corrected {
        paragraph(&format!("GAR is not corrected: {reason}."), output);
        output.line("");
        return;
    }
    let mut table = Vec::new();
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    let (mut run, mut model) = (None, None);
    for row in &found.cells {
        if row.measures.n == 0 {
            continue;
        }
        let measures = row.covered_part.as_deref().unwrap_or(&row.measures);
        let rogan = &measures.rogan_gladen;
        let tuned = &measures.difference_tuned;
        let gained = measures.difference_estimator.more.gained;
        if table.last().is_none_or(|_| run != row.run || model != row.model) {
            table.push(vec![row.run.clone().or_else(|| row.model.clone()).unwrap_or_default()]);
            (run, model) = (row.run.clone(), row.model.clone());
        }
        let part = if row.covered_part.is_some() { " (part)" } else { "" };
        table.push(vec![
            format!("{}{part}", name(row)),
            with_limits(rogan.rate, rogan.ci95),
            with_limits(tuned.rate, tuned.ci95),
            output::number(tuned.more.lambda, 2),
            gained.map_or_else(|| "–".to_owned(), |gained| format!("{:+}", gained.round() as i64)),
        ]);
        for (what, reason) in [("Rogan-Gladen", &rogan.reason), ("tuned", &tuned.reason)] {
            let Some(reason) = reason else { continue };
            let text = format!("{what}: {reason}");
            match said.iter_mut().find(|(known, _)| *known == text) {
                Some((_, cells)) => cells.push(row.cell.clone()),
                None => said.push((text, vec![row.cell.clone()])),
            }
        }
    }
    output.table(&["", "Rogan-Gladen %", "tuned %", "lambda", "gained"], &table, &[1, 2, 3, 4]);
    paragraph(
        "gained: labelled cases that the correction with lambda = 1 is worth beyond those that were labelled; below 0 it \
         does harm.",
        output,
    );
    for (text, cells) in said {
        paragraph(&format!("{text} ({})", cells.join(", ")), output);
    }
    output.line("");
}

/// Rates of the audited cases, where there is no frame.
fn sample(rows: &[&Estimate], output: &mut Output) {
    let table: Vec<Vec<String>> = rows
        .iter()
        .filter(|row| row.sample.n > 0)
        .map(|row| {
            let sample = &row.sample;
            vec![
                row.cell.clone(),
                sample.n.to_string(),
                sample.k.to_string(),
                with_limits(sample.rate, sample.wilson95),
            ]
        })
        .collect();
    output.table(&["audited cases of", "n", "k", "rate % (Wilson)"], &table, &[1, 2, 3]);
    output.line("");
}

fn cross(found: &Findings, output: &mut Output) {
    let known = |row: &CrossRow| {
        let counts = row.confusion;
        counts.tp + counts.fp + counts.false_negatives + counts.tn > 0
    };
    let Some(main) = found.cross.iter().find(|table| table.metric == found.metric) else { return };
    if !known(&main.all) {
        output.line("The metric is not known for any audited case, so nothing is compared case by case.");
        return;
    }
    output.line(format!("Case by case, {} against {} (audited cases, unweighted)", found.label, main.title));
    let line = |name: String, row: &CrossRow| {
        let counts = row.confusion;
        let split = &row.unweighted;
        let mut cells = vec![name];
        cells.extend([counts.tp, counts.fp, counts.false_negatives, counts.tn].map(|count| count.to_string()));
        cells.extend([&split.sensitivity, &split.specificity].map(|share: &Share| with_limits(share.rate, share.ci95)));
        cells.push(output::number(split.kappa.kappa, 2));
        cells
    };
    let rows = |row: &Estimate| {
        let own = main.cells.iter().find(|own| own.cell == row.cell && known(own));
        own.map(|own| line(name(row), own)).into_iter().collect()
    };
    let mut table = Vec::new();
    blocks(found, rows, |run, lines: Vec<Vec<String>>| {
        if !lines.is_empty() {
            table.push(vec![run.to_owned()]);
            table.extend(lines);
        }
    });
    table.push(line("all".to_owned(), &main.all));
    output.table(&["", "both", "GAR", "label", "none", "sens. %", "spec. %", "κ"], &table, &[1, 2, 3, 4, 5, 6, 7]);
    output.line("both: label 1 and hit; GAR: hit only; label: label 1 only; none: neither.");
    output.line("");
    readings(found, known, output);
}

/// The four readings of the metric over all audited cases.
fn readings(found: &Findings, known: impl Fn(&CrossRow) -> bool, output: &mut Output) {
    output.line("Each reading of GAR over all audited cases, unweighted and weighted by the design");
    let mut table = Vec::new();
    for reading in found.cross.iter().filter(|table| known(&table.all)) {
        let row = &reading.all;
        for (how, split) in [("", Some(&row.unweighted)), ("  weighted", row.weighted.as_ref())] {
            let Some(split) = split else { continue };
            let shares = [&split.sensitivity, &split.specificity, &split.ppv, &split.npv];
            let mut rates = vec![if how.is_empty() { reading.metric.to_string() } else { how.to_owned() }];
            rates.extend(shares.map(|share| percent(share.rate)));
            rates.push(output::number(split.kappa.kappa, 2));
            let mut limits = vec!["  95 %".to_owned()];
            limits.extend(shares.map(|share| whole(share.ci95)));
            limits.push(output::interval(split.kappa.ci95, 2));
            table.extend([rates, limits]);
        }
    }
    output.table(&["", "sens. %", "spec. %", "PPV %", "NPV %", "κ"], &table, &[1, 2, 3, 4, 5]);
    output.line("");
}

fn kappa(found: &Findings, output: &mut Output) {
    let weighted = &found.weighted_kappa;
    let text = match (weighted.kappa, &weighted.reason) {
        (None, Some(_)) if found.not_weighted.is_some() => return,
        (None, reason) => format!("undefined: {}", reason.as_deref().unwrap_or("no value")),
        (Some(kappa), None) => {
            format!("{kappa:.3} {} (SE {})", output::interval(weighted.ci95, 2), output::number(weighted.se, 3))
        }
        (Some(kappa), Some(reason)) => format!("{kappa:.3}, without an interval: {reason}"),
    };
    paragraph(&format!("The two raters' kappa over the frame, weighted by the design: {text}."), output);
}

fn disagreeing(found: &Findings, output: &mut Output) {
    let table: Vec<Vec<String>> = found
        .disagreeing
        .iter()
        .filter(|case| case.metric == found.metric)
        .map(|case| {
            vec![
                case.case.to_string(),
                case.label_value.to_string(),
                if case.hit { "hit" } else { "miss" }.to_owned(),
                case.cue.clone(),
            ]
        })
        .collect();
    output.line("");
    output.table(&["case", &found.label.to_string(), "GAR", "turn/step, class, cue"], &table, &[1]);
}

pub(super) fn marginal(cells: &[Marginal], percentages: bool, what: &str, output: &mut Output) {
    let read = if percentages { "percent" } else { "shares" };
    paragraph(&format!("{what} (The table's gar was read as {read}.)"), output);
    let table: Vec<Vec<String>> = cells
        .iter()
        .map(|row| {
            let points =
                |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{:+.1}", value * 100.0));
            let limits = row.difference_ci95.map(|limits| limits.map(|limit| limit * 100.0));
            vec![
                row.cell.clone(),
                row.n.to_string(),
                with_limits(row.rate, row.ci95),
                percent(Some(row.gar)),
                row.reason.clone().unwrap_or_else(|| {
                    format!("{} {}", points(row.difference), output::interval(limits, 1)).trim_end().to_owned()
                }),
            ]
        })
        .collect();
    output.table(&["", "n", "human %", "GAR %", "difference pp"], &table, &[1, 2, 3, 4]);
    output.line("");
}
