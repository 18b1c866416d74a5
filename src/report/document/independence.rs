//! Who the raters are, what was looked at, and models beside people.

use super::remark;
use super::{Block, Cell, Column, Row, Section, Table};
use crate::estimate::judge::Validation;
use crate::report::View;

pub(super) fn section(view: &View) -> Section {
    let found = &view.independence;
    let mut blocks = vec![Block::Table(raters(view))];
    if !found.findings.is_empty() {
        blocks.push(Block::List(found.findings.iter().map(crate::agree::diagnose::Finding::sentence).collect()));
    }
    blocks.extend(found.looked().map(Block::Paragraph));
    if !found.rules_known {
        blocks.push(Block::Paragraph(
            "Whether a rater follows the data by rule was not looked at: no mechanical rater is stored.".to_owned(),
        ));
    }
    if let Some(flagged) = &found.flagged {
        blocks.push(Block::Paragraph(format!(
            "Cases that hold text that addresses the rater (orders, forged answers, marks of chat templates): {}{}",
            flagged.cases,
            if flagged.cases == 0 { "." } else { ", listed below. Their answers deserve a look." }
        )));
        if flagged.cases > 0 {
            let rows = flagged.list.iter().map(|case| Row::new(vec![Cell::code(case)])).collect();
            let columns = vec![Column::text("Case", "case")];
            let caption = "Cases that hold text that addresses the rater".to_owned();
            blocks.push(Block::Table(Table {
                name: "flagged".to_owned(),
                caption,
                columns,
                rows,
                folded: true,
                ..Table::default()
            }));
        }
    }
    if !found.consistency.is_empty() {
        blocks.push(Block::Table(consistency(view)));
    }
    if !found.repeated.is_empty() {
        blocks.push(Block::Table(repeated(view)));
    }
    if !found.looks.is_empty() {
        blocks.push(Block::Table(looks(view)));
    }
    Section { id: "independence", title: "Independence of the raters".to_owned(), blocks }
}

fn raters(view: &View) -> Table {
    let rows = view.independence.raters.iter().map(|row| {
        let reasons: Vec<String> = row.reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        Row::new(vec![
            Cell::text(&row.rater),
            Cell::text(row.kind),
            Cell::text(row.model.as_deref().unwrap_or_default()),
            Cell::text(if row.of_record { "of record" } else { "" }),
            Cell::Count(row.no_verdicts),
            Cell::text(reasons.join(", ")),
        ])
    });
    Table {
        name: "raters".to_owned(),
        caption: "The raters".to_owned(),
        columns: vec![
            Column::text("Rater", "rater"),
            Column::text("Kind", "kind"),
            Column::text("Model", "model"),
            Column::text("Role", "role"),
            Column::number("No verdict", "no_verdict"),
            Column::text("Reasons", "reasons"),
        ],
        rows: rows.collect(),
        note: Some("No verdict: labels of cases that a model was asked for and gave no usable answer to.".to_owned()),
        ..Table::default()
    }
}

fn consistency(view: &View) -> Table {
    let rows = view.independence.consistency.iter().map(|row| {
        Row::new(vec![
            Cell::text(&row.rater),
            Cell::text(&row.label),
            Cell::Count(row.passes.into()),
            Cell::Count(row.cases),
            Cell::Count(row.incomplete),
            Cell::Count(row.same),
            Cell::Percent(row.share),
            Cell::PercentInterval(row.share_ci95),
            Cell::Number(row.kappa, 3),
            Cell::Interval(row.kappa_ci95, 3),
        ])
    });
    Table {
        name: "self_consistency".to_owned(),
        caption: "Self-consistency of models over their passes".to_owned(),
        columns: vec![
            Column::text("Rater", "rater"),
            Column::text("Label", "label"),
            Column::number("Passes", "passes"),
            Column::number("Cases", "cases"),
            Column::number("Incomplete", "incomplete"),
            Column::number("Same", "same"),
            Column::number("Share", "share"),
            Column::interval("95 % (Wilson)", "share_ci95"),
            Column::number("κ of passes 1 and 2", "kappa"),
            Column::interval("95 %", "kappa_ci95"),
        ],
        rows: rows.collect(),
        note: Some(
            "How far a model repeats itself when asked again. This is no agreement between raters: mistakes repeat too. Same: \
             the same answer in every pass."
                .to_owned(),
        ),
        ..Table::default()
    }
}

