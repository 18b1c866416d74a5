//! What was audited: raters, labels, strata.

use super::{Block, Cell, Column, Fact, Row, Section, Table};
use crate::report::View;

pub(super) fn section(view: &View) -> Section {
    let header = &view.header;
    let verdicts = &header.verdicts;
    let facts = vec![
        ("Batch".to_owned(), Fact::Text(format!("{} ({})", header.batch, header.kind.as_str()))),
        (
            "Cases".to_owned(),
            Fact::Text(format!(
                "{}: {} passed, {} failed, {} unscored at baseline",
                header.cases, verdicts.pass, verdicts.fail, verdicts.unscored
            )),
        ),
        ("Models".to_owned(), Fact::Text(header.models.join(", "))),
        ("Rubric".to_owned(), Fact::Text(format!("{} ({})", header.rubric_title, header.rubric))),
        ("Pair of record".to_owned(), Fact::Text(format!("{} and {}", header.pair[0], header.pair[1]))),
        ("Chain head".to_owned(), Fact::Code(header.chain_head.clone())),
    ];
    Section {
        id: "cases",
        title: "What was audited".to_owned(),
        blocks: vec![
            Block::Facts(facts),
            Block::Table(raters(view)),
            Block::Table(labels(view)),
            Block::Table(strata(view)),
        ],
    }
}

fn raters(view: &View) -> Table {
    let rows = view.header.raters.iter().map(|rater| {
        Row::new(vec![
            Cell::text(&rater.name),
            Cell::text(rater.kind),
            Cell::text(rater.model.as_deref().unwrap_or("")),
            Cell::text(if rater.of_record { "pair of record" } else { "" }),
            Cell::Count(rater.ratings),
        ])
    });
    Table {
        name: "raters".to_owned(),
        caption: "Raters".to_owned(),
        columns: vec![
            Column::text("Rater", "rater"),
            Column::text("Kind", "kind"),
            Column::text("Model", "model"),
            Column::text("Role", "role"),
            Column::number("Ratings", "ratings"),
        ],
        rows: rows.collect(),
        ..Table::default()
    }
}

fn labels(view: &View) -> Table {
    let rows = view.header.labels.iter().map(|label| {
        let mut remarks = Vec::new();
        if label.primary {
            remarks.push("primary");
        }
        if label.derived {
            remarks.push("follows by rule from others");
        }
        Row::new(vec![
            Cell::text(&label.id),
            Cell::text(&label.title),
            Cell::text(if label.kind == "binary" { "yes or no" } else { "named values" }),
            Cell::text(remarks.join(", ")),
        ])
    });
    Table {
        name: "labels".to_owned(),
        caption: "Labels".to_owned(),
        columns: vec![
            Column::text("Label", "label"),
            Column::text("Asks for", "title"),
            Column::text("Answers", "kind"),
            Column::text("Remarks", "remarks"),
        ],
        rows: rows.collect(),
        ..Table::default()
    }
}

fn strata(view: &View) -> Table {
    let rows = view.header.strata.iter().map(|stratum| {
        Row::new(vec![
            Cell::text(&stratum.id),
            Cell::text(&stratum.title),
            Cell::MaybeCount(stratum.population),
            Cell::MaybeCount(stratum.quota),
            Cell::Count(stratum.drawn),
            Cell::Count(stratum.shortfall),
            Cell::Count(stratum.verdicts.pass),
            Cell::Count(stratum.verdicts.fail),
            Cell::Count(stratum.verdicts.unscored),
        ])
    });
    Table {
        name: "strata".to_owned(),
        caption: "Strata: cases in the frame, wanted, drawn, and their verdicts at baseline".to_owned(),
        columns: vec![
            Column::text("Stratum", "stratum"),
            Column::text("Cases that", "title"),
            Column::number("In frame", "population"),
            Column::number("Quota", "quota"),
            Column::number("Drawn", "drawn"),
            Column::number("Short", "shortfall"),
            Column::number("Pass", "pass"),
            Column::number("Fail", "fail"),
            Column::number("Unscored", "unscored"),
        ],
        rows: rows.collect(),
        ..Table::default()
    }
}
