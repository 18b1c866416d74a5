//! What follows from the audited cases for all cases that could have been drawn.

use super::{Block, Cell, Column, Row, Section, Table};
use crate::estimate::findings::{Estimate, Findings, Measures};
use crate::report::View;

pub(super) fn section(view: &View) -> Option<Section> {
    if view.estimates.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Paragraph(
        "Each audited case stands for the cases of its stratum. Raters: the design-weighted rate. GAR: counted over all cases. \
         Corrected: GAR less its mean error in the sample (the difference estimator, lambda = 1). A cell that the strata reach \
         in part has numbers for that part, and bounds for the whole. `dualrater estimate` has the rest."
            .to_owned(),
    )];
    for found in &view.estimates {
        blocks.push(Block::Heading(format!("{} over the frame", found.label)));
        blocks.push(Block::Paragraph(format!("Estimated: {}.", found.estimand)));
        blocks.push(Block::Table(rates(found)));
        if let Some(kappa) = found.weighted_kappa.kappa {
            let interval = found
                .weighted_kappa
                .ci95
                .map_or_else(String::new, |[low, high]| format!(", 95 % interval {low:.2} to {high:.2}"));
            blocks.push(Block::Paragraph(format!(
                "The two raters' kappa over the frame, weighted by the design: {kappa:.2}{interval}."
            )));
        }
        let mut remarks: Vec<String> = reasons(found).collect();
        remarks.extend(found.notes.iter().cloned());
        if !remarks.is_empty() {
            blocks.push(Block::List(remarks));
        }
    }
    Some(Section { id: "estimates", title: "What follows for the benchmark".to_owned(), blocks })
}

fn reasons(found: &Findings) -> impl Iterator<Item = String> {
    let all = found.cells.iter().chain(&found.models).chain([&found.overall]);
    all.filter_map(|row| row.reason.as_ref().map(|reason| format!("{}: {reason}.", row.cell)))
}

fn rates(found: &Findings) -> Table {
    let mut rows = Vec::new();
    let all = if found.models.len() > 1 { Some(&found.overall) } else { None };
    for model in &found.models {
        let own = |row: &&Estimate| row.run == model.run && row.model == model.model;
        let cells: Vec<&Estimate> = found.cells.iter().filter(own).collect();
        let together = (cells.len() > 1).then_some(model);
        for row in cells.into_iter().chain(together) {
            rows.extend(lines(row));
        }
    }
    rows.extend(all.into_iter().flat_map(lines));
    let label = &found.label;
    Table {
        name: format!("estimates_{label}"),
        caption: format!("{label} and GAR ({}) over the frame", found.metric.title()),
        columns: vec![
            Column::text("Cell", "cell"),
            Column::text("Cases", "part"),
            Column::number("N", "N"),
            Column::number("Rated", "n"),
            Column::number("Raters %", "weighted_rate"),
            Column::interval("95 %", "weighted_rate"),
            Column::interval("Bounds", "whole_bounds"),
            Column::number("GAR %", "gar_rate"),
            Column::number("Corrected %", "difference_estimator"),
            Column::interval("95 %", "difference_estimator"),
        ],
        rows,
        note: Some(
            "Bounds: the rate of all cases if the rest had the finding never, or always. They are no interval."
                .to_owned(),
        ),
        print: true,
        ..Table::default()
    }
}

fn lines(row: &Estimate) -> Vec<Row> {
    let line = |part: &str, found: &Measures, bounds: Option<[f64; 2]>| {
        vec![
            Cell::text(&row.cell),
            Cell::text(part),
            Cell::MaybeCount(found.population),
            Cell::Count(found.n),
            Cell::Percent(found.weighted_rate),
            Cell::PercentInterval(found.ci95),
            Cell::PercentInterval(bounds),
            Cell::Percent(found.gar_rate),
            Cell::Percent(found.difference_estimator.rate),
            Cell::PercentInterval(found.difference_estimator.ci95),
        ]
    };
    let mut rows = vec![Row::new(line("all", &row.measures, row.whole_bounds))];
    rows.extend(row.covered_part.as_ref().map(|part| Row::detail(line("covered part", part, None))));
    rows
}
