//! `dualrater tau2 tasks`: the classes of tasks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::cli::{Context, Output};
use crate::error::{Error, Place, Result};
use crate::ingest::tau2::{TaskFile, read_task_file};
use crate::tau2::{Domain, TaskSet};

/// Classes of tasks: REFUSE, TOOL_CALL, ASK candidates, tasks without a reference write
///
/// A task without reference actions is REFUSE, every other TOOL_CALL; ASK may be added to either by the keyword rule. A
/// path is a task file (tasks*.json), a results file with embedded tasks, or a folder that is searched for task files. With
/// --run the tasks of an ingested run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Task files, or folders that hold them
    #[arg(required_unless_present = "run")]
    paths: Vec<PathBuf>,
    /// The tasks of an ingested run
    #[arg(long, conflicts_with = "paths")]
    run: Option<String>,
    /// The domain, where the files do not say it
    #[arg(long, value_parser = ["airline", "retail"])]
    domain: Option<String>,
    /// Print JSON: domain, version, classes
    #[arg(long)]
    json: bool,
}

/// The classes of one file.
struct Found {
    domain: Domain,
    version: String,
    file: String,
    set: TaskSet,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let mut found = Vec::new();
    if let Some(name) = &args.run {
        let store = context.store()?;
        let run = store.run(name)?;
        let facts =
            store.tau2_facts(&run)?.ok_or_else(|| Error::usage(format!("run {name} is not a run of τ²-bench")))?;
        let set = TaskSet::of(&facts.tasks, facts.domain);
        found.push(Found { domain: facts.domain, version: "run".to_owned(), file: name.clone(), set });
    }
    let stated = args.domain.as_deref().and_then(Domain::parse);
    for path in files(&args.paths)? {
        let file = read_task_file(&path)?;
        let domain = stated.or(file.domain).ok_or_else(|| {
            Error::data("the file does not say of which domain its tasks are")
                .at(Place::file(&path))
                .hint("name it: --domain airline or --domain retail")
        })?;
        let set = TaskSet::of(&file.tasks, domain);
        found.push(Found { domain, version: version(&file, domain, &found), file: file.path, set });
    }
    if args.json {
        return output.json(&as_json(&found));
    }
    show(&found, output);
    Ok(())
}

/// The version of a file; numbered where another file of the same domain has it already.
fn version(file: &TaskFile, domain: Domain, earlier: &[Found]) -> String {
    let same = |found: &&Found| found.domain == domain && found.version.split('-').next() == Some(file.version);
    match earlier.iter().filter(same).count() {
        0 => file.version.to_owned(),
        count => format!("{}-{}", file.version, count + 1),
    }
}

/// The files that paths name; folders are searched for `tasks*.json`.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = found.len();
            search(path, 6, &mut found)?;
            if found.len() == before {
                return Err(Error::not_found("the folder holds no tasks*.json").at(Place::file(path)));
            }
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn search(folder: &Path, depth: u8, found: &mut Vec<PathBuf>) -> Result<()> {
    let failed = |source| Error::io("list", folder, &source);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    for path in entries {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() && depth > 0 && !path.is_symlink() {
            search(&path, depth - 1, found)?;
        } else if name.starts_with("tasks") && path.extension().is_some_and(|end| end == "json") {
            found.push(path);
        }
    }
    Ok(())
}

fn as_json(found: &[Found]) -> Value {
    let mut domains: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for item in found {
        let mut entry = json!({ "file": item.file });
        if let (Value::Object(entry), Ok(Value::Object(set))) = (&mut entry, serde_json::to_value(&item.set)) {
            entry.extend(set);
        }
        domains.entry(item.domain.as_str()).or_default().insert(item.version.clone(), entry);
    }
    for (domain, versions) in &mut domains {
        let set = |version: &str| {
            found.iter().find(|item| item.domain.as_str() == *domain && item.version == version).map(|item| &item.set)
        };
        if let (Some(v0), Some(v1)) = (set("v0"), set("v1")) {
            // The labels; which reference actions a label rests on may differ.
            let same = (&v0.refuse, &v0.tool_call, &v0.ask) == (&v1.refuse, &v1.tool_call, &v1.ask);
            versions.insert("v0_equals_v1".to_owned(), Value::Bool(same));
        }
    }
    json!(domains)
}

fn show(found: &[Found], output: &mut Output) {
    for item in found {
        let set = &item.set;
        output.line(format!("{} {} · {} tasks · {}", item.domain, item.version, set.tasks, item.file));
        output.line(format!("  REFUSE {}: {}", set.refuse_n, set.refuse.join(" ")));
        output.line(format!("  TOOL_CALL {}", set.tool_call_n));
        output.line(format!("  ASK {}: {}", set.ask_n, set.ask.join(" ")));
        output.line(format!("  ASK and REFUSE: {}", set.ask_and_refuse.join(" ")));
        output.line(format!(
            "  no reference write {} (doing nothing leaves the right database): {}",
            set.no_write_gold.len(),
            set.no_write_gold.join(" ")
        ));
        for (keyword, count) in &set.keyword_hits {
            output.line(format!("  \"{keyword}\": {count}"));
        }
    }
}
