//! The files: well-formed, complete, and consistent with each other.

use std::path::Path;

use super::*;

const CATEGORIES: [Category; 4] = Category::ALL;

fn dataset(category: Category) -> (Vec<Value>, Vec<Value>) {
    let name = format!("BFCL_v4_multi_turn_{category}.json");
    (file(&format!("dataset/{name}")), file(&format!("dataset/possible_answer/{name}")))
}

fn array<'a>(row: &'a Value, key: &str) -> &'a [Value] {
    row[key].as_array().expect("a list")
}

#[test]
fn the_table_holds_every_file_of_the_folder() {
    fn walk(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("the demo's folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
                let relative = path.strip_prefix(root).expect("below the demo's folder");
                found.insert(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
    let mut on_disk = BTreeSet::new();
    walk(&root.join("dataset"), &mut on_disk);
    walk(&root.join("runs"), &mut on_disk);
    let compiled: BTreeSet<String> = files().iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(compiled, on_disk);
    assert_eq!(compiled.len(), files().len());
}

#[test]
fn the_data_stay_small() {
    let compiled: usize = files().iter().map(|(_, text)| text.len()).sum();
    let truth = include_str!("../../../demo/truth.json").len() + include_str!("../../../demo/crosstab.json").len();
    assert!(compiled + truth < 700_000, "{compiled} + {truth}");
}

#[test]
fn every_line_of_every_file_is_json() {
    for (path, text) in files() {
        assert!(text.ends_with('\n'), "{path}");
        assert!(lines(text).iter().all(Value::is_object), "{path}");
    }
}

#[test]
fn ids_are_the_24_of_their_category_in_every_file() {
    for category in CATEGORIES {
        let expected: Vec<String> = (0..24).map(|number| format!("multi_turn_{category}_{number}")).collect();
        let (questions, answers) = dataset(category);
        assert_eq!(questions.iter().map(id).collect::<Vec<_>>(), expected);
        assert_eq!(answers.iter().map(id).collect::<Vec<_>>(), expected);
        for run in &RUNS {
            let result = file(&format!("{}/BFCL_v4_multi_turn_{category}_result.json", run.results));
            assert_eq!(result.iter().map(id).collect::<Vec<_>>(), expected, "{}", run.name);
        }
    }
}

#[test]
fn score_headers_close_with_their_failures_and_failures_repeat_the_result() {
    for run in &RUNS {
        for category in CATEGORIES {
            let score = file(&format!("{}/BFCL_v4_multi_turn_{category}_score.json", run.scores));
            let result = file(&format!("{}/BFCL_v4_multi_turn_{category}_result.json", run.results));
            let results: BTreeMap<String, &Value> = result.iter().map(|row| (id(row), &row["result"])).collect();
            let (header, failures) = score.split_first().expect("a header");
            assert_eq!(header["total_count"], 24);
            assert_eq!(header["correct_count"], 24 - failures.len());
            let accuracy = header["accuracy"].as_f64().expect("a number");
            assert!((accuracy * 24.0 - (24 - failures.len()) as f64).abs() < 1e-9);
            let mut seen = BTreeSet::new();
            for failure in failures {
                assert_eq!(failure["valid"], false);
                assert!(failure["error"]["error_type"].as_str().expect("a type").starts_with("multi_turn:"));
                let raw = failure.get("model_result_raw").or(failure.get("model_result")).expect("the result");
                assert_eq!(raw, results[&id(failure)]);
                assert!(seen.insert(id(failure)), "{} twice", id(failure));
            }
        }
    }
}

#[test]
fn turns_of_questions_ground_truth_and_results_agree() {
    let mut errors = Vec::new();
    for category in CATEGORIES {
        let (questions, answers) = dataset(category);
        for (question, answer) in questions.iter().zip(&answers) {
            assert_eq!(array(question, "question").len(), array(answer, "ground_truth").len(), "{}", id(question));
        }
        for run in &RUNS {
            let result = file(&format!("{}/BFCL_v4_multi_turn_{category}_result.json", run.results));
            for (row, question) in result.iter().zip(&questions) {
                match row["result"].as_array() {
                    Some(turns) => assert_eq!(turns.len(), array(question, "question").len(), "{}", id(row)),
                    None => errors.push((run.name, id(row), row["result"].as_str().expect("a text").to_owned())),
                }
            }
        }
    }
    assert_eq!(errors.len(), 1, "{errors:?}");
    let (run, case, text) = &errors[0];
    assert_eq!((*run, case.as_str()), ("masked-probe", "multi_turn_base_23"));
    assert!(text.starts_with("Error during inference: "));
}

/// The published rule: one turn before the held-out tool's return, or the first turn without ground truth.
#[test]
fn the_turn_that_wants_no_call_is_found_by_the_published_rule_and_varies() {
    let mut starts = BTreeMap::new();
    for category in [Category::MissFunc, Category::MissParam] {
        let (questions, answers) = dataset(category);
        for (question, answer) in questions.iter().zip(&answers) {
            let calls = array(answer, "ground_truth");
            let empty: Vec<usize> = (0..calls.len()).filter(|turn| calls[*turn] == Value::Array(Vec::new())).collect();
            assert_eq!(empty.len(), 1, "{}", id(answer));
            let due = empty[0];
            *starts.entry((category, due)).or_insert(0) += 1;
            assert!(!array(question, "question")[due].as_array().expect("messages").is_empty());
            if category == Category::MissFunc {
                let held_out = question["missed_function"].as_object().expect("held-out tools");
                let (turn, tools) = held_out.iter().next().expect("a turn");
                assert_eq!((held_out.len(), turn.parse()), (1, Ok(due + 1)));
                let back = &array(question, "question")[due + 1];
                assert_eq!(back, &Value::Array(Vec::new()), "the return has no user message");
                let tool = format!("{}(", tools[0].as_str().expect("a tool"));
                let calls_tool = |turn: &Value| {
                    turn.as_array()
                        .expect("calls")
                        .iter()
                        .any(|call| call.as_str().is_some_and(|c| c.starts_with(&tool)))
                };
                assert!(calls_tool(&calls[due + 1]) && !calls[..due].iter().any(calls_tool), "{}", id(answer));
            }
        }
    }
    // Counted by hand in demo/stories.
    let expected = [
        ((Category::MissFunc, 0), 12),
        ((Category::MissFunc, 1), 7),
        ((Category::MissFunc, 2), 5),
        ((Category::MissParam, 0), 11),
        ((Category::MissParam, 1), 10),
        ((Category::MissParam, 2), 3),
    ];
    assert_eq!(starts, BTreeMap::from(expected));
}

#[test]
fn two_entries_of_base_and_long_context_begin_without_a_call() {
    for category in [Category::Base, Category::LongContext] {
        let (_, answers) = dataset(category);
        let greeted = |row: &&Value| array(row, "ground_truth")[0] == Value::Array(Vec::new());
        let found: Vec<String> = answers.iter().filter(greeted).map(id).collect();
        assert_eq!(found, [2, 10].map(|number| format!("multi_turn_{category}_{number}")));
    }
}

#[test]
fn ground_truth_calls_only_documented_tools() {
    let mut tools = BTreeSet::new();
    for (path, text) in files().iter().filter(|(path, _)| path.contains("multi_turn_func_doc")) {
        for doc in lines(text) {
            assert!(tools.insert(doc["name"].as_str().expect("a name").to_owned()), "{path}");
            assert_eq!(doc["parameters"]["type"], "dict");
        }
    }
    assert_eq!(tools.len(), 36);
    for category in CATEGORIES {
        for row in dataset(category).1 {
            for call in array(&row, "ground_truth").iter().flat_map(|turn| turn.as_array().expect("calls")) {
                let (tool, _) = call.as_str().and_then(|text| text.split_once('(')).expect("a call");
                assert!(tools.contains(tool), "{tool}");
            }
        }
    }
}

#[test]
fn each_model_writes_its_calls_in_its_own_style() {
    for run in &RUNS {
        let result = file(&format!("{}/BFCL_v4_multi_turn_base_result.json", run.results));
        let first = &result[0]["result"][0][0];
        let fits = match run.model {
            "masked" => first.as_str().is_some_and(|text| text.starts_with("[{\"name\": ")),
            "mixed" => first.as_str().is_some_and(|text| text.starts_with("<tool_call>\n{\"name\": ")),
            _ => first[0].as_object().is_some_and(|call| call.values().all(Value::is_string)),
        };
        assert!(fits, "{}: {first}", run.name);
    }
}

#[test]
fn logs_repeat_the_questions_and_the_emissions() {
    let mut logged = Vec::new();
    for category in CATEGORIES {
        let (questions, _) = dataset(category);
        let result = file(&format!("runs/masked-baseline/result/BFCL_v4_multi_turn_{category}_result.json"));
        for (row, question) in result.iter().zip(&questions).filter(|(row, _)| row.get("inference_log").is_some()) {
            let turns: Vec<_> = array(row, "inference_log").iter().filter(|part| part.is_object()).collect();
            assert_eq!(turns.len(), array(question, "question").len());
            for (number, turn) in turns.iter().enumerate() {
                assert_eq!(turn["begin_of_turn_query"], question["question"][number]);
                let emissions = row["result"][number].as_array().expect("emissions");
                for (step, emission) in emissions.iter().enumerate() {
                    assert_eq!(&turn[&format!("step_{step}")][0]["content"], emission);
                }
            }
            logged.push(id(row));
        }
    }
    assert_eq!(
        logged,
        ["multi_turn_base_0", "multi_turn_base_4", "multi_turn_miss_param_0", "multi_turn_miss_param_5"]
    );
}
