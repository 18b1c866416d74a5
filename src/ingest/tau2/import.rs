//! Brings a τ² run into the store: one transaction, nothing half-stored, the same bytes again change nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::header::{Header, header};
use super::stream::{Outline, Sink, read_value, stream};
use super::task_file::TaskFile;
use super::warnings::{compare_tasks, warn};
use crate::action::Classifier;
use crate::digest::Canonical;
use crate::error::{Error, Place, Result};
use crate::ingest::{Oddities, file_digest, json_text};
use crate::model::RunName;
use crate::store::{NewTau2Run, Store, Tau2Writer};
use crate::tau2::{RunFacts, ShapeError, SimulationFacts, Task, read_simulation, read_task};

/// What to import.
pub struct Tau2Request<'a> {
    /// The run's name.
    pub run: &'a RunName,
    /// A results file, or the folder of the directory layout.
    pub path: &'a Path,
    /// Tasks for a run without its own.
    pub tasks: Option<&'a TaskFile>,
    /// The model; by the header if absent.
    pub model: Option<&'a str>,
    /// The condition.
    pub condition: &'a str,
    /// Now (UTC, RFC 3339).
    pub now: &'a str,
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Tau2Report {
    /// The run.
    pub run: String,
    /// The same bytes were stored before; nothing else is reported.
    pub unchanged: bool,
    /// Model.
    pub model: String,
    /// Domain.
    pub domain: String,
    /// Schema generation: `A`, `A+`, `A-`, `B`, or one of these with `foreign wrapper`.
    pub generation: String,
    /// `file` or `directory`.
    pub layout: String,
    /// Where the tasks come from.
    pub tasks_from: String,
    /// Tasks.
    pub tasks: u64,
    /// Simulations.
    pub simulations: u64,
    /// Those with a score.
    pub scored: u64,
    /// Messages.
    pub messages: u64,
    /// Database writes.
    pub writes: u64,
    /// What was odd, how often; lines are places in the list of simulations, from 1.
    pub oddities: Oddities,
    /// What the user must know.
    pub warnings: Vec<String>,
}

/// Imports a run.
///
/// # Errors
/// A file that is no run, with its place; a name that is taken. A failed import leaves nothing behind.
pub fn import(store: &mut Store, request: &Tau2Request<'_>) -> Result<Tau2Report> {
    let source = Source::find(request.path)?;
    let (sha256, bytes) = source.digest()?;
    store.write(|transaction| {
        let tasks_sha256 = request.tasks.map(|file| file.sha256.as_str());
        let writer = Tau2Writer::open(transaction, request.run, &sha256, tasks_sha256, request.now)?;
        let Some(writer) = writer else {
            return Ok(Tau2Report { run: request.run.to_string(), unchanged: true, ..Tau2Report::default() });
        };
        let mut collector = Collector::new(&writer, &source.results);
        let outline = stream(&source.results, &mut collector)?;
        let layout = source.rest(&outline, &mut collector)?;
        let read = collector.finish(&outline);
        keep(writer, request, &source, (&sha256, bytes), layout, &outline, read)
    })
}

/// Where a run is.
struct Source {
    results: PathBuf,
    /// Files of the directory layout in the order of their names.
    pieces: Vec<PathBuf>,
}

impl Source {
    fn find(path: &Path) -> Result<Self> {
        let results = if path.is_dir() { path.join("results.json") } else { path.to_path_buf() };
        if path.is_dir() && !results.is_file() {
            return Err(Error::not_found("the folder holds no results.json").at(Place::file(path)));
        }
        let folder = results.parent().unwrap_or(Path::new("")).join("simulations");
        let mut pieces = Vec::new();
        if folder.is_dir() {
            let listed = std::fs::read_dir(&folder).map_err(|source| Error::io("list", &folder, &source))?;
            for entry in listed {
                let path = entry.map_err(|source| Error::io("list", &folder, &source))?.path();
                if path.extension().is_some_and(|end| end == "json") && path.is_file() {
                    pieces.push(path);
                }
            }
            pieces.sort();
        }
        Ok(Self { results, pieces })
    }

    /// The digest and size of everything that may be read.
    fn digest(&self) -> Result<(String, u64)> {
        let (digest, mut bytes) = file_digest(&self.results)?;
        if self.pieces.is_empty() {
            return Ok((digest, bytes));
        }
        let mut writer = Canonical::new("tau2-directory/1").text(&digest);
        for piece in &self.pieces {
            let (digest, size) = file_digest(piece)?;
            bytes += size;
            writer = writer.text(&digest);
        }
        Ok((writer.finish(), bytes))
    }

