//! Reads ratings from a table of delimited text: wide (a row an item, a column a rater), long (a row a rating) or counts (a
//! row an item, a column a category).
//!
//! What is read how. The separator is the one of `,` `;` tab `|` that splits the first record into most cells, or that of
//! a `sep=` line. Blanks around cells are taken off and counted. Cells that are empty or `NA`, `N/A`, `NaN`, `null` in any
//! letter case are missing ratings, so are others that the caller names; `n.a.` (does not apply) and `cannot_judge` are
//! answers and not missing. A file is long if its header has a column for the item, one for the rater and one for the
//! value, else wide.

use std::collections::BTreeMap;
use std::path::Path;

use super::delimited::{MISSING, Sheet, cell, trim};
use crate::agree::Counts;
use crate::agree::ratings::{LabelRatings, RatedItem, Reading, Source};
use crate::error::{Error, Place, Result};
use crate::model::RatingValue;

/// How the rows of a file are to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A row an item, a column a rater.
    Wide,
    /// A row a rating.
    Long,
    /// A row an item, a column a category, a cell the number of raters.
    Counts,
}

/// What the caller knows about a file.
#[derive(Debug, Clone, Default)]
pub struct RatingsFormat {
    /// The layout; found from the header where absent.
    pub layout: Option<Layout>,
    /// The column that names the item.
    pub item: Option<String>,
    /// The raters to read, in this order; all where empty.
    pub raters: Vec<String>,
    /// The column that names the item's family.
    pub family: Option<String>,
    /// Further spellings of a missing rating.
    pub missing: Vec<String>,
}

const COLUMNS: &str = "the first row names the columns: item,rater_a,rater_b (wide) or item,rater,label,value (long)";
const ITEM: [&str; 12] = [
    "item",
    "item_id",
    "case",
    "case_id",
    "id",
    "unit",
    "unit_id",
    "subject",
    "subject_id",
    "task",
    "task_id",
    "entry",
];
const RATER: [&str; 6] = ["rater", "rater_id", "annotator", "coder", "judge", "observer"];
const VALUE: [&str; 5] = ["value", "rating", "score", "answer", "code"];
const LABEL: [&str; 3] = ["label", "label_id", "question"];

/// Reads a file's bytes; `name` is for messages.
///
/// # Errors
/// Text that cannot be decoded, rows that do not fit the header, columns that are not there, contradicting ratings.
pub fn read_ratings(bytes: &[u8], name: &Path, format: &RatingsFormat) -> Result<Vec<Source>> {
    let sheet = Sheet::read(bytes, name, COLUMNS)?;
    let layout = format.layout.unwrap_or_else(|| {
        let has = |names: &[&str]| sheet.find(names).is_some();
        let item = format.item.is_some() || has(&ITEM);
        if item && has(&RATER) && (has(&VALUE) || has(&LABEL)) { Layout::Long } else { Layout::Wide }
    });
    match layout {
        Layout::Wide => wide(&sheet, format),
        Layout::Long => long(&sheet, format),
        Layout::Counts => counts(&sheet, format),
    }
}

/// The column that names the item: the stated one, one of the usual names, or a first column without a name.
fn item_column(sheet: &Sheet<'_>, format: &RatingsFormat) -> Result<Option<usize>> {
    let unnamed = || sheet.header.first().is_some_and(String::is_empty).then_some(0);
    format.item.as_deref().map_or_else(|| Ok(sheet.find(&ITEM).or_else(unnamed)), |name| sheet.stated(name).map(Some))
}

/// Reads a rating and counts what was met.
fn value(text: &str, reading: &mut Reading, format: &RatingsFormat) -> Option<RatingValue> {
    let trimmed = trim(text);
    let known = MISSING.iter().any(|word| trimmed.eq_ignore_ascii_case(word));
    if known || format.missing.iter().any(|word| word == trimmed) {
        *reading.missing.entry(trimmed.to_owned()).or_default() += 1;
        return None;
    }
    reading.trimmed += u64::from(trimmed.len() < text.len());
    Some(RatingValue::from(trimmed.to_owned()))
}

