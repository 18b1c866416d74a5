//! Agreement per label and stratum as tables and a forest plot.

use std::fmt::Write as _;

use super::forest::ForestRow;
use super::{Block, Cell, Column, Forest, Mark, MarkKind, Row, Section, Table};
use super::{findings, remark};
use crate::agree::LabelAgreement;
use crate::agree::diagnose::Kind;
use crate::model::LabelId;
use crate::report::view::MeanKappa;
use crate::report::{View, number};

pub(super) fn section(view: &View) -> Section {
    let mut blocks = Vec::new();
    if let Some(note) = view.agreement.pooled_note {
        blocks.push(Block::Paragraph(note.to_owned()));
    }
    blocks.push(Block::Figure(figure(view)));
    blocks.push(Block::Table(pooled(view)));
    blocks.extend(means(view).map(Block::Paragraph));
    if let Some(found) = findings(view, |kind| kind != Kind::OneSidedAdjudicator) {
        blocks.push(Block::Heading("What to look at".to_owned()));
        blocks.push(found);
    }
    blocks.push(Block::Table(left_out(view)));
    if view.header.strata.len() > 1 {
        blocks.push(Block::Table(strata(view)));
    }
    Section { id: "agreement", title: "Agreement before adjudication".to_owned(), blocks }
}

fn bootstrap(row: &LabelAgreement) -> Option<[f64; 2]> {
    row.ci95_bootstrap.low.zip(row.ci95_bootstrap.high).map(|(low, high)| [low, high])
}

fn pooled(view: &View) -> Table {
    let rows = view.agreement.labels.iter().map(|label| {
        let row = &label.dropped;
        Row::new(vec![
            Cell::text(&row.label),
            Cell::Count(row.n),
            Cell::Count(row.agree),
            Cell::Percent(row.po),
            Cell::PercentInterval(row.po_ci95),
            Cell::Number(row.kappa, 3),
            Cell::Number(row.se, 3),
            Cell::Interval(row.ci95, 3),
            Cell::Interval(bootstrap(row), 3),
            Cell::Number(label.na_as_category.kappa, 3),
            Cell::text(remark(row.reason)),
        ])
    });
    let drawn = &view.agreement.bootstrap;
    Table {
        name: "agreement".to_owned(),
        caption: "Agreement of the pair of record per label, all strata together".to_owned(),
        columns: vec![
            Column::text("Label", "label"),
            Column::number("n", "n"),
            Column::number("Agree", "agree"),
            Column::number("Agreement", "po"),
            Column::interval("95 % (Wilson)", "po_ci95"),
            Column::number("κ", "kappa"),
            Column::number("SE", "se"),
            Column::interval("κ 95 %", "kappa_ci95"),
            Column::interval("κ 95 % (bootstrap)", "kappa_bootstrap95"),
            Column::number("κ, n.a. a category", "kappa_na_category"),
            Column::text("Remark", "remark"),
        ],
        rows: rows.collect(),
        note: Some(format!(
            "n: cases in which both raters gave a value. Intervals of κ: ± 1.96 standard errors, and percentiles of {} \
             bootstrap replicates (seed {}). A κ of 1 has no interval: the sample has no disagreement to measure one by.",
            drawn.replicates, drawn.seed
        )),
        print: true,
        ..Table::default()
    }
}

fn means(view: &View) -> Option<String> {
    let sentence = |mean: &MeanKappa| {
        let labels: Vec<&str> = mean.labels.iter().map(LabelId::as_str).collect();
        let mut text = format!(
            "{} over {}, smallest {}",
            number::fixed(Some(mean.mean), 4),
            labels.join(", "),
            number::fixed(Some(mean.min), 4)
        );
        if !mean.undefined.is_empty() {
            let labels: Vec<&str> = mean.undefined.iter().map(LabelId::as_str).collect();
            let _ = write!(text, " (without {}, whose κ is undefined)", labels.join(", "));
        }
        text
    };
    let with = view.agreement.mean.as_ref()?;
    let mut text = format!("Mean κ of the primary labels: {}.", sentence(with));
    if let Some(without) = &view.agreement.mean_without_derived {
        let _ = write!(text, " Without labels that follow by rule from others: {}.", sentence(without));
    }
    Some(text + " A mean over different questions is a summary, not a κ.")
}

