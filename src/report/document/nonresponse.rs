//! Unusable cases, and agreement and rates whatever their answers would have been.

use super::{Block, Cell, Column, Row, Section, Table};
use crate::report::View;
use crate::report::view::RateBounds;

pub(super) fn section(view: &View) -> Option<Section> {
    let found = view.nonresponse.as_ref()?;
    let cases = found.cases.len();
    let text = format!(
        "{cases} of {} cases {} declared unusable before anybody rated {}; {} by the next ticket. They stay in the denominators: \
         the bounds below hold whatever their answers would have been, and are no confidence intervals.",
        view.header.cases,
        if cases == 1 { "was" } else { "were" },
        if cases == 1 { "it" } else { "them" },
        match found.replaced {
            0 => "none was replaced".to_owned(),
            1 => "1 was replaced".to_owned(),
            several => format!("{several} were replaced"),
        }
    );
    Some(Section {
        id: "nonresponse",
        title: "Cases that nobody could rate".to_owned(),
        blocks: vec![Block::Paragraph(text), Block::Table(list(view)), Block::Table(bounds(view))],
    })
}

fn list(view: &View) -> Table {
    let rows = view.nonresponse.iter().flat_map(|found| &found.cases).map(|case| {
        Row::new(vec![
            Cell::text(&case.stratum),
            Cell::text(&case.case),
            Cell::text(&case.reason),
            Cell::text(case.replaced_by.as_ref().map_or(String::new(), ToString::to_string)),
            Cell::text(&case.declared_at),
        ])
    });
    Table {
        name: "unusable".to_owned(),
        caption: "Unusable cases".to_owned(),
        columns: vec![
            Column::text("Stratum", "stratum"),
            Column::text("Case", "case"),
            Column::text("Reason", "reason"),
            Column::text("Replaced by", "replaced_by"),
            Column::text("Declared", "declared_at"),
        ],
        rows: rows.collect(),
        ..Table::default()
    }
}

fn bounds(view: &View) -> Table {
    let mut rows = Vec::new();
    for label in view.nonresponse.iter().flat_map(|found| &found.labels) {
        let rate = |rate: Option<&RateBounds>| {
            [
                rate.map_or(Cell::MaybeCount(None), |rate| Cell::Count(rate.k)),
                rate.map_or(Cell::MaybeCount(None), |rate| Cell::Count(rate.n)),
                Cell::PercentInterval(rate.and_then(|rate| rate.bounds)),
            ]
        };
        let mut cells = vec![Cell::text(&label.label), Cell::text("all"), Cell::Count(label.agreement.unusable)];
        cells.extend(rate(label.rate.as_ref()));
        cells.extend([Cell::PercentInterval(label.agreement.po), Cell::Interval(label.agreement.kappa, 3)]);
        rows.push(Row::new(cells));
        for stratum in &label.strata {
            let mut cells =
                vec![Cell::text(&label.label), Cell::text(&stratum.stratum), Cell::Count(stratum.rate.unusable)];
            cells.extend(rate(Some(&stratum.rate)));
            cells.extend([Cell::PercentInterval(None), Cell::Interval(None, 3)]);
            rows.push(Row { cells, detail: true });
        }
    }
    Table {
        name: "nonresponse_bounds".to_owned(),
        caption: "The least and the greatest value that the unusable cases allow".to_owned(),
        columns: vec![
            Column::text("Label", "label"),
            Column::text("Stratum", "stratum"),
            Column::number("Unusable", "unusable"),
            Column::number("k", "k"),
            Column::number("n", "n"),
            Column::interval("Rate between", "rate_bounds"),
            Column::interval("Agreement between", "agreement_bounds"),
            Column::interval("Kappa between", "kappa_bounds"),
        ],
        rows,
        note: Some(
            "Unusable: those to which the label may apply. Open disagreements count as unknown too. A rate's bounds are \
             k / (n + unknown) and (k + unknown) / (n + unknown)."
                .to_owned(),
        ),
        ..Table::default()
    }
}
