//! The layers of ARCHITECTURE.md, read from the sources: arrows point down only, pure modules name nothing of the outside
//! world, files stay readable.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules by layer, from the bottom up. An arrow may go to the same layer only as `SIDEWAYS` allows.
const LAYERS: [(&str, &[&str]); 4] = [
    ("base", &["digest", "error", "exit", "model"]),
    ("pure", &["action", "agree", "estimate", "gar", "report", "rubric", "sample", "strata", "tau2"]),
    ("edges", &["demo", "desk", "ingest", "judge", "rate", "serve", "store"]),
    ("cli", &["cli"]),
];

/// Arrows inside a layer: who may use whom.
const SIDEWAYS: [(&str, &[&str]); 15] = [
    ("digest", &["model"]),
    ("error", &["exit"]),
    ("estimate", &["agree"]),
    ("gar", &["action", "estimate", "rubric"]),
    ("report", &["action", "agree", "estimate", "gar", "rubric", "sample", "strata", "tau2"]),
    ("sample", &["strata"]),
    // τ² reads messages with the cues and rules of `action` and reports with the joint table and intervals of the others.
    ("tau2", &["action", "estimate", "gar"]),
    ("ingest", &["store"]),
    ("demo", &[]),
    // A reply is checked as an imported answer is, and handed over in the store's own row type.
    ("judge", &["rate", "store"]),
    ("desk", &["rate", "store"]),
    ("serve", &["desk", "rate", "store"]),
    ("rate", &[]),
    ("store", &[]),
    ("rubric", &[]),
];

/// What pure and base modules may not name: files, sockets, clocks, terminals, databases, entropy.
const OUTSIDE: [&str; 14] = [
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "io::stdin",
    "io::stdout",
    "io::stderr",
    "SystemTime",
    "Instant::now",
    "rusqlite",
    "comfy_table",
    "indicatif",
    "rand::rng",
];

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("src can be listed") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    walk(&root, &mut found);
    found.sort();
    assert!(found.len() > 50, "the sources were not found");
    found
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("source can be read");
            (path.strip_prefix(&root).expect("below src").to_path_buf(), text)
        })
        .collect()
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        name == "tests" || name == "tests.rs" || name.ends_with("_tests.rs") || name == "fixture.rs"
    })
}

/// The code of a file without its unit tests and comments.
fn code(text: &str) -> String {
    let before_tests = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    before_tests.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|(_, modules)| modules.contains(&module))
}

#[test]
fn arrows_point_down() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let first = path.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
        let module = first.trim_end_matches(".rs").to_owned();
        if module == "lib" || module == "main" || is_test(&path) {
            continue;
        }
        let layer = layer_of(&module)
            .unwrap_or_else(|| panic!("{module} is in no layer: add it to the test and to ARCHITECTURE.md"));
        let code = code(&text);
        for part in code.split("crate::").skip(1) {
            let target: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let Some(target_layer) = layer_of(&target) else { continue };
            let sideways = SIDEWAYS.iter().any(|(from, to)| *from == module && to.contains(&target.as_str()));
            let allowed = target == module || target_layer < layer || (target_layer == layer && sideways);
            if !allowed {
                wrong.push(format!("{}: {module} must not use {target}", path.display()));
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "arrows that point up:\n{}", wrong.join("\n"));
}

#[test]
fn pure_modules_name_nothing_of_the_outside_world() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let first = path.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
        let pure = layer_of(first.trim_end_matches(".rs")).is_some_and(|layer| layer < 2);
        if !pure || is_test(&path) {
            continue;
        }
        for (number, line) in code(&text).lines().enumerate() {
            // The error type carries the system's own errors; it opens nothing.
            if OUTSIDE.iter().any(|name| line.contains(name)) && !path.starts_with("error.rs") {
                wrong.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "pure code that reaches outside:\n{}", wrong.join("\n"));
}

#[test]
fn sql_stays_in_the_store() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let home = path.starts_with("store") || path.ends_with("sample/sql.rs") || path.starts_with("sample/sql");
        if home || is_test(&path) {
            continue;
        }
        for line in code(&text).lines() {
            if ["\"SELECT ", "\"INSERT INTO ", "\"UPDATE ", "\"DELETE FROM ", "\"CREATE TABLE "]
                .iter()
                .any(|sql| line.contains(sql))
            {
                wrong.push(format!("{}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "SQL outside the store:\n{}", wrong.join("\n"));
}

#[test]
fn files_stay_readable() {
    // A file over the limit says why in its opening comment, with the word "length".
    const LIMIT: usize = 420;
    let long: Vec<String> = sources()
        .into_iter()
        .filter(|(path, text)| {
            let reason = text.lines().take_while(|line| line.starts_with("//!")).any(|line| line.contains("length"));
            text.lines().count() > LIMIT && !reason && !is_test(path)
        })
        .map(|(path, text)| format!("{}: {} lines", path.display(), text.lines().count()))
        .collect();
    assert!(long.is_empty(), "split these files or say why they are long:\n{}", long.join("\n"));
}