    /// Reads the pieces of the directory layout where the results file has no simulations; returns the layout.
    fn rest(&self, outline: &Outline, collector: &mut Collector<'_, '_>) -> Result<&'static str> {
        if outline.simulations.is_some() {
            return Ok("file");
        }
        if self.pieces.is_empty() {
            return Err(Error::data("the file has no `simulations`, and no folder `simulations` stands beside it")
                .at(Place::file(&self.results))
                .hint("a run of τ²-bench is a results.json with simulations, or one with such a folder beside it"));
        }
        for (index, piece) in self.pieces.iter().enumerate() {
            collector.file.clone_from(piece);
            let value = read_value(piece)?;
            collector.take(index, "the simulation", &value)?;
        }
        collector.file.clone_from(&self.results);
        if let Some(Value::Array(index)) = outline.parts.get("simulation_index")
            && index.len() != self.pieces.len()
        {
            collector.warnings.push(format!(
                "simulation_index lists {} simulations, the folder holds {}",
                index.len(),
                self.pieces.len()
            ));
        }
        Ok("directory")
    }
}

/// Takes tasks and simulations as they stream by.
struct Collector<'w, 't> {
    writer: &'w Tau2Writer<'t>,
    file: PathBuf,
    tasks: Vec<Task>,
    simulations: Vec<SimulationFacts>,
    messages: u64,
    tools: BTreeMap<String, u64>,
    models: BTreeMap<String, u64>,
    marks: Marks,
    oddities: Oddities,
    warnings: Vec<String>,
}

/// Keys that tell the schema generations apart.
#[derive(Default)]
struct Marks {
    ticks: bool,
    errors_or_reasoning: bool,
    timestamps: bool,
    results: u64,
    results_with_error: u64,
}

/// What was read.
struct Read {
    tasks: Vec<Task>,
    simulations: Vec<SimulationFacts>,
    messages: u64,
    tools: BTreeMap<String, u64>,
    models: BTreeMap<String, u64>,
    generation: String,
    oddities: Oddities,
    warnings: Vec<String>,
}

impl<'w, 't> Collector<'w, 't> {
    fn new(writer: &'w Tau2Writer<'t>, file: &Path) -> Self {
        Self {
            writer,
            file: file.to_path_buf(),
            tasks: Vec::new(),
            simulations: Vec::new(),
            messages: 0,
            tools: BTreeMap::new(),
            models: BTreeMap::new(),
            marks: Marks::default(),
            oddities: Oddities::default(),
            warnings: Vec::new(),
        }
    }

    fn take(&mut self, index: usize, path: &str, value: &Value) -> Result<()> {
        let mut notes = Vec::new();
        let (facts, messages) =
            read_simulation(value, index, path, &mut notes).map_err(|error| wrong_shape(&error, &self.file))?;
        let example = facts.task.as_deref().or(facts.id.as_deref()).unwrap_or_default().to_owned();
        for note in notes {
            self.oddities.note(note, index as u64 + 1, &example);
        }
        self.writer.add_messages(index, &messages)?;
        self.messages += messages.len() as u64;
        for call in messages.iter().flat_map(|message| &message.calls) {
            if self.tools.len() < 200 || self.tools.contains_key(&call.name) {
                *self.tools.entry(call.name.clone()).or_insert(0) += 1;
            }
        }
        self.look(value);
        self.simulations.push(facts);
        Ok(())
    }

    /// Notes what tells generations apart, and which models the answers name.
    fn look(&mut self, simulation: &Value) {
        self.marks.ticks |= simulation.get("ticks").is_some() || simulation.get("mode").is_some();
        for message in simulation.get("messages").and_then(Value::as_array).into_iter().flatten() {
            self.marks.errors_or_reasoning |= message.get("errors").is_some() || message.get("reasoning").is_some();
            self.marks.timestamps |= message.get("timestamp").is_some();
            if message.get("role").and_then(Value::as_str) == Some("tool") {
                self.marks.results += 1;
                self.marks.results_with_error += u64::from(message.get("error").is_some());
            }
            let agent = message.get("role").and_then(Value::as_str) == Some("assistant");
            let model = message.pointer("/raw_data/model").and_then(Value::as_str);
            if let Some(model) = model.filter(|model| agent && model.len() <= 100)
                && (self.models.len() < 20 || self.models.contains_key(model))
            {
                *self.models.entry(model.to_owned()).or_insert(0) += 1;
            }
        }
    }

