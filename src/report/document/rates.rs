//! Rates after adjudication: per label, per stratum, per model and category, and distributions.

use super::forest::ForestRow;
use super::{Block, Cell, Column, Forest, Mark, MarkKind, Row, Section, Table};
use crate::report::view::{Choices, FinalRate, HeldOut};
use crate::report::{View, number};

pub(super) fn sections(view: &View) -> Vec<Section> {
    let title = "Rates after adjudication".to_owned();
    let Some(rates) = &view.rates else {
        return vec![Section { id: "rates", title, blocks: vec![Block::Paragraph(view.finals.sentence.clone())] }];
    };
    let mut blocks = vec![Block::Paragraph(view.finals.sentence.clone())];
    let pooled = rates.iter().map(|rate| Row::new(rate_cells(vec![Cell::text(&rate.label)], &rate.pooled)));
    blocks.push(Block::Table(Table {
        name: "rates".to_owned(),
        caption: "Share of cases whose final value is 1, all strata together".to_owned(),
        columns: rate_columns(vec![Column::text("Label", "label")]),
        rows: pooled.collect(),
        note: Some(NOTE.to_owned()),
        print: true,
        ..Table::default()
    }));
    if let Some(held_out) = &view.held_out {
        blocks.extend(held_out_blocks(held_out));
    }
    if view.header.strata.len() > 1 {
        let mut rows = Vec::new();
        for rate in rates {
            rows.extend(rate.strata.iter().map(|stratum| {
                Row::new(rate_cells(vec![Cell::text(&rate.label), Cell::text(&stratum.stratum)], &stratum.rate))
            }));
        }
        blocks.push(Block::Table(Table {
            name: "rates_by_stratum".to_owned(),
            caption: "Share of cases whose final value is 1, per stratum".to_owned(),
            columns: rate_columns(vec![Column::text("Label", "label"), Column::text("Stratum", "stratum")]),
            rows,
            folded: true,
            ..Table::default()
        }));
    }
    let mut sections = vec![Section { id: "rates", title, blocks }];
    sections.extend(cells(view));
    sections.extend(choices(view));
    sections
}

const NOTE: &str = "k of n: finals that are 1 of finals that are a value; with n.a., cannot judge, open (no ruling), \
    missing (not rated by both) and no verdict (a model was asked in vain) they make the cases. Intervals: Wilson, as of a simple random sample.";

fn rate_columns(mut first: Vec<Column>) -> Vec<Column> {
    first.extend([
        Column::number("Cases", "cases"),
        Column::number("k", "k"),
        Column::number("n", "n"),
        Column::number("Rate", "rate"),
        Column::interval("95 %", "wilson95"),
        Column::number("n.a.", "na"),
        Column::number("Cannot judge", "cannot_judge"),
        Column::number("Open", "open"),
        Column::number("Missing", "missing"),
        Column::number("No verdict", "no_verdict"),
    ]);
    first
}

fn rate_cells(mut first: Vec<Cell>, rate: &FinalRate) -> Vec<Cell> {
    first.extend([
        Cell::Count(rate.cases),
        Cell::Count(rate.k),
        Cell::Count(rate.n),
        match rate.bounds {
            Some(bounds) => Cell::NoFinal(bounds),
            None => Cell::Percent(rate.rate),
        },
        Cell::PercentInterval(rate.wilson95),
        Cell::Count(rate.na),
        Cell::Count(rate.cannot_judge),
        Cell::Count(rate.open),
        Cell::Count(rate.missing),
        Cell::Count(rate.no_verdict),
    ]);
    first
}

fn held_out_blocks(held_out: &HeldOut) -> Vec<Block> {
    let label = &held_out.label;
    let mut rows = Vec::new();
    let mut both = |model: &str, d1: &FinalRate, d2: &FinalRate, detail: bool| {
        for (id, text, rate) in [("D1", "all miss_func cases", d1), ("D2", "miss_func cases with final B1a = 0", d2)] {
            let cells = rate_cells(vec![Cell::text(model), Cell::text(id), Cell::text(text)], rate);
            rows.push(Row { cells, detail });
        }
    };
    both("all", &held_out.d1, &held_out.d2, false);
    for model in &held_out.models {
        both(&model.model, &model.d1, &model.d2, true);
    }
    let text = format!(
        "{label} over both of its denominators. D1 holds {} cases; D2 leaves out {} whose gold action stands at the gold turn \
         {}. {label} asks for calls after the tool's return, when it is there and usually wanted: 1 is no error.",
        held_out.d1.cases,
        held_out.gold_action,
        if held_out.gold_action_unknown == 0 {
            "and no others".to_owned()
        } else {
            format!("and {} without a final B1a", held_out.gold_action_unknown)
        }
    );
    vec![
        Block::Paragraph(text),
        Block::Table(Table {
            name: "held_out".to_owned(),
            caption: format!("{label} over both denominators, all models and each"),
            columns: rate_columns(vec![
                Column::text("Model", "model"),
                Column::text("", "denominator"),
                Column::text("Denominator", "denominator_text"),
            ]),
            rows,
            print: true,
            ..Table::default()
        }),
    ]
}