fn left_out(view: &View) -> Table {
    let rows = view.agreement.labels.iter().map(|label| {
        let (row, out) = (&label.dropped, &label.dropped.left_out);
        Row::new(vec![
            Cell::text(&row.label),
            Cell::Count(row.n + out.total()),
            Cell::Count(row.n),
            Cell::Count(out.one_sided_na),
            Cell::Count(out.both_na),
            Cell::Count(out.missing),
            Cell::Count(out.cannot_judge),
            Cell::Count(out.no_verdict),
        ])
    });
    Table {
        name: "left_out".to_owned(),
        caption: "Cases used and left out per label".to_owned(),
        columns: vec![
            Column::text("Label", "label"),
            Column::number("Cases", "cases"),
            Column::number("Used", "used"),
            Column::number("One n.a.", "one_sided_na"),
            Column::number("Both n.a.", "both_na"),
            Column::number("Missing", "missing"),
            Column::number("Cannot judge", "cannot_judge"),
            Column::number("No verdict", "no_verdict"),
        ],
        rows: rows.collect(),
        note: Some(
            "One n.a. against a value is a disagreement about whether the label applies; κ over the rest does not see it, κ \
             with n.a. as a category does."
                .to_owned(),
        ),
        ..Table::default()
    }
}

fn strata(view: &View) -> Table {
    let mut rows = Vec::new();
    for label in &view.agreement.labels {
        for (row, with_na) in label.dropped.strata.iter().zip(&label.na_as_category.strata) {
            rows.push(Row::new(vec![
                Cell::text(&row.label),
                Cell::text(row.stratum.as_ref().map_or("", |id| id.as_str())),
                Cell::Count(row.n),
                Cell::Count(row.left_out.total()),
                Cell::Percent(row.po),
                Cell::PercentInterval(row.po_ci95),
                Cell::Number(row.kappa, 3),
                Cell::Interval(row.ci95, 3),
                Cell::Interval(bootstrap(row), 3),
                Cell::Number(with_na.kappa, 3),
                Cell::text(remark(row.reason)),
            ]));
        }
    }
    Table {
        name: "agreement_by_stratum".to_owned(),
        caption: "Agreement per label and stratum".to_owned(),
        columns: vec![
            Column::text("Label", "label"),
            Column::text("Stratum", "stratum"),
            Column::number("n", "n"),
            Column::number("Left out", "left_out"),
            Column::number("Agreement", "po"),
            Column::interval("95 % (Wilson)", "po_ci95"),
            Column::number("κ", "kappa"),
            Column::interval("κ 95 %", "kappa_ci95"),
            Column::interval("κ 95 % (bootstrap)", "kappa_bootstrap95"),
            Column::number("κ, n.a. a category", "kappa_na_category"),
            Column::text("Remark", "remark"),
        ],
        rows,
        folded: true,
        ..Table::default()
    }
}

fn figure(view: &View) -> Forest {
    let mut rows = Vec::new();
    let mut low = 0.0f64;
    for label in &view.agreement.labels {
        let pooled = &label.dropped;
        rows.push(row(pooled, pooled.label.to_string(), false));
        let several = pooled.strata.iter().filter(|stratum| stratum.n > 0).count() > 1;
        for stratum in pooled.strata.iter().filter(|stratum| several && stratum.kappa.is_some()) {
            let name = stratum.stratum.as_ref().map_or("", |id| id.as_str());
            rows.push(row(stratum, format!("stratum {name}"), true));
        }
        let shown = std::iter::once(pooled).chain(&pooled.strata);
        low = shown.filter_map(|row| row.ci95.map_or(row.kappa, |[low, _]| Some(low))).fold(low, f64::min);
    }
    // Down to the next half, but not below the least value that kappa can take.
    let low = ((low * 2.0).floor() / 2.0).clamp(-1.0, 0.0);
    let ticks = [-1.0, -0.5, 0.0, 0.5, 1.0].into_iter().filter(|tick| *tick >= low).collect();
    Forest {
        name: "kappa".to_owned(),
        title: "Cohen's κ per label and stratum, with 95 % intervals (strata without a κ are not drawn)".to_owned(),
        description: describe(view),
        low,
        high: 1.0,
        ticks,
        percent: false,
        reference: Some(0.0),
        legend: vec![
            (MarkKind::Disc, "κ with an interval".to_owned()),
            (MarkKind::Ring, "κ that has no interval".to_owned()),
        ],
        rows,
    }
}

fn row(row: &LabelAgreement, label: String, detail: bool) -> ForestRow {
    let kind = if row.ci95.is_some() { MarkKind::Disc } else { MarkKind::Ring };
    let marks = row.kappa.map(|value| Mark { kind, value, interval: row.ci95 }).into_iter().collect();
    let text = match row.kappa {
        Some(_) => format!("{} (n {})", number::fixed(row.kappa, 2), row.n),
        None => format!("undefined (n {})", row.n),
    };
    ForestRow { label: vec![label], detail, marks, text: vec![text] }
}

fn describe(view: &View) -> String {
    let rows: Vec<String> = view
        .agreement
        .labels
        .iter()
        .map(|label| format!("{} {}", label.dropped.label, number::fixed(label.dropped.kappa, 2)))
        .collect();
    format!("One row per label and, below it, per stratum in which κ is defined. Pooled values: {}.", rows.join(", "))
}