    fn finish(self, outline: &Outline) -> Read {
        let marks = &self.marks;
        let b = marks.ticks
            || outline.keys.iter().any(|key| key == "simulation_index")
            || outline.parts.get("info").is_some_and(|info| info.get("text_streaming_config").is_some());
        let generation = if b {
            "B"
        } else if marks.errors_or_reasoning {
            "A+"
        } else if marks.results > 0 && marks.results_with_error == 0 && !marks.timestamps {
            "A-"
        } else {
            "A"
        };
        let foreign = if outline.parts.contains_key("info") { "" } else { ", foreign wrapper" };
        Read {
            generation: format!("{generation}{foreign}"),
            tasks: self.tasks,
            simulations: self.simulations,
            messages: self.messages,
            tools: self.tools,
            models: self.models,
            oddities: self.oddities,
            warnings: self.warnings,
        }
    }
}

/// A part of another shape than any known generation has.
fn wrong_shape(error: &ShapeError, file: &Path) -> Error {
    Error::data(error.to_string())
        .at(Place::file(file))
        .hint("the line is where that element ends; the shapes that are read are in docs/tau2.md. Nothing was stored")
}

impl Sink for Collector<'_, '_> {
    fn task(&mut self, index: usize, value: Value) -> Result<()> {
        let task = read_task(&value, &format!("tasks[{index}]")).map_err(|error| wrong_shape(&error, &self.file))?;
        self.tasks.push(task);
        Ok(())
    }

    fn simulation(&mut self, index: usize, value: Value) -> Result<()> {
        self.take(index, &format!("simulations[{index}]"), &value)
    }
}

/// Stores what was read.
fn keep(
    writer: Tau2Writer<'_>,
    request: &Tau2Request<'_>,
    source: &Source,
    (sha256, bytes): (&str, u64),
    layout: &str,
    outline: &Outline,
    mut read: Read,
) -> Result<Tau2Report> {
    let embedded = read.tasks.len();
    let mut tasks_from = "embedded".to_owned();
    if embedded == 0 {
        match request.tasks {
            Some(file) => {
                tasks_from.clone_from(&file.path);
                read.tasks.clone_from(&file.tasks);
            }
            None => "nowhere".clone_into(&mut tasks_from),
        }
    }
    let Header { domain, model, policy, kept } = header(outline, &read.tasks, &read.tools, &read.models)
        .map_err(|error| error.at_if_missing(Place::file(&source.results)))?;
    let model = request.model.map_or(model, str::to_owned);
    compare_tasks(request.tasks, embedded, domain, &read.tasks, &mut read.warnings)?;
    let facts = RunFacts {
        run: request.run.to_string(),
        domain,
        layout: layout.to_owned(),
        tasks_from,
        tasks_embedded: embedded,
        tasks: read.tasks,
        simulations: read.simulations,
    };
    warn(&facts, &read.models, &model, &mut read.warnings);
    let rules_digest = Classifier::paper().table().digest();
    let stood_in = request.tasks.filter(|_| embedded == 0).map(|file| file.sha256.as_str());
    writer.finish(
        &facts,
        &NewTau2Run {
            path: &request.path.display().to_string(),
            sha256,
            bytes,
            generation: &read.generation,
            tasks_sha256: stood_in,
            header: &kept.to_string(),
            policy: policy.as_deref(),
            rules_digest: &rules_digest,
            oddities: &json_text(&read.oddities),
            model: &model,
            condition: request.condition,
            now: request.now,
        },
    )?;
    let written = facts.simulations.iter().flat_map(|facts| &facts.writes).filter(|write| domain.writes(&write.tool));
    Ok(Tau2Report {
        run: facts.run.clone(),
        unchanged: false,
        model,
        domain: domain.to_string(),
        generation: read.generation,
        layout: facts.layout.clone(),
        tasks_from: facts.tasks_from.clone(),
        tasks: facts.tasks.len() as u64,
        simulations: facts.simulations.len() as u64,
        scored: facts.simulations.iter().filter(|facts| facts.scored()).count() as u64,
        messages: read.messages,
        writes: written.count() as u64,
        oddities: read.oddities,
        warnings: read.warnings,
    })
}
