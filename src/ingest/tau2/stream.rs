//! Streams a results file: the header as values, every task and simulation as it comes. Memory is one simulation and the
//! header.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Error, Place, Result};

/// What a results file holds beside its simulations.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// `info`, `domain`, `model`, `agent` and the like; everything else is only named.
    pub parts: Map<String, Value>,
    /// All keys in order.
    pub keys: Vec<String>,
    /// Simulations streamed; `None`: the file has no list of them.
    pub simulations: Option<usize>,
}

/// Who takes tasks and simulations.
pub(super) trait Sink {
    fn task(&mut self, index: usize, value: Value) -> Result<()>;
    fn simulation(&mut self, index: usize, value: Value) -> Result<()>;
}

/// Keys whose values are read; the others are skipped unread.
const PARTS: [&str; 6] = ["info", "domain", "model", "agent", "simulation_index", "timestamp"];

/// Reads a results file.
///
/// # Errors
/// No JSON object, with line and column; what the sink refuses.
pub(super) fn stream(path: &Path, sink: &mut dyn Sink) -> Result<Outline> {
    let reader = open(path)?;
    let mut refused = None;
    let mut deserializer = serde_json::Deserializer::from_reader(reader);
    let visitor = Top { sink, refused: &mut refused };
    let read = deserializer.deserialize_map(visitor).and_then(|outline| deserializer.end().map(|()| outline));
    read.map_err(|error| match refused.take() {
        None => syntax(path, &error),
        Some(refused) => placed(refused, path, &error),
    })
}

/// What the sink refused, with the line on which the refused element ends.
fn placed(refused: Error, path: &Path, error: &serde_json::Error) -> Error {
    match refused.place() {
        Some(place) if place.line.is_none() && place.file == path && error.line() > 0 => {
            let place = Place { line: Some(error.line() as u64), ..place.clone() };
            refused.at(place)
        }
        _ => refused,
    }
}

/// Reads a whole file as one value.
///
/// # Errors
/// The file cannot be read or is no JSON.
pub(super) fn read_value(path: &Path) -> Result<Value> {
    serde_json::from_reader(open(path)?).map_err(|error| syntax(path, &error))
}

/// The file behind its byte order mark, if it has one.
fn open(path: &Path) -> Result<Box<dyn Read>> {
    let file = File::open(path).map_err(|source| Error::io("read", path, &source))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut start = Vec::new();
    let failed = |source| Error::io("read", path, &source);
    reader.by_ref().take(3).read_to_end(&mut start).map_err(failed)?;
    if start == b"\xef\xbb\xbf" {
        start.clear();
    }
    Ok(Box::new(std::io::Cursor::new(start).chain(reader)))
}

/// A complaint of the JSON reader. Its own messages never quote values.
fn syntax(path: &Path, error: &serde_json::Error) -> Error {
    let place = Place {
        file: path.to_path_buf(),
        line: Some(error.line() as u64).filter(|line| *line > 0),
        column: Some(error.column() as u64).filter(|column| *column > 0),
    };
    if error.is_io() {
        return Error::new(crate::error::Kind::Io, "the file cannot be read to its end").at(place);
    }
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or_default();
    if message.contains("recursion limit") {
        return Error::data("the file is nested more than 128 levels deep")
            .at(place)
            .hint("no run of the benchmark is; look what stands there");
    }
    let found = if error.is_eof() { "the file ends in the middle of a value" } else { message };
    Error::data(format!("not a results file: {found}"))
        .at(place)
        .hint("a results file of τ²-bench is one JSON object with `simulations`; is it complete?")
}

struct Top<'s> {
    sink: &'s mut dyn Sink,
    refused: &'s mut Option<Error>,
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = Outline;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `simulations`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Outline, A::Error> {
        let mut outline = Outline::default();
        while let Some(key) = map.next_key::<String>()? {
            if outline.keys.contains(&key) {
                return Err(serde::de::Error::custom("a key stands twice at the top"));
            }
            match key.as_str() {
                "simulations" => {
                    let seed = List { sink: self.sink, refused: self.refused, simulations: true };
                    outline.simulations = map.next_value_seed(seed)?;
                }
                "tasks" => {
                    map.next_value_seed(List { sink: self.sink, refused: self.refused, simulations: false })?;
                }
                known if PARTS.contains(&known) => {
                    outline.parts.insert(key.clone(), map.next_value()?);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            outline.keys.push(key);
        }
        Ok(outline)
    }
}

/// A list whose elements go to the sink one by one.
struct List<'s> {
    sink: &'s mut dyn Sink,
    refused: &'s mut Option<Error>,
    simulations: bool,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Option<usize>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.simulations { "`simulations` to be a list" } else { "`tasks` to be a list" })
    }

    fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<Option<usize>, E> {
        // A null list of tasks is none; a null list of simulations is no run.
        if self.simulations { Err(E::custom("`simulations` is null, not a list")) } else { Ok(None) }
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> std::result::Result<Option<usize>, E> {
        // Said here because serde's own complaint would quote the text.
        Err(E::custom(if self.simulations {
            "`simulations` is a text, not a list"
        } else {
            "`tasks` is a text, not a list"
        }))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> std::result::Result<Option<usize>, A::Error> {
        let what = if self.simulations {
            "`simulations` is an object, not a list"
        } else {
            "`tasks` is an object, not a list"
        };
        Err(serde::de::Error::custom(what))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Option<usize>, A::Error> {
        let mut index = 0;
        while let Some(value) = list.next_element::<Value>()? {
            let taken =
                if self.simulations { self.sink.simulation(index, value) } else { self.sink.task(index, value) };
            if let Err(error) = taken {
                *self.refused = Some(error);
                return Err(serde::de::Error::custom("refused"));
            }
            index += 1;
        }
        Ok(Some(index))
    }
}
