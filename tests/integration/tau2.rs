//! τ²-bench and chat logs through the program: ingest, audit, rate, adjudicate, report. The small run is our own
//! (`tau2/fixture.rs`) and its counts are by hand; the real one is in the shared folder.

mod chat;
mod damage;
pub mod fixture;
mod whole_way;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn program(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dualrater"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("COLUMNS", "80")
        .output()
        .expect("the program starts")
}

/// What a command prints that must succeed.
fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = program(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&done(folder, arguments)).expect("JSON")
}

/// Exit code and messages of a command that must fail.
fn refused(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = program(folder, arguments);
    (output.status.code().expect("a code"), String::from_utf8(output.stderr).expect("UTF-8"))
}

/// Fills columns of a sheet in: `answer` gets case and column.
fn fill(sheet: &Path, answer: impl Fn(&str, &str) -> Option<String>) {
    let mut reader = csv::Reader::from_path(sheet).expect("a sheet");
    let header = reader.headers().expect("a header").clone();
    let names: Vec<String> = header.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect();
    let at = names.iter().position(|name| name == "case").expect("a column of cases");
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let mut writer = csv::Writer::from_path(sheet).expect("writable");
    writer.write_record(&names).expect("written");
    for row in rows {
        let cells =
            row.iter().zip(&names).map(|(cell, name)| answer(&row[at], name).unwrap_or_else(|| cell.to_owned()));
        writer.write_record(cells).expect("written");
    }
    writer.flush().expect("written");
}

/// Both raters answer, the adjudicator rules as anna answered, the report is made; returns report.json.
fn rate(folder: &Path, batch: &str, answer: impl Fn(&str, &str, &str) -> Option<String>) -> Value {
    for rater in ["anna", "ben"] {
        let sheet = format!("{batch}-{rater}.csv");
        done(folder, &["export", "--batch", batch, "--rater", rater, "--as", "csv", "--out", &sheet]);
        fill(&folder.join(&sheet), |case, column| answer(rater, case, column));
        done(folder, &["import", &sheet]);
    }
    let rulings = format!("{batch}-rulings.csv");
    done(folder, &["adjudicate", "export", "--batch", batch, "--out", &rulings]);
    rule(&folder.join(&rulings), |case, label| answer("anna", case, label));
    done(folder, &["adjudicate", "import", &rulings]);
    let out = format!("{batch}-report");
    done(folder, &["report", "--batch", batch, "--out", &out]);
    serde_json::from_str(&std::fs::read_to_string(folder.join(out).join("report.json")).expect("a report"))
        .expect("JSON")
}

/// Fills rulings in: whatever `value` says of case and label.
fn rule(sheet: &Path, ruling: impl Fn(&str, &str) -> Option<String>) {
    let mut reader = csv::Reader::from_path(sheet).expect("a sheet");
    let header = reader.headers().expect("a header").clone();
    let column = |wanted: &str| header.iter().position(|name| name == wanted).expect("a column");
    let (case, label, value, note) = (column("case"), column("label"), column("value"), column("note"));
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let mut writer = csv::Writer::from_path(sheet).expect("writable");
    writer.write_record(&header).expect("written");
    for row in rows {
        let ruling = ruling(&row[case], &row[label]).expect("a ruling");
        let cells = row.iter().enumerate().map(|(at, cell)| match at {
            at if at == value => ruling.as_str(),
            at if at == note => "read again",
            _ => cell,
        });
        writer.write_record(cells).expect("written");
    }
    writer.flush().expect("written");
}