/// Labels in the order in which they first appear.
#[derive(Default)]
struct Labels {
    found: Vec<LabelRatings>,
    places: BTreeMap<Option<String>, usize>,
}

impl Labels {
    fn at(&mut self, label: Option<String>, layout: &str) -> Option<&mut LabelRatings> {
        let place = *self.places.entry(label.clone()).or_insert_with(|| {
            let reading = Reading { layout: layout.to_owned(), ..Reading::default() };
            self.found.push(LabelRatings { label, raters: Vec::new(), items: Vec::new(), reading });
            self.found.len() - 1
        });
        self.found.get_mut(place)
    }
}

fn wide(sheet: &Sheet<'_>, format: &RatingsFormat) -> Result<Vec<Source>> {
    let item = item_column(sheet, format)?;
    let family = format.family.as_deref().map(|name| sheet.stated(name)).transpose()?;
    let label = sheet.find(&LABEL);
    let raters: Vec<usize> = if format.raters.is_empty() {
        let other = |at: &usize| Some(*at) != item && Some(*at) != family && Some(*at) != label;
        let named = |at: &usize| sheet.header.get(*at).is_some_and(|name| !name.is_empty());
        (0..sheet.header.len()).filter(other).filter(named).collect()
    } else {
        format.raters.iter().map(|name| sheet.stated(name)).collect::<Result<_>>()?
    };
    if raters.len() < 2 {
        return Err(Error::data(format!(
            "agreement needs two raters, but the header ({}) has {} column of ratings",
            sheet.header.join(", "),
            raters.len()
        ))
        .at(Place::file(sheet.name))
        .hint("one column a rater; or columns item, rater, label, value with --layout long"));
    }
    let names: Vec<String> = raters.iter().filter_map(|at| sheet.header.get(*at)).cloned().collect();
    let mut labels = Labels::default();
    let mut seen = std::collections::BTreeSet::new();
    if sheet.rows.is_empty() {
        labels.at(None, "wide");
    }
    for (number, (_, cells)) in sheet.rows.iter().enumerate() {
        let label = label.map(|at| trim(cell(cells, at)).to_owned());
        let Some(ratings) = labels.at(label.clone(), "wide") else { continue };
        let name = item.map_or_else(|| (number + 1).to_string(), |at| trim(cell(cells, at)).to_owned());
        if !seen.insert((label, name.clone())) {
            ratings.reading.items_repeated += 1;
        }
        let values = raters.iter().map(|at| value(cell(cells, *at), &mut ratings.reading, format)).collect();
        let family = family.map(|at| trim(cell(cells, at)).to_owned());
        ratings.items.push(RatedItem { item: name, family, values });
    }
    for ratings in &mut labels.found {
        ratings.raters.clone_from(&names);
    }
    Ok(labels.found.into_iter().map(Source::Ratings).collect())
}

