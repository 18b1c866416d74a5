//! Reads the keys of one TOML table: typed, with every problem recorded at its place, unknown keys included.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::rubric::problem::{ProblemKind, Problems};
use crate::rubric::spelling::did_you_mean;

/// A value with the byte offset at which it stands in the file.
#[derive(Debug, Clone)]
pub(super) struct Located<T> {
    pub offset: usize,
    pub value: T,
}

/// A table that is being read.
pub(super) struct Fields<'t, 'i> {
    /// What the table is, for messages ("label B1a").
    pub place: String,
    /// Where it begins.
    pub offset: usize,
    table: &'t DeTable<'i>,
    known: Vec<&'static str>,
}

impl<'t, 'i> Fields<'t, 'i> {
    pub(super) fn new(place: String, offset: usize, table: &'t DeTable<'i>) -> Self {
        Self { place, offset, table, known: Vec::new() }
    }

    /// The raw value of a key; from now on the key is known.
    pub(super) fn raw(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'i>>> {
        self.known.push(key);
        self.table.get(key)
    }

    pub(super) fn missing(&self, key: &'static str, problems: &mut Problems<'_>) {
        problems.add(self.offset, ProblemKind::MissingKey { key, place: self.place.clone() }, None);
    }

    /// As [`Fields::missing`], unless the key is there and had another problem.
    pub(super) fn missing_if_absent(&self, key: &'static str, problems: &mut Problems<'_>) {
        if !self.table.contains_key(key) {
            self.missing(key, problems);
        }
    }

    pub(super) fn wrong_type(
        &self,
        key: &str,
        expected: &'static str,
        found: &Spanned<DeValue<'_>>,
        problems: &mut Problems<'_>,
    ) {
        let kind = ProblemKind::WrongType {
            key: key.to_owned(),
            place: self.place.clone(),
            expected,
            found: found.get_ref().type_str(),
        };
        problems.add(found.span().start, kind, None);
    }

    fn string(&self, key: &str, value: &Spanned<DeValue<'_>>, problems: &mut Problems<'_>) -> Option<Located<String>> {
        let offset = value.span().start;
        let Some(text) = value.get_ref().as_str() else {
            self.wrong_type(key, "a text", value, problems);
            return None;
        };
        let text = flow(text);
        if text.is_empty() {
            problems.add(offset, ProblemKind::Empty { key: key.to_owned(), place: self.place.clone() }, None);
            return None;
        }
        Some(Located { offset, value: text })
    }

    /// A text that may be absent, with its line breaks undone ([`flow`]).
    pub(super) fn optional_text(&mut self, key: &'static str, problems: &mut Problems<'_>) -> Option<Located<String>> {
        let value = self.raw(key)?;
        self.string(key, value, problems)
    }

    /// A text that must be there.
    pub(super) fn text(&mut self, key: &'static str, problems: &mut Problems<'_>) -> Option<Located<String>> {
        let Some(value) = self.raw(key) else {
            self.missing(key, problems);
            return None;
        };
        self.string(key, value, problems)
    }

    /// A word from a fixed list.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        all: &[T],
        written: fn(T) -> &'static str,
        problems: &mut Problems<'_>,
    ) -> Option<T> {
        let text = self.text(key, problems)?;
        self.known_word(key, &text, all, written, problems)
    }

    /// Finds a text in a fixed list.
    pub(super) fn known_word<T: Copy>(
        &self,
        key: &str,
        text: &Located<String>,
        all: &[T],
        written: fn(T) -> &'static str,
        problems: &mut Problems<'_>,
    ) -> Option<T> {
        let found = all.iter().copied().find(|item| written(*item) == text.value);
        if found.is_none() {
            let kind =
                ProblemKind::UnknownWord { key: key.to_owned(), place: self.place.clone(), found: text.value.clone() };
            problems.add(text.offset, kind, Some(did_you_mean(&text.value, all.iter().map(|item| written(*item)))));
        }
        found
    }

    /// A whole number from 0 that must be there.
    pub(super) fn number(&mut self, key: &'static str, problems: &mut Problems<'_>) -> Option<u64> {
        let Some(value) = self.raw(key) else {
            self.missing(key, problems);
            return None;
        };
        let number = value.get_ref().as_integer().and_then(|i| u64::from_str_radix(i.as_str(), i.radix()).ok());
        if number.is_none() {
            self.wrong_type(key, "a whole number from 0", value, problems);
        }
        number
    }

    /// `true` or `false`, which must be there.
    pub(super) fn boolean(&mut self, key: &'static str, problems: &mut Problems<'_>) -> Option<bool> {
        let Some(value) = self.raw(key) else {
            self.missing(key, problems);
            return None;
        };
        let found = value.get_ref().as_bool();
        if found.is_none() {
            self.wrong_type(key, "true or false", value, problems);
        }
        found
    }

    /// A list that may be absent; an empty one is a problem.
    fn list(
        &mut self,
        key: &'static str,
        expected: &'static str,
        problems: &mut Problems<'_>,
    ) -> Option<&'t [Spanned<DeValue<'i>>]> {
        let value = self.raw(key)?;
        let Some(items) = value.get_ref().as_array() else {
            self.wrong_type(key, expected, value, problems);
            return None;
        };
        if items.is_empty() {
            let kind = ProblemKind::Empty { key: key.to_owned(), place: self.place.clone() };
            problems.add(
                value.span().start,
                kind,
                Some("leave the key out, or put something into the list".to_owned()),
            );
        }
        Some(items)
    }

    /// A list of texts; `None` where the key is absent.
    pub(super) fn texts(&mut self, key: &'static str, problems: &mut Problems<'_>) -> Option<Vec<Located<String>>> {
        let items = self.list(key, "a list of texts", problems)?;
        Some(items.iter().filter_map(|item| self.string(key, item, problems)).collect())
    }

    /// A list of tables; `None` where the key is absent.
    pub(super) fn tables(
        &mut self,
        key: &'static str,
        what: &str,
        problems: &mut Problems<'_>,
    ) -> Option<Vec<Fields<'t, 'i>>> {
        let items = self.list(key, "a list of tables", problems)?;
        let mut tables = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.get_ref().as_table() {
                Some(table) => {
                    let place = match &self.place {
                        place if place == "the rubric" => format!("{what} {}", index + 1),
                        place => format!("{what} {} of {place}", index + 1),
                    };
                    tables.push(Fields::new(place, item.span().start, table));
                }
                None => self.wrong_type(key, "a table", item, problems),
            }
        }
        Some(tables)
    }

    /// Reports every key that nothing asked for.
    pub(super) fn finish(&self, problems: &mut Problems<'_>) {
        for key in self.table.keys() {
            let name: &str = key.get_ref();
            if !self.known.contains(&name) {
                let kind = ProblemKind::UnknownKey { key: name.to_owned(), place: self.place.clone() };
                problems.add(key.span().start, kind, Some(did_you_mean(name, self.known.iter().copied())));
            }
        }
    }
}

/// Undoes line breaks: words of a paragraph are joined by single spaces, paragraphs by an empty line. Two files that
/// only break their lines differently thus hold the same rubric.
fn flow(text: &str) -> String {
    let mut paragraphs: Vec<Vec<&str>> = vec![Vec::new()];
    for line in text.lines() {
        if line.trim().is_empty() {
            paragraphs.push(Vec::new());
        } else if let Some(paragraph) = paragraphs.last_mut() {
            paragraph.extend(line.split_whitespace());
        }
    }
    let joined: Vec<String> =
        paragraphs.iter().filter(|words| !words.is_empty()).map(|words| words.join(" ")).collect();
    joined.join("\n\n")
}
