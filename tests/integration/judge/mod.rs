//! Model raters through the program itself, against a scripted server: whatever the server does, every case is asked for
//! until it has its answer or its reason, once.

mod batch_file;
mod replies;
mod server;
mod standing;
mod stops;
mod weather;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

pub use server::{Answer, Asked, Server};

/// A project of its own with the demo in it (made once, then copied).
fn project() -> tempfile::TempDir {
    static DEMO: OnceLock<tempfile::TempDir> = OnceLock::new();
    let demo = DEMO.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let done = program(folder.path(), &["demo"]).output().expect("the program runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        folder
    });
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(demo.path().join("audits.db"), folder.path().join("audits.db")).expect("copied");
    folder
}

/// The program with nothing of the environment in it.
fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dualrater"));
    command.current_dir(folder).env_clear().args(arguments).stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    program(folder, arguments).output().expect("the program runs")
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&done(folder, arguments)).expect("JSON on stdout")
}

/// `judge` with short waits.
fn judge<'a>(server: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["judge", "--batch", "demo", "--rater", "m1", "--model", "m", "--json"];
    arguments.extend(["--endpoint", server, "--backoff", "0.01", "--timeout", "5"]);
    arguments.extend(more);
    arguments
}

fn count(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| unreachable!("{path} is missing in {value}"))
}

/// One number out of the database.
fn query(folder: &Path, sql: &str) -> i64 {
    let connection = rusqlite::Connection::open(folder.join("audits.db")).expect("open");
    connection.query_row(sql, [], |row| row.get(0)).expect("a number")
}

fn text(folder: &Path, sql: &str) -> String {
    let connection = rusqlite::Connection::open(folder.join("audits.db")).expect("open");
    connection.query_row(sql, [], |row| row.get(0)).expect("a text")
}

/// Cases of the demo's batch.
fn cases(folder: &Path) -> u64 {
    let sql = "SELECT count(*) FROM batch_cases JOIN batches ON batches.id = batch WHERE name = 'demo'";
    u64::try_from(query(folder, sql)).expect("a count")
}

/// A server that always answers validly.
fn sound() -> Server {
    Server::start(|asked| Answer::json(&asked.valid()))
}
