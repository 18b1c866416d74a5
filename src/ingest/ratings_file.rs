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
const MISSING: [&str; 5] = ["", "na", "n/a", "nan", "null"];

/// Reads a file's bytes; `name` is for messages.
///
/// # Errors
/// Text that cannot be decoded, rows that do not fit the header, columns that are not there, contradicting ratings.
pub fn read_ratings(bytes: &[u8], name: &Path, format: &RatingsFormat) -> Result<Vec<Source>> {
    let sheet = Sheet::read(bytes, name)?;
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

/// A header and its records, each with the line at which it begins.
struct Sheet<'p> {
    name: &'p Path,
    header: Vec<String>,
    rows: Vec<(u64, Vec<String>)>,
}

impl<'p> Sheet<'p> {
    fn read(bytes: &[u8], name: &'p Path) -> Result<Self> {
        let text = decode(bytes).map_err(|(line, message)| {
            Error::data(message).at(Place::line(name, line)).hint("save the file as UTF-8")
        })?;
        let named = text.split_once('\n').and_then(|(first, rest)| {
            let mark = first.trim_end_matches('\r').strip_prefix("sep=")?.bytes().next()?;
            Some((rest, mark))
        });
        let (text, separator, before) = match named {
            Some((rest, mark)) => (rest, mark, 1),
            None => (text.as_str(), separator(&text), 0),
        };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .from_reader(text.as_bytes());
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| Error::data(error.to_string()).at(Place::file(name)))?;
            let line = record.position().map_or(0, csv::Position::line) + before;
            if record.iter().any(|cell| !cell.trim().is_empty()) {
                rows.push((line, record.iter().map(str::to_owned).collect::<Vec<String>>()));
            }
        }
        // A quote that is never closed swallows the rest of the file into the last cell.
        if let Some((line, cells)) = rows.last()
            && text.matches('"').count() % 2 == 1
            && cells.last().is_some_and(|cell| cell.contains('\n'))
        {
            return Err(Error::data("a double quote in this record is never closed")
                .at(Place::line(name, *line))
                .hint("the file may be cut off, or a quote inside a text is not doubled"));
        }
        if rows.is_empty() {
            return Err(Error::data("the file is empty").at(Place::file(name)).hint(
                "the first row names the columns: item,rater_a,rater_b (wide) or item,rater,label,value (long)",
            ));
        }
        let (first, header) = rows.remove(0);
        let header: Vec<String> = header.iter().map(|cell| trim(cell).to_owned()).collect();
        for (at, column) in header.iter().enumerate() {
            if !column.is_empty() && header.iter().take(at).any(|other| other == column) {
                return Err(Error::data(format!("the column {column:?} stands twice")).at(Place::line(name, first)));
            }
        }
        for (line, cells) in &rows {
            if cells.iter().skip(header.len()).any(|cell| !cell.trim().is_empty()) {
                return Err(Error::data(format!("the row has {} cells, the header {}", cells.len(), header.len()))
                    .at(Place::line(name, *line))
                    .hint("put text that holds the separator between double quotes"));
            }
        }
        Ok(Self { name, header, rows })
    }

    fn find(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.header.iter().position(|column| column.eq_ignore_ascii_case(name)))
    }

    /// The column of a name that the user gave.
    fn stated(&self, column: &str) -> Result<usize> {
        let exact = self.header.iter().position(|name| name == column);
        exact.or_else(|| self.find(&[column])).ok_or_else(|| {
            Error::not_found(format!("there is no column {column:?}"))
                .at(Place::file(self.name))
                .hint(format!("the columns are: {}", self.header.join(", ")))
        })
    }

    fn item_column(&self, format: &RatingsFormat) -> Result<Option<usize>> {
        let unnamed = || self.header.first().is_some_and(String::is_empty).then_some(0);
        format.item.as_deref().map_or_else(|| Ok(self.find(&ITEM).or_else(unnamed)), |name| self.stated(name).map(Some))
    }

    fn error(&self, line: u64, message: impl Into<String>) -> Error {
        Error::data(message).at(Place::line(self.name, line))
    }
}

fn cell(cells: &[String], at: usize) -> &str {
    cells.get(at).map_or("", String::as_str)
}

/// Without the blanks and marks that editors leave around a cell.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || "\u{feff}\u{200b}\u{2060}\0".contains(c))
}

fn decode(bytes: &[u8]) -> std::result::Result<String, (u64, &'static str)> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair)).collect();
        String::from_utf16(&units).map_err(|_| (1, "the file is not valid UTF-16"))
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
                let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
                (before.split(|byte| *byte == b'\n').count() as u64, "the line holds bytes that are not UTF-8")
            })
        }
    }
}

/// The separator that splits the first record into most cells; a comma where none does.
fn separator(text: &str) -> u8 {
    let cells = |mark: u8| {
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(mark).from_reader(text.as_bytes());
        reader.records().next().and_then(std::result::Result::ok).map_or(0, |record| record.len())
    };
    let mut best = (1, b',');
    for mark in [b',', b';', b'\t', b'|'] {
        let count = cells(mark);
        if count > best.0 {
            best = (count, mark);
        }
    }
    best.1
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
    let item = sheet.item_column(format)?;
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
    let item = needed(sheet.item_column(format)?, "item", &ITEM)?;
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
    let item = sheet.item_column(format)?;
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
