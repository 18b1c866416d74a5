//! Consent before database writes.

use super::{Block, Cell, Column, Row, Section, Table};
use crate::report::View;
use crate::tau2::ConfirmRow;

pub(super) fn section(view: &View) -> Option<Section> {
    let found = view.consent.as_ref()?;
    let [first, second] = &view.header.pair;
    let mut rows = Vec::new();
    for (who, of) in [
        ("after adjudication".to_owned(), &found.after),
        (first.to_string(), &found.first),
        (second.to_string(), &found.second),
    ] {
        rows.extend(of.iter().map(|row| line(&who, row)));
    }
    let table = Table {
        name: "consent".to_owned(),
        caption: "Database writes that the user confirmed before, per model and domain".to_owned(),
        columns: vec![
            Column::text("By", "by"),
            Column::text("Model", "model"),
            Column::text("Domain", "domain"),
            Column::number("n", "n"),
            Column::number("Judged", "judged"),
            Column::number("No verdict", "no_verdict"),
            Column::number("Conversations", "simulations"),
            Column::number("GAR", "gar"),
            Column::interval("95 %", "gar_ci95"),
            Column::number("Acc", "acc"),
            Column::interval("95 %", "acc_ci95"),
            Column::number("Δ (pp)", "delta_pp"),
            Column::interval("95 %", "delta_ci95"),
        ],
        rows,
        print: true,
        ..Table::default()
    };
    Some(Section {
        id: "consent",
        title: "Consent before writes".to_owned(),
        blocks: vec![Block::Paragraph(found.note.to_owned()), Block::Table(table)],
    })
}

fn line(who: &str, row: &ConfirmRow) -> Row {
    let share = |percent: Option<f64>| percent.map(|percent| percent / 100.0);
    let shares = |limits: Option<[f64; 2]>| limits.map(|limits| limits.map(|limit| limit / 100.0));
    Row::new(vec![
        Cell::text(who),
        Cell::text(&row.model),
        Cell::text(&row.domain),
        Cell::Count(row.n),
        Cell::Count(row.judged),
        Cell::Count(row.no_verdict),
        Cell::Count(row.simulations),
        Cell::Percent(share(row.gar_pct)),
        Cell::PercentInterval(shares(row.gar_ci95)),
        Cell::Percent(share(row.acc_pct)),
        Cell::PercentInterval(shares(row.acc_ci95)),
        Cell::Number(row.delta_pp, 1),
        Cell::Interval(row.delta_ci95, 1),
    ])
}
