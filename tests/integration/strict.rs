//! The rule set `strict` on real emissions.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};

use dualrater::action::{StrictRules, classify_json, strict_json};

/// Not a check: writes what both rule sets say about each line of `DUALRATER_STRICT_IN` (one JSON value a line) to
/// `DUALRATER_STRICT_OUT`, for `scripts/rules-audit.py`. `DUALRATER_STRICT_RULES` switches rules.
#[test]
fn verdicts_are_dumped_where_asked_for() {
    let (Ok(from), Ok(to)) = (std::env::var("DUALRATER_STRICT_IN"), std::env::var("DUALRATER_STRICT_OUT")) else {
        return;
    };
    let rules = StrictRules::parse(&std::env::var("DUALRATER_STRICT_RULES").unwrap_or_default()).expect("rules");
    let mut out = fs::File::create(to).expect("a writable file");
    for line in BufReader::new(fs::File::open(from).expect("a readable file")).lines() {
        let line = line.expect("UTF-8");
        let (paper, strict) = (classify_json(&line).expect("JSON"), strict_json(&line, &rules).expect("JSON"));
        let record = serde_json::json!({"paper": paper.class, "strict": strict.class, "cue": strict.cue,
            "form": strict.form, "fired": strict.fired});
        writeln!(out, "{record}").expect("a writable file");
    }
}