fn repeated(view: &View) -> Table {
    let shared = view.independence.shared.as_ref().map(|row| {
        format!(
            " In {} of {} cases both raters of record gave nearly the same rationale to a label.",
            row.shared, row.compared
        )
    });
    let rows = view.independence.repeated.iter().map(|row| {
        Row::new(vec![
            Cell::text(&row.rater),
            Cell::text(&row.label),
            Cell::Count(row.compared),
            Cell::Count(row.repeated),
            Cell::Percent(Some(row.share)),
            Cell::PercentInterval(Some(row.interval)),
        ])
    });
    Table {
        name: "rationales".to_owned(),
        caption: "Rationales that repeat from case to case".to_owned(),
        columns: vec![
            Column::text("Rater", "rater"),
            Column::text("Label", "label"),
            Column::number("Compared", "compared"),
            Column::number("Repeated", "repeated"),
            Column::number("Share", "share"),
            Column::interval("Interval", "interval"),
        ],
        rows: rows.collect(),
        note: Some(format!(
            "Nearly the same as that of another case: four fifths of the runs of three words. Intervals at the level of all rows \
             together.{}",
            shared.unwrap_or_default()
        )),
        folded: true,
        ..Table::default()
    }
}

fn looks(view: &View) -> Table {
    let rows = view.independence.looks.iter().map(|look| {
        Row::new(vec![
            Cell::text(&look.rater),
            Cell::text(&look.label),
            Cell::text(look.kind.as_str()),
            Cell::Count(look.ones),
            Cell::Count(look.zeros),
            Cell::Percent(Some(look.effect)),
            Cell::PercentInterval(Some(look.interval)),
        ])
    });
    Table {
        name: "looks".to_owned(),
        caption: "Do length or order predict the answer?".to_owned(),
        columns: vec![
            Column::text("Rater", "rater"),
            Column::text("Label", "label"),
            Column::text("Looked at", "kind"),
            Column::number("Answered 1", "ones"),
            Column::number("Answered 0", "zeros"),
            Column::number("Chance", "effect"),
            Column::interval("Interval", "interval"),
        ],
        rows: rows.collect(),
        note: Some(format!(
            "Chance: that a case answered 1 is longer (in the same stratum, model and category) or came later than one answered \
             0; 50 where it does not matter. {} looks, intervals at the level of all of them together; labels with fewer than 10 \
             cases of either answer are not looked at.",
            view.independence.looks.len()
        )),
        folded: true,
        ..Table::default()
    }
}

/// Models beside people; `None` where no model has a person beside it.
pub(super) fn judges(view: &View) -> Option<Section> {
    if view.judges.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Paragraph(
        "Each model beside the people who rated the same cases. A model that agrees with a person as well as a second person \
         does can stand in for one on that label; its rates are corrected by what people found."
            .to_owned(),
    )];
    for (number, judge) in view.judges.iter().enumerate() {
        blocks.push(Block::Heading(judge.judge.to_string()));
        blocks.push(Block::Table(against(judge, number)));
        if judge.labels.iter().any(|label| !label.second.is_empty()) {
            blocks.push(Block::Table(second(judge, number)));
        }
        blocks.push(Block::Table(corrected(judge, number)));
    }
    Some(Section { id: "judges", title: "Models beside people".to_owned(), blocks })
}

/// `judge_people`, `judge_2_people`, …
fn named(what: &str, number: usize) -> String {
    if number == 0 { format!("judge_{what}") } else { format!("judge_{}_{what}", number + 1) }
}

fn against(judge: &Validation, number: usize) -> Table {
    let mut rows = Vec::new();
    for (label, found) in
        judge.labels.iter().flat_map(|label| label.against.iter().map(move |found| (&label.label, found)))
    {
        let row = &found.agreement;
        for (row, stratum) in
            std::iter::once((row, None)).chain(row.strata.iter().map(|row| (row, row.stratum.as_ref())))
        {
            if row.n == 0 {
                continue;
            }
            let name = stratum.map_or_else(|| "all".to_owned(), ToString::to_string);
            let cells = vec![
                Cell::text(&found.person),
                Cell::text(label),
                Cell::text(name),
                Cell::Count(row.n),
                Cell::Count(row.left_out.no_verdict),
                Cell::text(confusion(&row.categories, &row.table)),
                Cell::Percent(row.po),
                Cell::PercentInterval(row.po_ci95),
                Cell::Number(row.kappa, 3),
                Cell::Interval(row.ci95, 3),
                Cell::text(remark(row.reason)),
            ];
            rows.push(if stratum.is_some() { Row::detail(cells) } else { Row::new(cells) });
        }
    }
    Table {
        name: named("people", number),
        caption: format!("{} beside each person", judge.judge),
        columns: vec![
            Column::text("Person", "person"),
            Column::text("Label", "label"),
            Column::text("Stratum", "stratum"),
            Column::number("n", "n"),
            Column::number("No verdict", "no_verdict"),
            Column::text("Judge/person", "confusion"),
            Column::number("Agreement", "po"),
            Column::interval("95 % (Wilson)", "po_ci95"),
            Column::number("κ", "kappa"),
            Column::interval("95 %", "kappa_ci95"),
            Column::text("Remark", "remark"),
        ],
        rows,
        note: Some(
            "Judge/person: the judge's answer, a slash, the person's, and how often, where it occurs.".to_owned(),
        ),
        folded: true,
        ..Table::default()
    }
}

