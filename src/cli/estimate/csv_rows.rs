//! The rows of `estimate` as CSV.

use crate::cli::{Output, output};
use crate::error::{Error, Result};
use crate::estimate::findings::{Estimate, Findings};

const HEADER: [&str; 32] = [
    "level",
    "cell",
    "run",
    "model",
    "category",
    "covered",
    "N",
    "n",
    "k",
    "unanswered",
    "weighted_rate",
    "low",
    "high",
    "method",
    "gar_rate",
    "difference_rate",
    "difference_low",
    "difference_high",
    "tuned_rate",
    "tuned_low",
    "tuned_high",
    "tuned_lambda",
    "rogan_gladen_rate",
    "rogan_gladen_low",
    "rogan_gladen_high",
    "tp",
    "fp",
    "fn",
    "tn",
    "covered_part_rate",
    "covered_part_n",
    "reason",
];

pub(super) fn write(found: &Findings, output: &mut Output) -> Result<()> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Error::internal(error.to_string());
    writer.write_record(HEADER).map_err(failed)?;
    let rows = found.cells.iter().map(|row| ("cell", row)).chain(found.models.iter().map(|row| ("run", row)));
    for (level, row) in rows.chain([("all", &found.overall)]) {
        writer.write_record(record(level, row)).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| Error::internal(error.to_string()))?;
    output.raw(&String::from_utf8_lossy(&bytes));
    Ok(())
}

fn record(level: &str, row: &Estimate) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let count = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let text = |value: &Option<String>| output::inert(value.as_deref().unwrap_or_default());
    let low = |limits: Option<[f64; 2]>| number(limits.map(|limits| limits[0]));
    let high = |limits: Option<[f64; 2]>| number(limits.map(|limits| limits[1]));
    let found = &row.measures;
    let (difference, tuned, rogan) = (&found.difference_estimator, &found.difference_tuned, &found.rogan_gladen);
    let method = found.weighted.and_then(|weighted| serde_json::to_value(weighted.method).ok());
    let part = row.covered_part.as_deref();
    vec![
        level.to_owned(),
        output::inert(&row.cell),
        text(&row.run),
        text(&row.model),
        row.category.map_or_else(String::new, |category| category.to_string()),
        row.covered.to_string(),
        count(found.population),
        found.n.to_string(),
        found.k.to_string(),
        found.unanswered.to_string(),
        number(found.weighted_rate),
        low(found.ci95),
        high(found.ci95),
        method.and_then(|method| method.as_str().map(str::to_owned)).unwrap_or_default(),
        number(found.gar_rate),
        number(difference.rate),
        low(difference.ci95),
        high(difference.ci95),
        number(tuned.rate),
        low(tuned.ci95),
        high(tuned.ci95),
        number(tuned.more.lambda),
        number(rogan.rate),
        low(rogan.ci95),
        high(rogan.ci95),
        row.confusion.tp.to_string(),
        row.confusion.fp.to_string(),
        row.confusion.false_negatives.to_string(),
        row.confusion.tn.to_string(),
        number(part.and_then(|part| part.weighted_rate)),
        count(part.map(|part| part.n)),
        text(&row.reason),
    ]
}
