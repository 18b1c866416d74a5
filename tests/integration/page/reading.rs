//! What stands on a case's page: compared with the rows that the run and the data set left in the database.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{World, world};

/// The calls of a run's case per turn, as saved; texts are left out.
fn calls(world: &World, run: &str, case: &str) -> BTreeMap<i64, Vec<Value>> {
    let sql = world.sql();
    let mut statement = sql
        .prepare(
            "SELECT turn, raw FROM emissions JOIN cases ON cases.id = case_row JOIN runs ON runs.id = cases.run
             WHERE runs.name = ? AND case_id = ? ORDER BY turn, step",
        )
        .expect("emissions");
    let rows = statement.query_map([run, case], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).expect("rows");
    let mut turns: BTreeMap<i64, Vec<Value>> = BTreeMap::new();
    for (turn, raw) in rows.map(|row| row.expect("a row")) {
        let calls = turns.entry(turn).or_default();
        match serde_json::from_str(&raw).expect("JSON") {
            Value::Array(list) => calls.extend(list),
            // Some of the models write their calls in text: as a list, or in tags.
            Value::String(text) if text.contains("<tool_call>") => calls.push(text.into()),
            Value::String(text) if text.starts_with('[') && text.ends_with(")]") => calls.push(text.into()),
            _ => {}
        }
    }
    turns
}

/// The calls that the data set expects, turn by turn.
fn truth(world: &World, case: &str) -> Vec<Vec<String>> {
    let text: String = world
        .sql()
        .query_row("SELECT ground_truth FROM dataset_entries WHERE entry_id = ?", [case], |row| row.get(0))
        .expect("ground truth");
    serde_json::from_str(&text).expect("lists")
}

fn between<'h>(html: &'h str, start: &str, end: &str) -> &'h str {
    html.split(start).nth(1).and_then(|rest| rest.split(end).next()).unwrap_or_default()
}

#[test]
fn gold_turn_differences_and_closed_labels_are_those_of_the_data() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let served = world.serve();
    let anna = served.client(&secret);
    let (mut alike, mut different) = (0, 0);
    for number in 1..=31 {
        let html = anna.get(&format!("/case/{number}")).body;
        let identity = between(&html, "<p class=\"identity\"><code>", "<");
        let (run, case) = identity.split_once('/').expect("run/case");
        // The gold turn: where a tool or a value is missing the first turn that expects no call, else the first with one.
        let expected = truth(&world, case);
        let missing = case.contains("miss_");
        let gold = expected.iter().position(|calls| calls.is_empty() == missing).expect("a gold turn");
        assert_eq!(html.matches("<li class=\"turn gold\"").count(), 1, "{identity}");
        assert!(html.contains(&format!("<li class=\"turn gold\" id=\"turn-{gold}\">")), "{identity}: turn {gold}");
        assert_eq!(html.matches("class=\"said truth\"").count(), expected.len(), "{identity}");
        // Differences between the conditions.
        let second = run.replace("-baseline", "-probe");
        let (one, two) = (calls(&world, run, case), calls(&world, &second, case));
        let marks = html.matches("<mark").count() + html.matches("<ins class=\"only\"").count();
        if one == two {
            alike += 1;
            assert_eq!(marks, 0, "{identity}");
        } else {
            different += 1;
            assert!(marks > 0, "{identity}");
        }
        // Every label is asked, closed, or follows by rule.
        let asked = html.matches("<form class=\"question").count();
        let closed = html.matches("<div class=\"question-closed\">").count();
        assert_eq!(html.matches("<div class=\"question-derived\"").count(), 1, "{identity}: B5");
        assert_eq!(asked + closed, 7, "{identity}");
        assert_eq!(html.matches("<details class=\"how\">").count(), asked, "{identity}: each says how to decide");
        let held_out = case.contains("miss_func");
        for label in ["B3_while_absent", "B3_after_return"] {
            assert_eq!(html.contains(&format!("data-label=\"{label}\"")), held_out, "{identity}: {label}");
        }
        assert_eq!(html.contains("held-out tools come back"), held_out, "{identity}");
    }
    assert!(alike > 0 && different > 0, "{alike} alike, {different} different");
}

#[test]
fn long_texts_are_folded_and_reasoning_is_set_apart() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let text = format!("<think>weigh the options</think>{}THE-END", "a line that is said\n".repeat(60));
    let raw = serde_json::json!(text).to_string();
    world.sql().execute("UPDATE emissions SET raw = ?", [&raw]).expect("planted");
    let served = world.serve();
    let html = served.client(&secret).get("/case/1").body;
    let thought = between(&html, "<details class=\"thought\">", "</details>");
    assert!(thought.contains("weigh the options") && !thought.contains("a line that is said"), "{thought}");
    let fold = between(&html, "<details class=\"long\">", "</details>");
    let (preview, whole) = fold.split_once("</summary>").expect("a summary");
    assert!(preview.contains("a line that is said") && !preview.contains("THE-END"), "{preview}");
    assert!(whole.contains("THE-END") && !fold.contains("weigh the options"), "{whole}");
    assert!(!html.contains("&lt;think&gt;"));
}
