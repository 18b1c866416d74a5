//! Cue tables (data, see `cues-paper.toml`) and the one automaton that finds all cues of a table in one pass.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde::{Deserialize, Serialize};

use crate::digest::Canonical;
use crate::model::ActionClass;

/// Why a cue table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CueError {
    /// Not TOML, or not the fields of a cue table.
    #[error("not a cue table: {0}")]
    Toml(String),
    /// A cue that no normalised text can hold, or an empty one.
    #[error("the cue {cue:?} of {class} can never match: write cues in lower case, with ASCII quotes, not empty")]
    Cue {
        /// The class that it stands under.
        class: ActionClass,
        /// The cue.
        cue: String,
    },
    /// An entry of `question_marks`, `apostrophes` or `quotation_marks` that is not one character.
    #[error("{field} holds {text:?}, which is not a single character")]
    Character {
        /// The field of the table.
        field: &'static str,
        /// The entry.
        text: String,
    },
    /// The tables are too large for an automaton.
    #[error("too many cues: {0}")]
    Automaton(String),
}

/// The phrases that give a text its class. Cues are plain substrings of the text after its quotes are made ASCII and
/// it is lower-cased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CueTable {
    /// The rule set that the table belongs to.
    pub rules: String,
    /// Characters that make a text an `ask` on their own.
    pub question_marks: Vec<String>,
    /// Characters read as `'`.
    pub apostrophes: Vec<String>,
    /// Characters read as `"`.
    pub quotation_marks: Vec<String>,
    /// Cues of `refuse`.
    pub refuse: Vec<String>,
    /// Cues of `ask`.
    pub ask: Vec<String>,
    /// Cues of `confirm`.
    pub confirm: Vec<String>,
}

impl CueTable {
    /// The published table, compiled in.
    pub const PAPER: &str = include_str!("cues-paper.toml");

    /// Reads a table from TOML and checks that each of its cues can match.
    ///
    /// # Errors
    /// Not a table of this kind; a cue that no normalised text can hold; an entry that is not one character.
    pub fn parse(toml: &str) -> Result<Self, CueError> {
        let table: Self = toml::from_str(toml).map_err(|error| CueError::Toml(error.to_string()))?;
        let quotes = Quotes::of(&table)?;
        characters("question_marks", &table.question_marks)?;
        for (class, cues) in table.classes() {
            if let Some(cue) = cues.iter().find(|cue| cue.is_empty() || quotes.normalise(cue) != **cue) {
                return Err(CueError::Cue { class, cue: cue.clone() });
            }
        }
        Ok(table)
    }

    /// Digest of the parsed table (not of its file), so that comments and layout do not matter.
    #[must_use]
    pub fn digest(&self) -> String {
        Canonical::new("cue-table")
            .text(&self.rules)
            .list(&self.question_marks)
            .list(&self.apostrophes)
            .list(&self.quotation_marks)
            .list(&self.refuse)
            .list(&self.ask)
            .list(&self.confirm)
            .finish()
    }

    fn classes(&self) -> [(ActionClass, &[String]); 3] {
        [(ActionClass::Refuse, &self.refuse), (ActionClass::Ask, &self.ask), (ActionClass::Confirm, &self.confirm)]
    }
}

/// A cue in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CueMatch {
    /// The cue as the table writes it.
    pub cue: String,
    /// Where it begins, in bytes of the original text.
    pub offset: usize,
    /// The class that it speaks for.
    pub class: ActionClass,
}

/// Finds the cues of one table.
pub(super) struct CueFinder {
    automaton: AhoCorasick,
    /// Class and cue of each pattern of the automaton.
    patterns: Vec<(ActionClass, String)>,
    quotes: Quotes,
}

impl CueFinder {
    pub(super) fn new(table: &CueTable) -> Result<Self, CueError> {
        let mut patterns: Vec<(ActionClass, String)> = Vec::new();
        for (class, cues) in table.classes() {
            patterns.extend(cues.iter().map(|cue| (class, cue.clone())));
        }
        patterns.extend(table.question_marks.iter().map(|mark| (ActionClass::Ask, mark.clone())));
        let automaton = AhoCorasick::builder()
            // Overlapping search needs the standard kind; a cue inside another must not hide it.
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            // An ASCII text is searched as it is, without a lower-cased copy.
            .ascii_case_insensitive(true)
            .build(patterns.iter().map(|(_, cue)| cue))
            .map_err(|error| CueError::Automaton(error.to_string()))?;
        Ok(Self { automaton, patterns, quotes: Quotes::of(table)? })
    }

