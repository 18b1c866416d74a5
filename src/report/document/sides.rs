//! Disagreements, rulings and spot checks.

use super::{Block, Cell, Column, Row, Section, Table, findings};
use crate::agree::diagnose::Kind;
use crate::report::View;

pub(super) fn section(view: &View) -> Section {
    let mut blocks = vec![Block::Table(sides(view))];
    blocks.extend(findings(view, |kind| kind == Kind::OneSidedAdjudicator));
    let checks = &view.adjudication.spot_checks;
    if checks.cases == 0 {
        blocks.push(Block::Paragraph(
            "No agreement was spot-checked, so mistakes that both raters share stay unseen.".to_owned(),
        ));
    } else {
        blocks.push(Block::Paragraph(format!(
            "Agreements were spot-checked on {} cases: of {} checked values {} were called wrong.",
            checks.cases, checks.checked, checks.wrong
        )));
        blocks.push(Block::Table(spot_checks(view)));
    }
    Section { id: "adjudication", title: "Adjudication and spot checks".to_owned(), blocks }
}

fn sides(view: &View) -> Table {
    let [first, second] = &view.header.pair;
    let rows = view.adjudication.labels.iter().map(|row| {
        let sides = &row.sides;
        Row::new(vec![
            Cell::text(&row.label),
            Cell::Count(sides.disagreements),
            Cell::Count(sides.one_sided_na),
            Cell::Count(sides.with_first),
            Cell::Count(sides.with_second),
            Cell::Count(sides.with_neither),
            Cell::Count(sides.open),
            Cell::P(row.p_even),
        ])
    });
    Table {
        name: "adjudication".to_owned(),
        caption: "Disagreements and whose value the ruling took".to_owned(),
        columns: vec![
            Column::text("Label", "label"),
            Column::number("Disagreements", "disagreements"),
            Column::number("of them one n.a.", "one_sided_na"),
            Column::number(&format!("for {first}"), "with_first"),
            Column::number(&format!("for {second}"), "with_second"),
            Column::number("for neither", "with_neither"),
            Column::number("Open", "open"),
            Column::number("p (even)", "p_even"),
        ],
        rows: rows.collect(),
        note: Some(
            "p (even): exact two-sided probability of rulings at least this uneven if both raters were right as often."
                .to_owned(),
        ),
        print: true,
        ..Table::default()
    }
}

fn spot_checks(view: &View) -> Table {
    let rows = view
        .adjudication
        .spot_checks
        .labels
        .iter()
        .map(|row| Row::new(vec![Cell::text(&row.label), Cell::Count(row.checked), Cell::Count(row.wrong)]));
    Table {
        name: "spot_checks".to_owned(),
        caption: "Spot checks of agreed values".to_owned(),
        columns: vec![
            Column::text("Label", "label"),
            Column::number("Checked", "checked"),
            Column::number("Called wrong", "wrong"),
        ],
        rows: rows.collect(),
        ..Table::default()
    }
}

pub(super) fn list(view: &View) -> Option<Section> {
    if view.disagreement_list.is_empty() {
        return None;
    }
    let [first, second] = &view.header.pair;
    let reasons = view
        .disagreement_list
        .iter()
        .any(|row| !(row.first_rationale.is_empty() && row.second_rationale.is_empty() && row.note.is_empty()));
    let mut columns = vec![
        Column::text("Label", "label"),
        Column::text("Case", "case"),
        Column::text("Stratum", "stratum"),
        Column::text(first.as_str(), "first"),
        Column::text(second.as_str(), "second"),
        Column::text("Ruling", "ruling"),
    ];
    if reasons {
        columns.push(Column::text(&format!("{first} says"), "first_rationale"));
        columns.push(Column::text(&format!("{second} says"), "second_rationale"));
        columns.push(Column::text("Ruling says", "note"));
    }
    let rows = view.disagreement_list.iter().map(|row| {
        let mut cells = vec![
            Cell::text(&row.label),
            Cell::code(&row.case),
            Cell::text(&row.stratum),
            Cell::code(&row.first),
            Cell::code(&row.second),
            row.ruling.as_ref().map_or_else(|| Cell::text("open"), Cell::code),
        ];
        if reasons {
            cells.extend([&row.first_rationale, &row.second_rationale, &row.note].map(Cell::text));
        }
        Row::new(cells)
    });
    Some(Section {
        id: "disagreements",
        title: "Disagreements, case by case".to_owned(),
        blocks: vec![Block::Table(Table {
            name: "disagreements".to_owned(),
            caption: format!("All {} disagreements of the pair of record", view.disagreement_list.len()),
            columns,
            rows: rows.collect(),
            folded: true,
            ..Table::default()
        })],
    })
}
