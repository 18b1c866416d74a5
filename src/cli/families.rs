//! `dualrater gar --families`: spread within and between families of models.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{Output, output};
use crate::error::{Error, Place, Result};
use crate::gar::{FamilyMeasure, FamilyRow, GarRow, ModelTable, SizeSlope};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    families: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    sizes: BTreeMap<String, f64>,
}

/// Families and sizes from a TOML file with `[families] name = ["model", …]` and `[sizes] "model" = 8`.
pub(super) fn read(path: &Path) -> Result<ModelTable> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::io("read", path, &source))?;
    let hint = "write [families] and below it a line for each: name = [\"model\", \"model\"]";
    let file: File = toml::from_str(&text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.bytes().filter(|byte| *byte == b'\n').count() as u64 + 1;
        let place = Place { file: path.to_path_buf(), line: Some(line), column: None };
        Error::data(error.message().to_owned()).at(place).hint(hint)
    })?;
    let mut family_of: BTreeMap<String, String> = BTreeMap::new();
    for (family, models) in file.families {
        for model in models {
            if let Some(other) = family_of.insert(model.clone(), family.clone()) {
                return Err(Error::data(format!(
                    "the model {model:?} stands in {other:?} and in {family:?}, or twice"
                ))
                .at(Place::file(path))
                .hint("a model belongs to one family, and stands there once"));
            }
        }
    }
    if let Some((model, size)) = file.sizes.iter().find(|(_, size)| !(size.is_finite() && **size > 0.0)) {
        return Err(Error::data(format!("the size of {model:?} is {size}"))
            .at(Place::file(path))
            .hint("write the number of parameters, in billions, as a positive number"));
    }
    Ok(ModelTable { family_of, size_of: file.sizes })
}

/// Says which models of the file have no row: a misspelled name would otherwise go unseen.
pub(super) fn tell_unknown(table: &ModelTable, rows: &[GarRow]) {
    let known: BTreeSet<&str> = rows.iter().map(|row| row.model.as_str()).collect();
    let named: BTreeSet<&str> = table.family_of.keys().chain(table.size_of.keys()).map(String::as_str).collect();
    let unknown: Vec<&str> = named.into_iter().filter(|model| !known.contains(model)).collect();
    if !unknown.is_empty() {
        output::message(&format!("warning: no run of {} is in the table", unknown.join(", ")));
    }
}

/// What doubling the size does, within families and over all.
fn show_sizes(rows: &[FamilyRow], output: &mut Output) {
    let slope = |slope: &SizeSlope| {
        let text = format!("{} {}", output::number(slope.per_doubling, 1), output::interval(slope.ci95, 1));
        (text.trim().to_owned(), slope.models.to_string())
    };
    let table: Vec<Vec<String>> = rows
        .iter()
        .filter_map(|row| {
            let size = row.size.as_ref()?;
            let measure = if row.measure == FamilyMeasure::Gar { "GAR" } else { "Acc" };
            let ((within, models), (overall, all)) = (slope(&size.within_families), slope(&size.overall));
            let reason = size.within_families.reason.clone().or_else(|| size.overall.reason.clone());
            let name = format!("{} {measure}", row.category);
            Some(vec![name, row.condition.clone(), within, models, overall, all, reason.unwrap_or_default()])
        })
        .collect();
    if table.is_empty() {
        return;
    }
    output.line("Percentage points per doubling of the number of parameters with 95 % intervals:");
    output.table(&["", "condition", "within families", "models", "overall", "models", "remark"], &table, &[2, 3, 4, 5]);
    let left: BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| row.size.iter().flat_map(|size| size.without_size.iter().map(String::as_str)))
        .collect();
    if !left.is_empty() {
        output.line(format!("without a size, left out: {}", left.into_iter().collect::<Vec<_>>().join(", ")));
    }
}

/// A share below 0 says that families differ less than chance would have it; it is printed as 0 (in JSON as it is).
fn share(value: f64) -> f64 {
    value.max(0.0)
}

pub(super) fn show(rows: &[FamilyRow], output: &mut Output) {
    let points = |value: Option<f64>| output::number(value, 1);
    let mut start = 0;
    while let Some(first) = rows.get(start) {
        let same = |row: &&FamilyRow| row.rules == first.rules && row.condition == first.condition;
        let block: Vec<&FamilyRow> = rows.iter().skip(start).take_while(same).collect();
        start += block.len();
        output.line(format!("Families of models · {} · rules {}", first.condition, first.rules.as_str()));
        let mut table = Vec::new();
        for row in &block {
            let found = &row.components;
            let measure = if row.measure == FamilyMeasure::Gar { "GAR" } else { "Acc" };
            let families: Vec<String> = row
                .families
                .iter()
                .map(|family| format!("{} {:.1} ({:.1}–{:.1})", family.family, family.mean, family.min, family.max))
                .collect();
            table.push(vec![
                format!("{} {measure}", row.category),
                families.join("; "),
                points(found.sd_between),
                format!("{} {}", points(found.sd_within), output::interval(found.sd_within_ci95, 1)),
                format!(
                    "{} {}",
                    output::number(found.share_between.map(share), 2),
                    output::interval(found.share_between_ci95.map(|limits| limits.map(share)), 2)
                ),
                found.reason.clone().unwrap_or_default(),
            ]);
        }
        output.table(
            &["", "family: mean (range)", "sd between", "sd within", "share between", "remark"],
            &table,
            &[2, 3, 4],
        );
    }
    show_sizes(rows, output);
    let left: BTreeSet<&str> = rows.iter().flat_map(|row| row.without_family.iter().map(String::as_str)).collect();
    if !left.is_empty() {
        let left: Vec<&str> = left.into_iter().collect();
        output.line(format!("in no family, left out: {}", left.join(", ")));
    }
    if rows.iter().any(|row| row.components.unequal) {
        output.line("families differ in size: the intervals of the share are approximate");
    }
    output.paragraph(
        "sd in percentage points; share between: of the variance over models, what lies between families (one-way \
         random effects, 95 % intervals from F and χ²). One value a model and condition; its own sampling error is in it.",
    );
}