    /// Every cue in a text in the order of the text, overlapping ones too.
    pub(super) fn all(&self, text: &str) -> Vec<CueMatch> {
        let normalised = self.normalised(text);
        let mut found: Vec<_> = self.automaton.find_overlapping_iter(normalised.as_ref()).collect();
        found.sort_by_key(|found| (found.start(), usize::MAX - found.end()));
        // One walk over the text for all offsets.
        let mut offsets = Offsets { quotes: &self.quotes, chars: text.char_indices(), normalised: 0, offset: 0 };
        found
            .into_iter()
            .filter_map(|found| {
                let (class, cue) = self.patterns.get(found.pattern().as_usize())?;
                let offset = match normalised {
                    Cow::Borrowed(_) => found.start(),
                    Cow::Owned(_) => offsets.of(found.start()),
                };
                Some(CueMatch { cue: cue.clone(), offset, class: *class })
            })
            .collect()
    }

    /// The cue that decides the class of a text: of the class with the highest priority among the cues found, the one
    /// that begins first, and of those the longest.
    pub(super) fn decide(&self, text: &str) -> Option<CueMatch> {
        let normalised = self.normalised(text);
        let best = self
            .automaton
            .find_overlapping_iter(normalised.as_ref())
            .filter_map(|found| {
                let (class, cue) = self.patterns.get(found.pattern().as_usize())?;
                Some(((*class, found.start(), usize::MAX - found.end()), cue))
            })
            .min_by_key(|(rank, _)| *rank);
        let ((class, start, _), cue) = best?;
        let offset = match normalised {
            Cow::Borrowed(_) => start,
            Cow::Owned(_) => self.quotes.original_offset(text, start),
        };
        Some(CueMatch { cue: cue.clone(), offset, class })
    }

    /// The text as cues are compared with it.
    pub(super) fn comparable(&self, text: &str) -> String {
        self.quotes.normalise(text)
    }

    fn normalised<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(self.quotes.normalise(text)) }
    }
}

/// A walk over a text that turns places of its normalised form, asked for in ascending order, into places of its own.
struct Offsets<'t> {
    quotes: &'t Quotes,
    chars: std::str::CharIndices<'t>,
    /// Bytes of the normalised form up to the end of the character read last, and where that begins in the text.
    normalised: usize,
    offset: usize,
}

impl Offsets<'_> {
    fn of(&mut self, wanted: usize) -> usize {
        while self.normalised <= wanted {
            let Some((offset, c)) = self.chars.next() else { break };
            self.offset = offset;
            self.normalised += self.quotes.map(c).to_lowercase().map(char::len_utf8).sum::<usize>();
        }
        self.offset
    }
}

/// The characters read as ASCII quotes.
struct Quotes {
    apostrophes: Vec<char>,
    quotation_marks: Vec<char>,
}

impl Quotes {
    fn of(table: &CueTable) -> Result<Self, CueError> {
        Ok(Self {
            apostrophes: characters("apostrophes", &table.apostrophes)?,
            quotation_marks: characters("quotation_marks", &table.quotation_marks)?,
        })
    }

    fn map(&self, c: char) -> char {
        if c.is_ascii() {
            c
        } else if self.apostrophes.contains(&c) {
            '\''
        } else if self.quotation_marks.contains(&c) {
            '"'
        } else {
            c
        }
    }

    /// ASCII quotes first, then full Unicode lower-casing (`İ` becomes `i` and U+0307, the Kelvin sign `k`).
    fn normalise(&self, text: &str) -> String {
        text.chars().map(|c| self.map(c)).collect::<String>().to_lowercase()
    }

    /// The byte of the original text whose normalised form holds byte `wanted`. Lengths do not depend on context: the
    /// one letter that does (sigma) has two lower-case forms of equal length.
    fn original_offset(&self, text: &str, wanted: usize) -> usize {
        let mut normalised = 0;
        for (offset, c) in text.char_indices() {
            normalised += self.map(c).to_lowercase().map(char::len_utf8).sum::<usize>();
            if wanted < normalised {
                return offset;
            }
        }
        text.len()
    }
}

