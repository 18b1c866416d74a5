//! τ² runs in `dualrater gar`.

use std::collections::{BTreeMap, BTreeSet};

use crate::action::RuleSet;
use crate::cli::desk::Desk;
use crate::cli::{Output, output};
use crate::error::{Error, Result};
use crate::model::{BatchName, Category, LabelId, RatingValue};
use crate::store::Store;
use crate::tau2::{Domain, Tau2GarRow, ask_subset, audit, gar_rows};

/// The rows of the τ² runs among some runs (of all, where none is named).
///
/// With a batch of rated ASK candidates the subset `adjudicated` holds the tasks that it calls valid in the end.
pub(in crate::cli) fn rows(
    store: &Store,
    runs: &[String],
    rules: &[RuleSet],
    ask_labels: Option<&BatchName>,
) -> Result<Vec<Tau2GarRow>> {
    let valid = ask_labels.map(|batch| valid_tasks(store, batch)).transpose()?;
    let mut wanted = Vec::new();
    if runs.is_empty() {
        wanted = store.runs()?;
    } else {
        for name in runs {
            wanted.push(store.run(name)?);
        }
    }
    let mut rows = Vec::new();
    for run in wanted {
        let Some(facts) = store.tau2_facts(&run)? else { continue };
        let audit = audit(&facts);
        for rules in rules {
            let mut of_run = gar_rows(&facts, &audit, (&run.model, &run.condition), *rules);
            if let Some(tasks) = valid.as_ref().map(|valid| valid.get(&facts.domain).cloned().unwrap_or_default()) {
                for subsets in of_run.iter_mut().filter_map(|row| row.subsets.as_mut()) {
                    subsets.insert("adjudicated", ask_subset(&facts, &tasks));
                }
            }
            rows.extend(of_run);
        }
    }
    Ok(rows)
}

/// The tasks that a rated batch of candidates calls valid after adjudication, per domain.
fn valid_tasks(store: &Store, batch: &BatchName) -> Result<BTreeMap<Domain, BTreeSet<String>>> {
    let desk = Desk::open(store, batch)?;
    let Some((a, b)) = desk.audit.pair.clone() else {
        return Err(Error::usage(format!("batch {batch} has no two raters yet")));
    };
    let label = LabelId::parse("ask").map_err(|error| Error::internal(error.to_string()))?;
    let mut valid: BTreeMap<Domain, BTreeSet<String>> = BTreeMap::new();
    let mut open = 0;
    for case in desk.audit.cases.iter().filter(|case| case.category == Category::Tau2Task) {
        match case.final_value((&a, &b), &label).map(RatingValue::as_str) {
            None => open += 1,
            Some("valid") => {
                let run = store.tau2_run(&store.run(case.case.run())?)?;
                if let (Some(run), Some(task)) = (run, case.case.case().strip_prefix("task:")) {
                    valid.entry(run.domain).or_default().insert(task.to_owned());
                }
            }
            Some(_) => {}
        }
    }
    if open > 0 {
        return Err(Error::usage(format!("{open} tasks of batch {batch} have no final value yet"))
            .hint(format!("finish it with `dualrater adjudicate export --batch {batch} --out rulings.csv`")));
    }
    Ok(valid)
}

/// A row in the columns of `gar --csv`.
pub(in crate::cli) fn cells(row: &Tau2GarRow) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let limits = |interval: Option<[f64; 2]>| {
        interval.map_or_else(|| [String::new(), String::new()], |limits| limits.map(|limit| limit.to_string()))
    };
    let joint = row.joint;
    let mut cells = vec![
        output::inert(&row.run),
        output::inert(&row.model),
        output::inert(&row.condition),
        row.domain.to_string(),
        row.rules.as_str().to_owned(),
        row.class.to_string(),
        row.denominator.to_string(),
        row.unscored.to_string(),
        "0".to_owned(),
        row.gar_hits.to_string(),
        number(row.gar_pct),
    ];
    cells.extend(limits(row.gar_ci95));
    cells.push(number(row.acc_pct));
    cells.extend(limits(row.acc_ci95));
    cells.push(number(row.delta_pp));
    cells.extend(limits(row.delta_ci95));
    cells.extend(
        [joint.gar1_pass, joint.gar1_fail, joint.gar0_pass, joint.gar0_fail, joint.gar0_pass].map(|n| n.to_string()),
    );
    cells.push(row.diagnosis.map_or(String::new(), |diagnosis| diagnosis.as_str().to_owned()));
    cells.push("false".to_owned());
    cells
}

/// One block a run and rule set.
pub(in crate::cli) fn show(rows: &[Tau2GarRow], output: &mut Output) {
    for block in rows.chunk_by(|a, b| (&a.run, a.rules) == (&b.run, b.rules)) {
        let Some(first) = block.first() else { continue };
        output.line(format!(
            "{} · τ² {} · model {} · {} · rules {}",
            first.run,
            first.domain,
            first.model,
            first.condition,
            first.rules.as_str()
        ));
        let rated = |value: Option<f64>, interval: Option<[f64; 2]>| {
            format!("{} {}", output::percent(value), output::interval(interval, 1)).trim_end().to_owned()
        };
        let table: Vec<Vec<String>> = block
            .iter()
            .map(|row| {
                let delta = row.delta_pp.map_or("–".to_owned(), |delta| format!("{delta:+.1}"));
                vec![
                    row.class.to_string(),
                    row.denominator.to_string(),
                    rated(row.gar_pct, row.gar_ci95),
                    rated(row.acc_pct, row.acc_ci95),
                    format!("{delta} {}", output::interval(row.delta_ci95, 1)).trim_end().to_owned(),
                ]
            })
            .collect();
        output.table(&["class", "n", "GAR %", "Acc %", "Δ pp"], &table, &[1, 2, 3, 4]);
        for row in block {
            let diagnosis = row.diagnosis.map_or("no diagnosis", |diagnosis| match diagnosis {
                crate::gar::Diagnosis::Masking => "masking",
                crate::gar::Diagnosis::ExecutionGap => "execution gap",
                crate::gar::Diagnosis::NoClearGap => "no clear gap",
            });
            let passes = row.joint.gar0_pass + row.joint.gar1_pass;
            let masked = row.joint.gar0_pass;
            output
                .line(format!(" {}: {diagnosis}; {masked} of {passes} passes are without the gold action", row.class));
            for (name, subset) in row.subsets.iter().flatten() {
                let percent =
                    |hits: u64| output::percent((subset.n > 0).then(|| hits as f64 * 100.0 / subset.n as f64));
                output.line(format!(
                    "   ask, subset {name}: n {}, GAR {} %, Acc {} %",
                    subset.n,
                    percent(subset.gar_hits),
                    percent(subset.acc_hits)
                ));
            }
        }
        let masking = &first.masking;
        output.line(format!(
            " of {} passes {} are on tasks without a reference write ({} of them tool_call): an agent that does nothing gets them",
            masking.passes, masking.passes_without_reference_write, masking.tool_call_passes_without_reference_write
        ));
        for note in &first.notes {
            output.line(format!("note: {note}"));
        }
        output.line("");
    }
}
