//! Files that are no runs, and runs that are odd.

use super::fixture::{run, save, tasks};
use super::{done, json, program, refused};
use serde_json::{Value, json};

#[test]
fn what_cannot_be_read_is_refused_with_its_place_and_a_remedy() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    let mut wrong_shape = run();
    wrong_shape["simulations"][1]["messages"][0]["role"] = json!(7);
    let mut other_domain = run();
    other_domain["info"]["environment_info"]["domain_name"] = json!("telecom");
    let whole = serde_json::to_string(&run()).expect("JSON");
    let cases: [(&str, String, &[&str]); 6] = [
        ("cut.json", whole[..whole.len() / 2].to_owned(), &["cut.json:1:", "ends in the middle", "hint: "]),
        ("text.json", "sk-secret-text".to_owned(), &["text.json:1:", "hint: "]),
        ("list.json", "[1]".to_owned(), &["list.json:", "hint: "]),
        (
            "shape.json",
            serde_json::to_string_pretty(&wrong_shape).expect("JSON"),
            &["shape.json:", "simulations[1].messages[0].role is a number, not a text", "hint: "],
        ),
        ("domain.json", other_domain.to_string(), &["\"telecom\"", "airline and retail"]),
        ("empty.json", "{\"tasks\": []}".to_owned(), &["empty.json", "no `simulations`", "hint: "]),
    ];
    for (name, text, expected) in cases {
        std::fs::write(folder.join(name), text).expect("written");
        let (code, message) = refused(folder, &["ingest", "tau2", name, "--run", "x"]);
        assert_eq!(code, 1, "{name}: {message}");
        for word in expected {
            assert!(message.contains(word), "{name}: {word:?} is not in {message}");
        }
        assert!(!message.contains("sk-secret"), "{message}");
    }
    let (_, message) = refused(folder, &["ingest", "tau2", "shape.json", "--run", "x"]);
    let line = message.split("shape.json:").nth(1).and_then(|rest| rest.split(':').next()).expect("a line");
    assert!(line.parse::<u32>().expect("a number") > 100, "{message}");
    assert_eq!(refused(folder, &["ingest", "tau2", "absent.json", "--run", "x"]).0, 3);
    assert_eq!(json(folder, &["runs", "--json"]), json!([]), "nothing is half-stored");
}

/// Three rows of zeros, no error.
#[test]
fn an_empty_run_has_three_rows_of_zeros() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    let mut value = run();
    value["simulations"] = json!([]);
    save(folder, "results.json", &value);
    done(folder, &["ingest", "tau2", "results.json", "--run", "none"]);
    let rows = json(folder, &["gar", "--run", "none", "--json"]);
    let rows = rows.as_array().expect("rows");
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert_eq!([&row["denominator"], &row["gar_hits"], &row["acc_hits"]], [0, 0, 0]);
        assert_eq!([&row["gar_pct"], &row["delta_pp"]], [&Value::Null, &Value::Null]);
    }
}

/// A task file is a fallback and never an override; a difference is said. Without any task nothing has a class.
#[test]
fn a_task_file_stands_in_and_a_mismatch_is_said() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    save(folder, "results.json", &run());
    let mut bare = run();
    bare["tasks"] = json!([]);
    save(folder, "bare.json", &bare);
    let mut other = tasks();
    other[1]["evaluation_criteria"]["actions"] = json!([]);
    save(folder, "tasks.json", &Value::Array(other));
    let told = |arguments: &[&str]| {
        let output = program(folder, arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let said = told(&["ingest", "tau2", "results.json", "--run", "own", "--tasks", "tasks.json"]);
    assert!(said.contains("version mismatch: 1 of 4"), "{said}");
    assert_eq!(json(folder, &["tau2", "audit", "own", "--json"])["paper"]["refuse"]["denominator"], 1);
    let said = told(&["ingest", "tau2", "bare.json", "--run", "bare", "--tasks", "tasks.json"]);
    assert!(
        said.contains("2 of 7 simulations name a task whose reference is not what they were checked against"),
        "{said}"
    );
    assert_eq!(json(folder, &["tau2", "audit", "bare", "--json"])["paper"]["refuse"]["denominator"], 3);
    let said = told(&["ingest", "tau2", "bare.json", "--run", "none"]);
    assert!(said.contains("--tasks"), "{said}");
    assert_eq!(json(folder, &["tau2", "audit", "none", "--json"])["paper"]["tool_call"]["denominator"], 0);
}

/// Stated ids are used as stated; what the checks prove stands beside, with a warning.
#[test]
fn a_contradicted_task_id_is_used_and_said() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    let mut value = run();
    value["simulations"][0]["task_id"] = json!("3");
    value["simulations"][0]["trial"] = json!(2);
    save(folder, "results.json", &value);
    let output = program(folder, &["ingest", "tau2", "results.json", "--run", "own"]);
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.contains("1 of 7 simulations name a task"), "{said}");
    let audit = json(folder, &["tau2", "audit", "own", "--json"]);
    assert_eq!(audit["task_id_check"]["contradicted"], 1);
    assert_eq!(audit["by_content"]["stated_to_content"]["3#2"], "1");
    assert_eq!(audit["masking"]["passes_without_reference_write"], 2);
}

/// The directory layout is read through its results.json, in the order of the files' names.
#[test]
fn the_directory_layout_is_read() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    let mut value = run();
    let list = value.as_object_mut().expect("an object").remove("simulations").expect("simulations");
    std::fs::create_dir(folder.join("simulations")).expect("a folder");
    for (index, simulation) in list.as_array().expect("a list").iter().enumerate() {
        save(&folder.join("simulations"), &format!("{index}.json"), simulation);
    }
    save(folder, "results.json", &value);
    done(folder, &["ingest", "tau2", ".", "--run", "own"]);
    let audit = json(folder, &["tau2", "audit", "own", "--json"]);
    assert_eq!(
        [
            &audit["layout"],
            &audit["simulations"].to_string().into(),
            &audit["literal"]["simulations"].to_string().into()
        ],
        [&json!("directory"), &json!("7"), &json!("0")]
    );
    assert!(done(folder, &["ingest", "tau2", ".", "--run", "own"]).contains("unchanged"));
    value["timestamp"] = json!("changed");
    save(folder, "results.json", &value);
    assert_eq!(refused(folder, &["ingest", "tau2", ".", "--run", "own"]).0, 4);
}