fn characters(field: &'static str, entries: &[String]) -> Result<Vec<char>, CueError> {
    entries
        .iter()
        .map(|text| {
            let mut chars = text.chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) => Ok(c),
                _ => Err(CueError::Character { field, text: text.clone() }),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper() -> (CueTable, CueFinder) {
        let table = CueTable::parse(CueTable::PAPER).expect("the compiled-in table is valid");
        let finder = CueFinder::new(&table).expect("the compiled-in table is small");
        (table, finder)
    }

    #[test]
    fn the_published_table_has_18_21_and_23_cues() {
        let (table, _) = paper();
        assert_eq!((table.ask.len(), table.refuse.len(), table.confirm.len()), (18, 21, 23));
        assert_eq!((table.apostrophes.len(), table.quotation_marks.len()), (6, 4));
    }

    #[test]
    fn every_cue_of_the_table_is_found_at_its_place() {
        let (table, finder) = paper();
        for (class, cues) in table.classes() {
            for cue in cues {
                for text in [format!("Zz {cue}."), format!("Zz {}.", cue.to_uppercase())] {
                    let found = finder.decide(&text).expect("a cue");
                    // A longer cue of a higher class may hold this one ("no available function" holds none lower).
                    assert!(found.class <= class, "{text}");
                    if found.class == class {
                        assert_eq!(found.offset, 3, "{text}");
                        assert!(found.cue.starts_with(cue.as_str()) || cue.contains(&found.cue), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn refuse_wins_over_ask_over_confirm_wherever_they_stand() {
        let (_, finder) = paper();
        let decide = |text: &str| finder.decide(text).map(|found| (found.class, found.cue, found.offset));
        assert_eq!(
            decide("All set? I cannot go on."),
            Some((ActionClass::Refuse, "cannot".to_owned(), 11)),
            "refuse stands last"
        );
        assert_eq!(decide("All set?"), Some((ActionClass::Ask, "?".to_owned(), 7)));
        assert_eq!(decide("Could you confirm it"), Some((ActionClass::Ask, "could you confirm".to_owned(), 0)));
        assert_eq!(decide("no further actions"), Some((ActionClass::Confirm, "no further actions".to_owned(), 0)));
        assert_eq!(decide("Here is the report."), None);
        assert_eq!(decide(""), None);
    }

    #[test]
    fn offsets_count_bytes_of_the_original_text() {
        let (_, finder) = paper();
        // U+2019 is 3 bytes, `İ` (2 bytes) becomes 3, the Kelvin sign (3 bytes) becomes 1.
        for (text, cue, offset) in [
            ("“Sorry”, I CAN\u{2019}T", "can't", 15),
            ("İİİ unable to", "unable to", 7),
            ("\u{212a}indly provide it", "kindly provide", 0),
            ("é \u{212a}\u{212a} tas\u{212a} complete", "task complete", 10),
            ("İ need the file", "", 0),
            ("Ist das möglich? ", "?", 16),
        ] {
            let found = finder.decide(text);
            assert!(finder.all(text).iter().any(|cue| Some(cue) == found.as_ref()) || found.is_none(), "{text}");
            assert_eq!(found.as_ref().map_or("", |found| &found.cue), cue, "{text}");
            if let Some(found) = found {
                assert_eq!(found.offset, offset, "{text}");
            }
        }
    }

    #[test]
    fn only_the_listed_quotes_and_the_ascii_question_mark_count() {
        let (_, finder) = paper();
        for quote in ['\'', '\u{2018}', '\u{2019}', '\u{201a}', '\u{201b}', '\u{b4}', '\u{2bc}'] {
            let found = finder.decide(&format!("I can{quote}t"));
            assert_eq!(found.map(|found| found.class), Some(ActionClass::Refuse), "{quote:?}");
        }
        for quote in ['`', '\u{2032}', '\u{ff07}', '"', '\u{201c}'] {
            assert_eq!(finder.decide(&format!("I can{quote}t")), None, "{quote:?}");
        }
        for mark in ['\u{ff1f}', '\u{61f}', '\u{37e}', '\u{bf}'] {
            assert_eq!(finder.decide(&format!("Ready{mark}")), None, "{mark:?}");
        }
    }

    #[test]
    fn a_table_that_cannot_work_is_refused() {
        let change = |from: &str, to: &str| CueTable::parse(&CueTable::PAPER.replace(from, to));
        assert!(matches!(change("\"all set\"", "\"All set\""), Err(CueError::Cue { .. })));
        assert!(matches!(change("\"can't\"", "\"can\u{2019}t\""), Err(CueError::Cue { .. })));
        assert!(matches!(change("\"all set\"", "\"\""), Err(CueError::Cue { .. })));
        assert!(matches!(change("[\"?\"]", "[\"??\"]"), Err(CueError::Character { .. })));
        assert!(matches!(change("ask = [", "asks = ["), Err(CueError::Toml(_))));
    }

    #[test]
    fn the_digest_follows_the_content_and_not_the_layout() {
        let (table, _) = paper();
        let spaced = CueTable::PAPER.replace("  \"", "\n      \"");
        assert_eq!(CueTable::parse(&spaced).expect("valid").digest(), table.digest());
        let mut moved = table.clone();
        moved.confirm.swap(0, 1);
        assert_ne!(moved.digest(), table.digest());
        let mut other = table.clone();
        let cue = other.ask.pop().expect("not empty");
        other.confirm.insert(0, cue);
        assert_ne!(other.digest(), table.digest());
    }
}
