//! The plan file as TOML has it: names and types are checked here, meaning in `parse`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

/// Names with their places, such as the tables `[runs]` and `[pairs]`.
pub(super) type Names = BTreeMap<Spanned<String>, Spanned<String>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPlan {
    pub id: Spanned<String>,
    pub title: String,
    pub seed: Option<Spanned<String>>,
    pub allocation: Option<Spanned<String>>,
    pub total: Option<Spanned<u64>>,
    pub minimum: Option<Spanned<u64>>,
    #[serde(default)]
    pub roles: Names,
    #[serde(default)]
    pub runs: Names,
    #[serde(default)]
    pub pairs: Names,
    #[serde(default)]
    pub stratum: Vec<Spanned<RawStratum>>,
    #[serde(default)]
    pub cells: Vec<Spanned<RawCells>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStratum {
    pub id: Spanned<String>,
    pub title: String,
    pub quota: Option<Spanned<u64>>,
    pub minimum: Option<Spanned<u64>>,
    pub rate_guess: Option<Spanned<f64>>,
    #[serde(default)]
    pub priority: i64,
    #[serde(default)]
    pub optional: bool,
    pub filter: Option<Spanned<RawFilter>>,
    #[serde(rename = "where")]
    pub where_sql: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCells {
    pub id: Spanned<String>,
    pub title: String,
    pub by: Option<Spanned<Words>>,
    pub quota: Option<Spanned<u64>>,
    pub minimum: Option<Spanned<u64>>,
    pub rate_guess: Option<Spanned<f64>>,
    #[serde(default)]
    pub priority: i64,
    #[serde(default = "yes")]
    pub optional: bool,
    pub run: Option<Spanned<Words>>,
    pub model: Option<Spanned<Words>>,
    pub category: Option<Spanned<Words>>,
    pub verdict: Option<Spanned<Words>>,
    pub gar: Option<bool>,
    pub filter: Option<Spanned<RawFilter>>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFilter {
    pub run: Option<Spanned<Words>>,
    pub model: Option<Spanned<Words>>,
    pub condition: Option<Spanned<Words>>,
    pub category: Option<Spanned<Words>>,
    pub verdict: Option<Spanned<Words>>,
    pub transition: Option<Spanned<Words>>,
    pub gar: Option<bool>,
    pub error_record: Option<bool>,
    pub all: Option<Spanned<Vec<Spanned<RawFilter>>>>,
    pub any: Option<Spanned<Vec<Spanned<RawFilter>>>>,
    pub not: Option<Box<Spanned<RawFilter>>>,
}

/// One word or a list of words.
#[derive(Debug)]
pub(super) struct Words(pub Vec<String>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Words;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Words, E> {
                Ok(Words(vec![text.to_owned()]))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Words, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Words)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