fn long(sheet: &Sheet<'_>, format: &RatingsFormat) -> Result<Vec<Source>> {
    let needed = |found: Option<usize>, what: &str, names: &[&str]| {
        found.ok_or_else(|| {
            Error::data(format!("the header has no column for the {what}"))
                .at(Place::file(sheet.name))
                .hint(format!("name it one of: {}; or use --layout wide", names.join(", ")))
        })
    };
    let item = needed(item_column(sheet, format)?, "item", &ITEM)?;
    let rater = needed(sheet.find(&RATER), "rater", &RATER)?;
    // Without a column for the value, the label is what the rater gave.
    let (label, answer) = match (sheet.find(&LABEL), sheet.find(&VALUE)) {
        (label, Some(answer)) => (label, answer),
        (Some(answer), None) => (None, answer),
        (None, None) => (None, needed(None, "value", &VALUE)?),
    };
    let family = format.family.as_deref().map(|name| sheet.stated(name)).transpose()?;
    let mut raters: Vec<String> = format.raters.clone();
    if raters.is_empty() {
        for (_, cells) in &sheet.rows {
            let name = trim(cell(cells, rater));
            if !raters.iter().any(|known| known == name) {
                raters.push(name.to_owned());
            }
        }
    }
    let mut labels = Labels::default();
    if sheet.rows.is_empty() {
        labels.at(None, "long");
    }
    let mut places: BTreeMap<(Option<String>, &str), usize> = BTreeMap::new();
    let mut lines: BTreeMap<(Option<String>, &str, usize), u64> = BTreeMap::new();
    for (line, cells) in &sheet.rows {
        let name = trim(cell(cells, item));
        let Some(who) = raters.iter().position(|known| known == trim(cell(cells, rater))) else { continue };
        if name.is_empty() {
            return Err(sheet.error(*line, "the rating names no item"));
        }
        let key = label.map(|at| trim(cell(cells, at)).to_owned());
        let Some(ratings) = labels.at(key.clone(), "long") else { continue };
        let found = value(cell(cells, answer), &mut ratings.reading, format);
        let of_family = family.map(|at| trim(cell(cells, at)).to_owned());
        let place = *places.entry((key.clone(), name)).or_insert_with(|| {
            let values = vec![None; raters.len()];
            ratings.items.push(RatedItem { item: name.to_owned(), family: of_family.clone(), values });
            ratings.items.len() - 1
        });
        let Some(rated) = ratings.items.get_mut(place) else { continue };
        if rated.family != of_family {
            return Err(sheet.error(*line, format!("the item {name:?} stands in two families")));
        }
        let earlier = lines.insert((key, name, who), *line);
        let Some(slot) = rated.values.get_mut(who) else { continue };
        match (earlier, slot.as_ref() == found.as_ref()) {
            (Some(_), true) => ratings.reading.repeated += 1,
            (Some(earlier), false) => {
                let message = format!("the rating of {name:?} contradicts that of the same rater in line {earlier}");
                return Err(sheet.error(*line, message).hint("keep the one that counts"));
            }
            (None, _) => *slot = found,
        }
    }
    for ratings in &mut labels.found {
        // A rater who never met the label is no rater of it; one is kept per name that the user gave.
        let rated: Vec<bool> = (0..raters.len())
            .map(|at| {
                !format.raters.is_empty()
                    || ratings.items.iter().any(|item| item.values.get(at).is_some_and(Option::is_some))
            })
            .collect();
        // Two columns remain at least, so that a label with one rater says that it has no pairs.
        if rated.iter().filter(|rated| **rated).count() >= 2 {
            let kept = |at: usize| rated.get(at).copied().unwrap_or(false);
            ratings.raters =
                raters.iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, name)| name.clone()).collect();
            for item in &mut ratings.items {
                let mut at = 0;
                item.values.retain(|_| {
                    at += 1;
                    kept(at - 1)
                });
            }
        } else {
            ratings.raters.clone_from(&raters);
        }
    }
    if raters.len() < 2 {
        return Err(Error::data(format!("agreement needs two raters, the file has {}", raters.len()))
            .at(Place::file(sheet.name))
            .hint("each row is one rating: item, rater, label, value"));
    }
    Ok(labels.found.into_iter().map(Source::Ratings).collect())
}

fn counts(sheet: &Sheet<'_>, format: &RatingsFormat) -> Result<Vec<Source>> {
    let item = item_column(sheet, format)?;
    let columns: Vec<usize> = (0..sheet.header.len()).filter(|at| Some(*at) != item).collect();
    let categories = columns.iter().filter_map(|at| sheet.header.get(*at)).cloned().collect();
    let mut rows = Vec::new();
    for (line, cells) in &sheet.rows {
        let number = |at: &usize| match trim(cell(cells, *at)) {
            "" => Ok(0),
            text => text.parse::<u32>().map_err(|_| {
                sheet.error(*line, format!("{text:?} is not a number of raters")).hint("counts are 0, 1, 2, …")
            }),
        };
        rows.push(columns.iter().map(number).collect::<Result<Vec<u32>>>()?);
    }
    let counts =
        Counts::new(categories, &rows).map_err(|error| Error::data(error.to_string()).at(Place::file(sheet.name)))?;
    Ok(vec![Source::Counts(counts)])
}