/// `0/0 12, 0/1 3`, …
fn confusion(categories: &[String], table: &[Vec<u64>]) -> String {
    let mut cells = Vec::new();
    for (judge, row) in categories.iter().zip(table) {
        for (person, count) in categories.iter().zip(row).filter(|(_, count)| **count > 0) {
            cells.push(format!("{judge}/{person} {count}"));
        }
    }
    cells.join(", ")
}

fn second(judge: &Validation, number: usize) -> Table {
    let rows =
        judge.labels.iter().flat_map(|label| label.second.iter().map(move |row| (label, row))).map(|(label, row)| {
            Row::new(vec![
                Cell::text(&label.label),
                Cell::text(&row.person),
                Cell::text(&row.second),
                Cell::Count(row.n),
                Cell::Count(row.judge_agrees),
                Cell::Count(row.second_agrees),
                Cell::Percent(Some(row.difference)),
                Cell::PercentInterval(Some(row.interval)),
                Cell::text(row.standing.as_str()),
            ])
        });
    Table {
        name: named("second_person", number),
        caption: format!("Does {} agree with a person as well as a second person does?", judge.judge),
        columns: vec![
            Column::text("Label", "label"),
            Column::text("Person", "person"),
            Column::text("Second person", "second"),
            Column::number("n", "n"),
            Column::number("Judge agrees", "judge_agrees"),
            Column::number("Second agrees", "second_agrees"),
            Column::number("Difference", "difference"),
            Column::interval("Interval (Tango)", "interval"),
            Column::text("As well?", "standing"),
        ],
        rows: rows.collect(),
        note: Some(format!(
            "Cases that all three answered. As well: less than {:.0} points worse, surely; worse: surely worse; open: the sample \
             does not tell. {} comparisons, intervals at the level of all of them together.",
            100.0 * judge.margin,
            judge.comparisons
        )),
        ..Table::default()
    }
}

fn corrected(judge: &Validation, number: usize) -> Table {
    let rows = judge.labels.iter().filter_map(|label| label.corrected.as_ref().map(|found| (label, found))).map(
        |(label, found)| {
            let share = |k: u64, n: u64| (n > 0).then(|| k as f64 / n as f64);
            let tuned = found.tuned.as_ref();
            let plain = found.difference.as_ref();
            Row::new(vec![
                Cell::text(&label.label),
                Cell::Count(found.judged),
                Cell::Percent(share(found.judged_yes, found.judged)),
                Cell::Count(found.with_people),
                Cell::Percent(share(found.people_yes, found.with_people)),
                Cell::Percent(plain.map(|rate| rate.rate)),
                Cell::PercentInterval(plain.map(|rate| rate.ci95)),
                Cell::Percent(tuned.map(|rate| rate.rate)),
                Cell::PercentInterval(tuned.map(|rate| rate.ci95)),
                Cell::Number(tuned.map(|rate| rate.lambda), 2),
                Cell::Count(found.outside),
                Cell::text(found.reason.as_deref().unwrap_or_default()),
            ])
        },
    );
    Table {
        name: named("corrected", number),
        caption: format!("Rates of {} corrected by people", judge.judge),
        columns: vec![
            Column::text("Label", "label"),
            Column::number("Judged", "judged"),
            Column::number("Judge's rate", "judge_rate"),
            Column::number("Also by people", "with_people"),
            Column::number("People's rate", "people_rate"),
            Column::number("Corrected", "difference"),
            Column::interval("95 %", "difference_ci95"),
            Column::number("Tuned", "tuned"),
            Column::interval("95 %", "tuned_ci95"),
            Column::number("λ", "lambda"),
            Column::number("Outside", "outside"),
            Column::text("Remark", "remark"),
        ],
        rows: rows.collect(),
        note: Some(
            "Difference estimator over the judged cases of the batch, stratum by stratum: it holds whatever the judge's errors \
             are, if the people's cases are a random part of each stratum (each rater's order is shuffled, so the first so many \
             are). People's rate: of the sampled cases as they are, unweighted. Outside: cases to which the judge gave neither 0 \
             nor 1. The rate is that of the batch; strata of different sampling shares have to be weighted for the run."
                .to_owned(),
        ),
        ..Table::default()
    }
}
