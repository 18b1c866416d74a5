//! JSON objects as they stand: keys in order, doubled keys kept, values as raw text, numbers untouched.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object's keys and raw values in the order of the text.
pub(super) struct Pairs(pub Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Pairs;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

impl Pairs {
    /// Reads an object; `None` if the text is anything else.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The value of a key (the first, where it stands twice).
    pub(super) fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_ref())
    }

    /// The value of a key if it is a text.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(|value| string(value.get()))
    }

    /// The first key that stands twice.
    pub(super) fn doubled_key(&self) -> Option<&str> {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.windows(2).find_map(|pair| match pair {
            [one, two] if one == two => Some(*one),
            _ => None,
        })
    }
}

/// A JSON text as a string; `None` if it is anything else (or holds half a surrogate pair).
pub(super) fn string(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}
