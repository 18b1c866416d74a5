//! Names and identities: parsed once at the edge, valid ever after.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Nothing there.
    #[error("a {what} cannot be empty")]
    Empty {
        /// The kind of name.
        what: &'static str,
    },
    /// Too long to be a name.
    #[error("a {what} has at most {limit} bytes, this one has {length}")]
    TooLong {
        /// The kind of name.
        what: &'static str,
        /// The most bytes allowed.
        limit: usize,
        /// The bytes found.
        length: usize,
    },
    /// A character that the name cannot hold.
    #[error("a {what} cannot hold {character:?} (in {text:?})")]
    Character {
        /// The kind of name.
        what: &'static str,
        /// The offending character.
        character: char,
        /// The text.
        text: String,
    },
    /// Spaces at an end.
    #[error("a {what} cannot begin or end with white space ({text:?})")]
    Blank {
        /// The kind of name.
        what: &'static str,
        /// The text.
        text: String,
    },
    /// A case identity without its run.
    #[error("a case identity is run/case, got {text:?}")]
    NoRun {
        /// The text.
        text: String,
    },
}

fn check(what: &'static str, text: &str, forbidden: &[char]) -> Result<(), IdError> {
    const LIMIT: usize = 400;
    if text.is_empty() {
        return Err(IdError::Empty { what });
    }
    if text.len() > LIMIT {
        return Err(IdError::TooLong { what, limit: LIMIT, length: text.len() });
    }
    if text.trim() != text {
        return Err(IdError::Blank { what, text: text.to_owned() });
    }
    if let Some(character) = text.chars().find(|c| c.is_control() || is_bidi(*c) || forbidden.contains(c)) {
        return Err(IdError::Character { what, character, text: text.to_owned() });
    }
    Ok(())
}

/// Characters that turn the direction of text around: they make one name look like another.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $what:literal, $forbidden:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(String);

        impl $type {
            /// Checks a text and makes it a name.
            ///
            /// # Errors
            /// Empty, over-long, with control or forbidden characters, or with white space at an end.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                check($what, text, $forbidden)?;
                Ok(Self(text.to_owned()))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::str::FromStr for $type {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl TryFrom<String> for $type {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::parse(&text)
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> Self {
                name.0
            }
        }
    };
}

name!(
    /// The name of a run: the output of one model in one condition on one benchmark. Holds no `/`, which ends the run in a
    /// case identity, and no `:`, which marks the identities of audits made elsewhere.
    RunName, "run name", &['/', ':']
);
name!(
    /// The name of a batch: one drawn (or imported) audit sample.
    BatchName, "batch name", &['/']
);
name!(
    /// The name of a rater: a person, a model or a rule.
    RaterName, "rater name", &['/', ',']
);
name!(
    /// One question of a rubric, such as `B1a`.
    LabelId, "label", &['/', ',', ' ']
);
name!(
    /// A stratum's short name, such as `A`.
    StratumId, "stratum id", &['/', ',', ' ']
);
name!(
    /// The seed of a draw: a fixed text without `:`, so that `seed:case` cannot be read in two ways.
    Seed, "seed", &[':']
);

/// A case's identity for sampling: `run/case_id` (`published:<model>/<case_id>` for an audit made elsewhere).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CaseIdentity(String);

impl CaseIdentity {
    /// Reads an identity.
    ///
    /// # Errors
    /// No `/`, an empty part, control characters.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        check("case identity", text, &[])?;
        match text.split_once('/') {
            Some((run, case)) if !run.is_empty() && !case.is_empty() => Ok(Self(text.to_owned())),
            _ => Err(IdError::NoRun { text: text.to_owned() }),
        }
    }

    /// The identity of a benchmark entry in a run.
    ///
    /// # Errors
    /// A case id that is empty or holds control characters.
    pub fn new(run: &RunName, case: &str) -> Result<Self, IdError> {
        Self::parse(&format!("{run}/{case}"))
    }

    /// The identity of a case in an audit made elsewhere.
    ///
    /// # Errors
    /// As [`CaseIdentity::parse`].
    pub fn published(model: &str, case: &str) -> Result<Self, IdError> {
        Self::parse(&format!("published:{model}/{case}"))
    }

    /// The whole identity as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part before the first `/`: the run.
    #[must_use]
    pub fn run(&self) -> &str {
        self.0.split_once('/').map_or("", |(run, _)| run)
    }

    /// The part after the first `/`: the benchmark entry.
    #[must_use]
    pub fn case(&self) -> &str {
        self.0.split_once('/').map_or("", |(_, case)| case)
    }
}

impl fmt::Display for CaseIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for CaseIdentity {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for CaseIdentity {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        Self::parse(&text)
    }
}

impl From<CaseIdentity> for String {
    fn from(identity: CaseIdentity) -> Self {
        identity.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_refuse_what_would_make_identities_ambiguous() {
        assert!(RunName::parse("xlam-baseline").is_ok());
        assert!(RunName::parse("a/b").is_err());
        assert!(RunName::parse("published:m").is_err());
        assert!(RunName::parse("\u{202e}abc").is_err());
        assert!(RunName::parse("").is_err());
        assert!(RunName::parse(" a").is_err());
        assert!(RunName::parse("a\u{1b}[31m").is_err());
        assert!(Seed::parse("a:b").is_err());
        assert!(CaseIdentity::parse("no-slash").is_err());
        assert!(CaseIdentity::parse("run/").is_err());
    }

    #[test]
    fn identity_splits_at_the_first_slash() {
        let identity = CaseIdentity::parse("run/task/7#2").expect("valid");
        assert_eq!((identity.run(), identity.case()), ("run", "task/7#2"));
    }
}
