//! BFCL's data set: questions, ground truth, held-out tools and the turn of their return.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::digest::Canonical;
use crate::error::{Error, Place, Result};
use crate::ingest::Oddities;
use crate::ingest::lines::{LineReader, file_digest, parse_object};
use crate::model::{Category, GroundTruth};

/// One entry of the data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetEntry {
    /// The user's words per turn (an empty text where the turn only returns tools).
    pub user_turns: Vec<String>,
    /// Expected calls, held-out tools, turn of return; `None` where no answer file has the entry.
    pub ground_truth: Option<GroundTruth>,
    /// Held-out tools, known without an answer file.
    pub held_out_tools: Vec<String>,
    /// The turn of their return.
    pub return_turn: Option<u32>,
}

/// A data set read from a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    /// Digest over the digests of its files.
    pub digest: String,
    /// The folder.
    pub path: PathBuf,
    /// Entries by category and id.
    pub entries: BTreeMap<(Category, String), DatasetEntry>,
}

#[derive(Deserialize)]
struct Question {
    id: String,
    #[serde(rename = "question")]
    turns: Vec<Vec<QuestionMessage>>,
    #[serde(default)]
    missed_function: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct QuestionMessage {
    role: String,
    content: String,
}

#[derive(Deserialize)]
struct Answer {
    id: String,
    ground_truth: Vec<Vec<String>>,
}

impl Dataset {
    /// Reads the folder: `BFCL_v?_multi_turn_<category>*.json` and, beside them, `possible_answer/`.
    ///
    /// # Errors
    /// No question file, two for one category, a line that cannot be read.
    pub fn read(folder: &Path) -> Result<Self> {
        let questions = files(folder)?;
        if questions.is_empty() {
            return Err(Error::data("no data set here").at(Place::file(folder)).hint(
                "expected BFCL_v4_multi_turn_<category>.json files and a folder possible_answer, as in the benchmark's package",
            ));
        }
        let answer_folder = folder.join("possible_answer");
        let answers = if answer_folder.is_dir() { files(&answer_folder)? } else { BTreeMap::new() };
        let mut writer = Canonical::new("bfcl-dataset");
        let mut entries = BTreeMap::new();
        for (category, path) in &questions {
            writer = writer.text(category.as_str()).text(&file_digest(path)?.0);
            let mut truths = BTreeMap::new();
            if let Some(answer_path) = answers.get(category) {
                writer = writer.optional(Some(&file_digest(answer_path)?.0));
                for answer in read_lines::<Answer>(answer_path)? {
                    truths.insert(answer.id, answer.ground_truth);
                }
            } else {
                writer = writer.optional(None);
            }
            for question in read_lines::<Question>(path)? {
                let calls = truths.remove(&question.id);
                entries.insert((*category, question.id.clone()), entry(question, calls));
            }
        }
        Ok(Self { digest: writer.finish(), path: folder.to_path_buf(), entries })
    }
}

fn entry(question: Question, calls: Option<Vec<Vec<String>>>) -> DatasetEntry {
    let user_turns = question
        .turns
        .into_iter()
        .map(|turn| {
            let words: Vec<String> =
                turn.into_iter().filter(|message| message.role == "user").map(|message| message.content).collect();
            words.join("\n")
        })
        .collect();
    let return_turn = question.missed_function.keys().filter_map(|turn| turn.parse().ok()).min();
    let mut held_out_tools: Vec<String> = question.missed_function.into_values().flatten().collect();
    held_out_tools.sort();
    held_out_tools.dedup();
    let ground_truth = calls.map(|calls| GroundTruth { calls, held_out_tools: held_out_tools.clone(), return_turn });
    DatasetEntry { user_turns, ground_truth, held_out_tools, return_turn }
}

/// The data set files of a folder by category (not recursive).
fn files(folder: &Path) -> Result<BTreeMap<Category, PathBuf>> {
    let mut found: BTreeMap<Category, PathBuf> = BTreeMap::new();
    let listing = std::fs::read_dir(folder).map_err(|source| Error::io("list", folder, &source))?;
    let mut paths = Vec::new();
    for entry in listing {
        paths.push(entry.map_err(|source| Error::io("list", folder, &source))?.path());
    }
    paths.sort();
    for path in paths {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let rest = name.strip_suffix(".json").and_then(|stem| {
            stem.strip_prefix("BFCL_v3_multi_turn_").or_else(|| stem.strip_prefix("BFCL_v4_multi_turn_"))
        });
        let Some(rest) = rest else { continue };
        let Some(category) = Category::ALL.into_iter().find(|category| {
            rest.strip_prefix(category.as_str()).is_some_and(|tail| tail.is_empty() || tail == "_translated")
        }) else {
            continue;
        };
        if let Some(first) = found.get(&category) {
            return Err(Error::data(format!(
                "two data set files for {category}: {} and {}",
                first.display(),
                path.display()
            ))
            .hint("keep one version of the data set in a folder"));
        }
        found.insert(category, path);
    }
    Ok(found)
}

fn read_lines<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Vec<T>> {
    let mut reader = LineReader::open(path)?;
    let mut oddities = Oddities::default();
    let mut items = Vec::new();
    while let Some(line) = reader.next_line(&mut oddities)? {
        items.push(parse_object(line.text).map_err(|error| {
            Error::data(format!("not a line of a BFCL data set: {error}"))
                .at(Place { file: path.to_path_buf(), line: Some(line.number), column: Some(error.column() as u64) })
                .hint("give --dataset the folder as the benchmark ships it")
        })?);
    }
    Ok(items)
}
