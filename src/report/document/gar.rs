//! The adjudicated labels against the automatic metric.

use super::{Block, Cell, Column, Row, Section, Table};
use crate::report::View;
use crate::report::view::{Cross, GarLabel};

pub(super) fn section(view: &View) -> Section {
    let mut blocks = vec![Block::Paragraph(view.gar.sentence.clone())];
    if !view.gar.labels.is_empty() {
        blocks.push(Block::Paragraph(view.gar.equal_rates_note.to_owned()));
    }
    for label in &view.gar.labels {
        blocks.push(Block::Heading(format!("{} against GAR", label.label)));
        blocks.push(Block::Paragraph(label.definitions.to_owned()));
        blocks.push(Block::Table(cross_table(label)));
        blocks.push(Block::Table(measures(label)));
        blocks.push(Block::Table(disagreeing(label)));
    }
    Section { id: "gar", title: "Agreement with the automatic metric (GAR), case by case".to_owned(), blocks }
}

fn cross_table(label: &GarLabel) -> Table {
    let cross = &label.pooled;
    let out = &cross.left_out;
    let row = |value: u64, hit: u64, miss: u64| {
        Row::new(vec![
            Cell::text(format!("{} = {value}", label.label)),
            Cell::Count(hit),
            Cell::Count(miss),
            Cell::Count(hit + miss),
        ])
    };
    Table {
        name: format!("gar_cross_{}", label.label),
        caption: format!("Cases by final {} and GAR", label.label),
        columns: vec![
            Column::text("", "label_value"),
            Column::number("GAR hit", "gar_hit"),
            Column::number("GAR miss", "gar_miss"),
            Column::number("Together", "cases"),
        ],
        rows: vec![row(1, cross.tp, cross.false_negatives), row(0, cross.fp, cross.tn)],
        note: Some(format!(
            "{} of {} cases; left out: {} without the metric, {} without a final value, {} n.a., {} cannot judge.",
            cross.n, cross.cases, out.no_gar, out.no_final, out.na, out.cannot_judge
        )),
        print: true,
        ..Table::default()
    }
}

fn measures(label: &GarLabel) -> Table {
    let mut rows = vec![Row::new(cells("all cases", "", &label.pooled))];
    let known = |cross: &Cross| cross.n > 0;
    for cell in label.cells.iter().filter(|cell| known(&cell.cross)) {
        let name = format!("{} {}", cell.model, cell.category);
        rows.push(Row::new(cells("cell", &name, &cell.cross)));
    }
    for stratum in label.strata.iter().filter(|stratum| known(&stratum.cross)) {
        rows.push(Row::detail(cells("stratum", stratum.stratum.as_str(), &stratum.cross)));
    }
    Table {
        name: format!("gar_agreement_{}", label.label),
        caption: format!("GAR as a test for {}: per model and category, and per stratum", label.label),
        columns: vec![
            Column::text("", "kind"),
            Column::text("Cases", "name"),
            Column::number("n", "n"),
            Column::number("Both", "tp"),
            Column::number("GAR only", "fp"),
            Column::number("Label only", "fn"),
            Column::number("Neither", "tn"),
            Column::number("Label rate", "label_rate"),
            Column::number("GAR", "gar_rate"),
            Column::number("Sensitivity", "sensitivity"),
            Column::interval("Sens. 95 %", "sensitivity_wilson95"),
            Column::number("Specificity", "specificity"),
            Column::interval("Spec. 95 %", "specificity_wilson95"),
            Column::number("κ", "kappa"),
            Column::interval("κ 95 %", "kappa_ci95"),
            Column::text("Remark", "remark"),
        ],
        rows,
        note: Some(
            "Sensitivity: of the cases whose label is 1, the share that GAR counts as hits. Specificity: of those whose label \
             is 0, the share that it counts as misses."
                .to_owned(),
        ),
        print: true,
        ..Table::default()
    }
}

fn cells(kind: &str, name: &str, cross: &Cross) -> Vec<Cell> {
    vec![
        Cell::text(kind),
        Cell::text(name),
        Cell::Count(cross.n),
        Cell::Count(cross.tp),
        Cell::Count(cross.fp),
        Cell::Count(cross.false_negatives),
        Cell::Count(cross.tn),
        Cell::Percent(cross.label_rate.rate),
        Cell::Percent(cross.gar_rate.rate),
        Cell::Percent(cross.sensitivity.rate),
        Cell::PercentInterval(cross.sensitivity.wilson95),
        Cell::Percent(cross.specificity.rate),
        Cell::PercentInterval(cross.specificity.wilson95),
        Cell::Number(cross.kappa, 3),
        Cell::Interval(cross.ci95, 3),
        Cell::text(super::remark(cross.reason)),
    ]
}

fn disagreeing(label: &GarLabel) -> Table {
    let rows = label.disagreeing.iter().map(|case| {
        Row::new(vec![
            Cell::code(&case.case),
            Cell::text(&case.stratum),
            Cell::text(&case.model),
            Cell::text(case.category),
            Cell::code(&case.label_value),
            Cell::text(if case.gar_hit { "hit" } else { "miss" }),
        ])
    });
    Table {
        name: format!("gar_disagreeing_{}", label.label),
        caption: format!("Cases on which {} and GAR differ", label.label),
        columns: vec![
            Column::text("Case", "case"),
            Column::text("Stratum", "stratum"),
            Column::text("Model", "model"),
            Column::text("Category", "category"),
            Column::text(&format!("Final {}", label.label), "label_value"),
            Column::text("GAR", "gar"),
        ],
        rows: rows.collect(),
        folded: true,
        ..Table::default()
    }
}