fn cells(view: &View) -> Option<Section> {
    let cells = view.cell_rates.as_ref().filter(|cells| !cells.is_empty())?;
    let mut rows = Vec::new();
    for cell in cells {
        let strata: Vec<&str> = cell.strata.iter().map(crate::model::StratumId::as_str).collect();
        for rate in &cell.rates {
            let first = vec![
                Cell::text(&cell.model),
                Cell::text(cell.category),
                Cell::text(strata.join(" ")),
                Cell::text(&rate.label),
            ];
            rows.push(Row::new(rate_cells(first, &rate.rate)));
        }
    }
    let table = Table {
        name: "cells".to_owned(),
        caption: "Gold action per model and category, after adjudication".to_owned(),
        columns: rate_columns(vec![
            Column::text("Model", "model"),
            Column::text("Category", "category"),
            Column::text("Strata", "strata"),
            Column::text("Label", "label"),
        ]),
        rows,
        print: true,
        ..Table::default()
    };
    Some(Section {
        id: "cells",
        title: "Per model and category".to_owned(),
        blocks: vec![
            Block::Paragraph(
                "A cell holds the audited cases of that model and category, whatever strata they were drawn for: it is a \
                 rate of this sample, not of the benchmark's whole cell."
                    .to_owned(),
            ),
            Block::Figure(figure(view)),
            Block::Table(table),
        ],
    })
}

fn figure(view: &View) -> Forest {
    let gar = view.gar.labels.first();
    let mut rows = Vec::new();
    let mut metric = false;
    for cell in view.cell_rates.iter().flatten() {
        let mut marks = Vec::new();
        let mut text = Vec::new();
        for rate in &cell.rates {
            let kind = if rate.label.as_str() == "B1a" { MarkKind::Ring } else { MarkKind::Disc };
            if let Some(value) = rate.rate.rate {
                marks.push(Mark { kind, value, interval: rate.rate.wilson95 });
                text.push(format!("{} {}/{}", rate.label, rate.rate.k, rate.rate.n));
            }
        }
        let cross = gar
            .and_then(|label| {
                label.cells.iter().find(|other| other.model == cell.model && other.category == cell.category)
            })
            .filter(|found| found.cross.n > 0);
        if let Some(found) = cross
            && let Some(value) = found.cross.gar_rate.rate
        {
            metric = true;
            marks.push(Mark { kind: MarkKind::Diamond, value, interval: found.cross.gar_rate.wilson95 });
            text.push(format!("GAR {}/{}", found.cross.gar_rate.k, found.cross.gar_rate.n));
        }
        rows.push(ForestRow { label: vec![cell.model.clone(), cell.category.to_string()], detail: false, marks, text });
    }
    let mut legend = vec![
        (MarkKind::Ring, "B1a, at the gold turn".to_owned()),
        (MarkKind::Disc, "B1b, at the gold turn or later".to_owned()),
    ];
    if metric {
        legend.push((MarkKind::Diamond, "GAR, the automatic metric".to_owned()));
    }
    let description = rows
        .iter()
        .map(|row| format!("{}: {}", row.label.join(" "), row.text.join(", ")))
        .collect::<Vec<_>>()
        .join("; ");
    Forest {
        name: "cells".to_owned(),
        title: if metric {
            "Adjudicated rate and automatic metric per cell, on the audited cases, with 95 % intervals".to_owned()
        } else {
            "Adjudicated rate per cell, with 95 % intervals".to_owned()
        },
        description: format!("{description}."),
        low: 0.0,
        high: 1.0,
        ticks: vec![0.0, 0.25, 0.5, 0.75, 1.0],
        percent: true,
        reference: None,
        legend,
        rows,
    }
}

fn choices(view: &View) -> Option<Section> {
    if view.choices.is_empty() {
        return None;
    }
    let mut blocks = Vec::new();
    for choices in &view.choices {
        blocks.push(Block::Paragraph(sentence(choices)));
        let rows = choices.values.iter().map(|row| {
            Row::new(vec![
                Cell::code(&row.value),
                Cell::text(&row.title),
                Cell::Count(row.count.k),
                Cell::Count(row.count.n),
                Cell::Percent(row.count.rate),
                Cell::PercentInterval(row.count.wilson95),
            ])
        });
        blocks.push(Block::Table(Table {
            name: format!("distribution_{}", choices.label),
            caption: format!("Final values of {} ({})", choices.label, choices.title),
            columns: vec![
                Column::text("Value", "value"),
                Column::text("Meaning", "title"),
                Column::number("Cases", "k"),
                Column::number("of", "n"),
                Column::number("Share", "rate"),
                Column::interval("95 %", "wilson95"),
            ],
            rows: rows.collect(),
            print: true,
            ..Table::default()
        }));
    }
    Some(Section { id: "choices", title: "Distribution of named values".to_owned(), blocks })
}

fn sentence(choices: &Choices) -> String {
    let kappa = match (choices.kappa, choices.kappa_ci95) {
        (Some(_), Some(limits)) => format!(
            "κ before adjudication is {} (95 % interval {})",
            number::fixed(choices.kappa, 3),
            number::interval(Some(limits), 3)
        ),
        (Some(_), None) => format!("κ before adjudication is {}", number::fixed(choices.kappa, 3)),
        (None, _) => format!("κ before adjudication is undefined: {}", choices.reason_text.unwrap_or("no pairs")),
    };
    let chance = choices.kappa_ci95.is_some_and(|[low, high]| low <= 0.0 && high >= 0.0);
    format!(
        "{}: {} of {} cases have a value, {} are n.a., {} cannot be judged, {} have no final. {kappa}.{}",
        choices.label,
        choices.n,
        choices.cases,
        choices.na,
        choices.cannot_judge,
        choices.no_final,
        if chance {
            " That is no better than chance: the distribution shows the adjudicator's choices, not a property of the cases."
        } else {
            ""
        }
    )
}
