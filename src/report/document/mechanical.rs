//! Each rater beside what is computed from the data.

use super::remark;
use super::{Block, Cell, Column, Row, Section, Table};
use crate::report::View;

pub(super) fn section(view: &View) -> Option<Section> {
    let found = view.mechanical.as_ref()?;
    let rows = found.rows.iter().map(|row| {
        let agreement = &row.agreement;
        Row::new(vec![
            Cell::text(&row.mechanical),
            Cell::text(&row.rater),
            Cell::text(&agreement.label),
            Cell::Count(row.computed),
            Cell::Count(agreement.n),
            Cell::Count(agreement.agree),
            Cell::Percent(agreement.po),
            Cell::PercentInterval(agreement.po_ci95),
            Cell::Number(agreement.kappa, 3),
            Cell::Interval(agreement.ci95, 3),
            Cell::text(remark(agreement.reason)),
        ])
    });
    let table = Table {
        name: "mechanical".to_owned(),
        caption: "Each rater of the pair beside each mechanical rater".to_owned(),
        columns: vec![
            Column::text("Mechanical rater", "mechanical"),
            Column::text("Rater", "rater"),
            Column::text("Label", "label"),
            Column::number("Computed", "computed"),
            Column::number("n", "n"),
            Column::number("Agree", "agree"),
            Column::number("Agreement", "po"),
            Column::interval("95 % (Wilson)", "po_ci95"),
            Column::number("κ", "kappa"),
            Column::interval("95 %", "kappa_ci95"),
            Column::text("Remark", "remark"),
        ],
        rows: rows.collect(),
        note: Some(
            "Computed: cases in which the mechanical rater answered, n.a. and cannot judge included. n: cases in which both \
             gave a value."
                .to_owned(),
        ),
        ..Table::default()
    };
    Some(Section {
        id: "mechanical",
        title: "Raters beside the mechanical rater".to_owned(),
        blocks: vec![Block::Paragraph(found.note.to_owned()), Block::Table(table)],
    })
}
