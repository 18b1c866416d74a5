//! What was odd in a file: kept, counted and reported, with the first place of each kind.

use std::collections::BTreeMap;

use serde::Serialize;

/// One kind of oddity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Oddity {
    /// How often it was met.
    pub count: u64,
    /// The line where it was met first, from 1.
    pub first_line: u64,
    /// An example: an id or a short text.
    pub example: String,
}

/// All oddities of one file, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Oddities {
    kinds: BTreeMap<&'static str, Oddity>,
}

impl Oddities {
    /// Counts one more of a kind.
    pub fn note(&mut self, kind: &'static str, line: u64, example: &str) {
        let entry = self.kinds.entry(kind).or_insert_with(|| Oddity {
            count: 0,
            first_line: line,
            example: example.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect(),
        });
        entry.count += 1;
    }

    /// The kinds in alphabetic order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Oddity)> {
        self.kinds.iter().map(|(kind, oddity)| (*kind, oddity))
    }

    /// Nothing odd.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// How often a kind was met.
    pub fn count(&self, kind: &str) -> u64 {
        self.kinds.get(kind).map_or(0, |oddity| oddity.count)
    }
}
