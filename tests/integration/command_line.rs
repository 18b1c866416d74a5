//! The program as a person meets it: the demo, tables at 80 columns, exit codes, errors that say what to do.

use std::path::Path;
use std::process::{Command, Output};

fn dualrater(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dualrater"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("COLUMNS", "80")
        .output()
        .expect("the program starts")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[must_use]
fn demo() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temp dir");
    let done = dualrater(folder.path(), &["demo"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    folder
}

/// Layout only: the numbers are checked against their sources elsewhere.
#[test]
fn tables_fit_eighty_columns() {
    let folder = demo();
    for (name, arguments) in [
        ("gar", &["gar", "--run", "masked-baseline"][..]),
        ("agree", &["agree", "--batch", "demo"]),
        ("draw", &["draw", "quickstart", "--batch", "q", "--seed", "s", "--bind", "run=mixed-baseline", "--dry-run"]),
        ("runs", &["runs"]),
        ("raters", &["raters", "--batch", "demo"]),
        ("kappa", &["kappa", "--table", "88,14,18;10,40,10;2,6,12"]),
        ("rate-ci", &["rate-ci", "72", "78"]),
    ] {
        let done = dualrater(folder.path(), arguments);
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        let shown = text(&done);
        for line in shown.lines().filter(|line| line.contains("  ") && !line.starts_with("note")) {
            assert!(line.chars().count() <= 80, "{name}: {} columns: {line}", line.chars().count());
        }
        insta::assert_snapshot!(name, shown);
    }
}

#[test]
fn the_demo_says_what_to_look_at_and_can_be_run_again() {
    let folder = demo();
    let again = dualrater(folder.path(), &["demo"]);
    assert!(again.status.success());
    assert!(text(&again).contains("report/index.html"));
    let page = std::fs::read_to_string(folder.path().join("report/index.html")).expect("page");
    for foreign in ["http://", "https://", "<script", "src="] {
        assert!(!page.contains(foreign), "the page needs nothing beside it, but has {foreign}");
    }
}

/// The codes that `--help` and README.md list.
#[test]
fn exit_codes_are_the_documented_ones() {
    let folder = demo();
    let code = |arguments: &[&str]| dualrater(folder.path(), arguments).status.code();
    assert_eq!(code(&["gar"]), Some(0));
    assert_eq!(code(&["import", "demo-data/truth-that-is-not-there.csv"]), Some(3));
    assert_eq!(code(&["frobnicate"]), Some(2));
    assert_eq!(code(&["agree", "--batch", "nope"]), Some(3));
    assert_eq!(code(&["--db", "absent.db", "gar"]), Some(3));
    std::fs::write(folder.path().join("empty.csv"), "").expect("write");
    assert_eq!(code(&["import", "empty.csv"]), Some(1));
    assert_eq!(code(&["verify", "--head", "ffff"]), Some(5));
    assert_eq!(code(&["backup", "audits.db"]), Some(4));
    assert!(!folder.path().join("absent.db").exists(), "a reading command makes no database");
}

#[test]
fn verify_finds_an_edited_verdict_and_an_edited_rating() {
    let folder = demo();
    let edit = |sql: &str| {
        let connection = rusqlite::Connection::open(folder.path().join("audits.db")).expect("open");
        connection.execute_batch(sql).expect("edit");
    };
    let verify = || dualrater(folder.path(), &["verify"]);
    assert_eq!(verify().status.code(), Some(0));
    edit("UPDATE emissions SET class = 'refuse' WHERE class = 'confirm'");
    assert_eq!(verify().status.code(), Some(5));
    edit(
        "UPDATE emissions SET class = 'confirm' WHERE class = 'refuse' AND cue IN (SELECT cue FROM emissions WHERE class = 'confirm')",
    );
    edit(
        "DROP TRIGGER ratings_keep; UPDATE ratings SET value = '1' WHERE value = '0' AND id = (SELECT max(id) FROM ratings WHERE value = '0')",
    );
    let found = verify();
    assert_eq!(found.status.code(), Some(5));
    assert!(
        String::from_utf8_lossy(&found.stderr).contains("was changed"),
        "{}",
        String::from_utf8_lossy(&found.stderr)
    );
}

#[test]
fn every_command_explains_itself() {
    let folder = tempfile::tempdir().expect("temp dir");
    let help = text(&dualrater(folder.path(), &["--help"]));
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| *word != "help")
        .collect();
    assert!(commands.len() >= 18, "{commands:?}");
    for command in commands {
        let shown = text(&dualrater(folder.path(), &[command, "--help"]));
        assert!(shown.len() > 200, "{command} --help says too little:\n{shown}");
    }
}
