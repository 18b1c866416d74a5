//! Drawing at the command line: allocation, extension by rounds, nonresponse and replacement, the frame report, the frame
//! exported, and what errors say. Data: the demo's runs, whose cell sizes are counted in the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::Value;

fn dualrater(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dualrater"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("COLUMNS", "100")
        .output()
        .expect("the program starts")
}

fn stdout(folder: &Path, arguments: &[&str]) -> String {
    let done = dualrater(folder, arguments);
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(folder, arguments)).expect("JSON")
}

/// Exit code and what stands on stderr.
fn refusal(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let done = dualrater(folder, arguments);
    assert!(!done.status.success(), "{arguments:?} was taken");
    (done.status.code().expect("an exit code"), String::from_utf8(done.stderr).expect("UTF-8"))
}

/// A folder with the demo's database, copied from one that is made once.
#[must_use]
fn demo() -> tempfile::TempDir {
    static MADE: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("temp dir");
        stdout(folder.path(), &["demo"]);
        stdout(folder.path(), &["backup", "copy.db"]);
        folder
    });
    let folder = tempfile::tempdir().expect("temp dir");
    std::fs::copy(MADE.path().join("copy.db"), folder.path().join("audits.db")).expect("copied");
    folder
}

/// A plan over one run with a stratum of its fails (31 in mixed-baseline: 8 + 8 + 8 + 7) and one of its passes (65).
const TWO: &str = "id = 'two'\ntitle = 'Fails and passes'\n[roles]\nrun = 'the run'\n\
    [[stratum]]\nid = 'K'\ntitle = 'fails'\nquota = 6\nfilter = { run = 'run', verdict = 'FAIL' }\n\
    [[stratum]]\nid = 'L'\ntitle = 'passes'\nquota = 4\nfilter = { run = 'run', verdict = 'PASS' }\n";

const BIND: [&str; 2] = ["--bind", "run=mixed-baseline"];

#[must_use]
fn with_plan() -> tempfile::TempDir {
    let folder = demo();
    std::fs::write(folder.path().join("two.toml"), TWO).expect("written");
    folder
}

fn draw<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["draw", "two.toml", "--seed", "s"][..], &BIND[..], more].concat()
}

fn sizes(draw: &Value) -> Vec<(u64, u64)> {
    let strata = draw["strata"].as_array().expect("strata");
    strata.iter().map(|s| (s["quota"].as_u64().expect("quota"), s["n"].as_u64().expect("n"))).collect()
}

fn cases(list: &Value) -> BTreeSet<String> {
    let name = |case: &Value| case["case"].as_str().or(case["identity"].as_str()).expect("a name").to_owned();
    list.as_array().expect("a list").iter().map(name).collect()
}

fn batch(folder: &Path, name: &str) -> Value {
    json(folder, &["batch", "show", name, "--json"])[0].take()
}

#[test]
fn allocation_from_the_command_line() {
    let folder = with_plan();
    let folder = folder.path();
    let shared = |more: &[&str]| sizes(&json(folder, &draw(&[more, &["--dry-run", "--json"]].concat())));
    assert_eq!(shared(&[]), [(6, 6), (4, 4)], "the plan's own numbers");
    assert_eq!(shared(&["--quota", "K=9"]), [(9, 9), (4, 4)]);
    assert_eq!(shared(&["--allocation", "equal", "--total", "21"]), [(11, 11), (10, 10)]);
    // 31 and 65 of 96: 24 · 31/96 = 7.75 and 16.25; the larger fraction gets the case that is left.
    assert_eq!(shared(&["--allocation", "proportional", "--total", "24"]), [(8, 8), (16, 16)]);
    assert_eq!(shared(&["--allocation", "proportional", "--total", "24", "--minimum", "10"]), [(10, 10), (14, 14)]);
    // Neyman: 31·√(0.5·0.5) = 15.5 and 65·√(0.1·0.9) = 19.5: 30 · 15.5/35 = 13.29 and 16.71.
    let guess = ["--allocation", "neyman", "--total", "30", "--guess", "K=0.5", "--guess", "L=0.1"];
    assert_eq!(shared(&guess), [(13, 13), (17, 17)]);
    // Never below 2: 31·√(0.5·0.5) = 15.5 beside 65·√(1e-9) = 0.002.
    let sure = ["--allocation", "neyman", "--total", "10", "--guess", "K=0.5", "--guess", "L=0.000000001"];
    assert_eq!(shared(&sure), [(8, 8), (2, 2)]);
}

#[test]
fn a_pilots_ratings_say_how_to_share() {
    let folder = with_plan();
    let folder = folder.path();
    // The demo's batch is rated and ruled on; its 17 cases of mixed-baseline are in this plan's strata.
    let rated = ["--allocation", "neyman", "--total", "30", "--pilot", "demo", "--label", "B1b"];
    let shown = stdout(folder, &draw(&[&rated[..], &["--dry-run"]].concat()));
    assert!(shown.contains("allocation  neyman: 30 cases, at least 2 a stratum, by B1b in pilot demo"), "{shown}");
    assert!(shown.contains("cases left out: in no stratum of this plan"), "{shown}");
    let drawn = json(folder, &draw(&[&rated[..], &["--batch", "second", "--json"]].concat()));
    assert_eq!(sizes(&drawn).iter().map(|(_, n)| n).sum::<u64>(), 30);
    // The pilot's cases were seen: none is drawn again, and the chance before the pilot is not known.
    let pilot = cases(&batch(folder, "demo")["cases"]);
    assert!(cases(&drawn["cases"]).is_disjoint(&pilot));
    assert!(drawn["cases"][0]["unconditional_probability"].is_null());
    let noted = &batch(folder, "second")["rounds"][0];
    assert_eq!((&noted["allocation"]["pilot"], &noted["allocation"]["label"]), (&"demo".into(), &"B1b".into()));
    let counts = noted["allocation"]["pilot_counts"].as_object().expect("counts");
    let rated: u64 = counts.values().map(|count| count["rated"].as_u64().expect("rated")).sum();
    assert_eq!(rated, 13, "cases of mixed-baseline in strata C, E and F of the demo: 5 + 4 + 4");

    let unrated = ["--allocation", "neyman", "--total", "30", "--pilot", "demo-pilot", "--label", "B1b", "--dry-run"];
    let (code, text) = refusal(folder, &draw(&unrated));
    assert_eq!(code, 1);
    assert!(
        text.contains("batch demo-pilot says nothing about B1b: 4 in no stratum of this plan, 3 not rated"),
        "{text}"
    );
    let choice = ["--allocation", "neyman", "--total", "30", "--pilot", "demo", "--label", "B7", "--dry-run"];
    assert!(refusal(folder, &draw(&choice)).1.contains("batch demo has no yes-or-no label B7"));
}

#[test]
fn options_that_do_not_fit_are_refused_with_a_remedy() {
    let folder = with_plan();
    let folder = folder.path();
    for (more, code, message, hint) in [
        (&["--total", "20"][..], 2, "--total has no meaning under the allocation fixed", "--allocation proportional"),
        (&["--minimum", "3"], 2, "--minimum has no meaning under the allocation fixed", "--allocation proportional"),
        (
            &["--allocation", "equal", "--total", "20", "--quota", "K=3"],
            2,
            "--quota has no meaning under the allocation equal",
            "--total shares",
        ),
        (&["--guess", "K=0.2"], 2, "--guess has no meaning under the allocation fixed", "only --allocation neyman"),
        (&["--allocation", "equal"], 2, "the allocation equal needs a total to share", "--total N"),
        (&["--quota", "K"], 2, "--quota K: expected STRATUM=VALUE", "--quota A=40"),
        (&["--quota", "K=many"], 2, "--quota K=many: expected STRATUM=VALUE", "--quota A=40"),
        (&["--quota", "K=3", "--quota", "K=4"], 2, "--quota names stratum K twice", ""),
        (&["--quota", "X=3"], 2, "the plan has no stratum X", "its strata: K, L"),
        (
            &["--allocation", "neyman", "--total", "20", "--guess", "K=1"],
            2,
            "the guess of stratum K must lie strictly between 0 and 1, got 1",
            "for example 0.1",
        ),
        (
            &["--allocation", "proportional", "--total", "20", "--minimum", "15"],
            1,
            "the strata's minimums need 30 cases, the total is 20",
            "lower `minimum`",
        ),
        (&["--adversarial"], 2, "an adversarial setting needs --frame DIGEST", "dualrater frame PLAN"),
        (&["--frame", "abc"], 4, "the frame is not the one that was named", "changed since the digest was published"),
    ] {
        let (found, text) = refusal(folder, &draw(&[more, &["--dry-run"]].concat()));
        assert_eq!(found, code, "{more:?}: {text}");
        assert!(text.contains(message) && text.contains(hint), "{more:?}: {text}");
    }
}

#[test]
fn errors_of_a_plan_name_file_line_and_remedy() {
    let folder = with_plan();
    let folder = folder.path();
    for (from, to, place, message, hint) in [
        ("quota = 6", "quota = 0", "two.toml:8:9", "`quota` must be at least 1", "give a positive number"),
        ("quota = 6", "quotta = 6", "two.toml:8:1", "unknown field `quotta`", "unknown keys are refused"),
        ("quota = 6\n", "", "two.toml:6:6", "`K` has no quota", "allocation = \"proportional\""),
        ("'FAIL'", "'FAILED'", "two.toml:9:35", "`FAILED` is not a verdict", "use one of: PASS, FAIL, UNSCORED"),
        ("run = 'run', verdict = 'FAIL'", "run = 'other'", "two.toml:9:18", "role `other` is not declared", "[roles]"),
        ("id = 'L'", "id = 'K'", "two.toml:11:6", "stratum `K` is there twice", "an id of its own"),
        (
            "title = 'Fails and passes'",
            "title = 'x'\ntotal = 9",
            "two.toml:3:9",
            "`total` has no meaning",
            "allocation",
        ),
        (
            "title = 'Fails and passes'",
            "title = 'x'\nallocation = 'neyman'",
            "two.toml:3:14",
            "allocation = \"neyman\" needs a `total`",
            "add `total`",
        ),
    ] {
        assert!(TWO.contains(from), "{from}");
        std::fs::write(folder.join("two.toml"), TWO.replacen(from, to, 1)).expect("written");
        let (code, text) = refusal(folder, &draw(&["--dry-run"]));
        assert_eq!(code, 1, "{text}");
        assert!(text.contains(place) && text.contains(message) && text.contains(hint), "{to:?}: {text}");
    }
}

#[test]
fn a_dry_run_prints_the_plan_and_the_numbers_and_stores_nothing() {
    let folder = with_plan();
    let folder = folder.path();
    let shown = stdout(folder, &draw(&["--dry-run"]));
    for line in [
        "plan        two: Fails and passes",
        "allocation  fixed: the plan's quotas",
        "bound       run = mixed-baseline",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    assert!(shown.contains("dry run: 10 cases would be drawn; nothing was stored"), "{shown}");
    assert!(!stdout(folder, &["batches"]).contains("unnamed"));
}

#[test]
fn an_extension_is_a_round_that_keeps_every_case() {
    let folder = with_plan();
    let folder = folder.path();
    let first = json(folder, &draw(&["--batch", "grow", "--json"]));
    let grown = json(folder, &["draw", "--extend", "grow", "--quota", "K=9", "--json"]);
    assert_eq!(sizes(&grown), [(9, 9), (4, 4)]);
    assert!(cases(&first["cases"]).is_subset(&cases(&grown["cases"])));
    assert_eq!((grown["added"].as_array().map(Vec::len), &grown["round"]["round"]), (Some(3), &2.into()));
    // It is the draw with the larger number.
    let at_once = json(folder, &draw(&["--quota", "K=9", "--dry-run", "--json"]));
    assert_eq!(grown["cases"], at_once["cases"]);

    // All cases of the batch have the probabilities of the larger draw: 9 of 31 and 4 of 65.
    let stored = batch(folder, "grow");
    assert_eq!(stored["cases"].as_array().map(Vec::len), Some(13));
    for case in stored["cases"].as_array().expect("cases") {
        let expected = if case["stratum"] == "K" { 9.0 / 31.0 } else { 4.0 / 65.0 };
        for key in ["probability", "unconditional"] {
            assert!((case[key].as_f64().expect("known") - expected).abs() < 1e-15, "{case}");
        }
    }
    let strata: Vec<_> =
        stored["strata"].as_array().expect("strata").iter().map(|s| (&s["quota"], &s["drawn"])).collect();
    assert_eq!(strata, [(&9.into(), &9.into()), (&4.into(), &4.into())]);
    // The first round's numbers are still there.
    assert_eq!(stored["rounds"][0]["strata"][0]["drawn"], 6);
    assert_eq!(stored["rounds"][0]["ratings_known"], 0);

    // A total: 20 in proportion to 31 and 65 would be 6 and 14; K has 9 already, so 9 and 11.
    let shared = json(folder, &["draw", "--extend", "grow", "--allocation", "proportional", "--total", "20", "--json"]);
    assert_eq!(sizes(&shared), [(9, 9), (11, 11)]);
    let shown = stdout(folder, &["batch", "show", "grow"]);
    assert!(shown.contains("extension") && shown.contains("ratings known"), "{shown}");

    for (arguments, code, message, hint) in [
        (&["--quota", "K=3"][..], 4, "stratum K has 9 cases already; a quota of 3 would drop some", "larger number"),
        (&["--total", "9"], 4, "20 cases are drawn already; a total of 9 would drop some", "larger number"),
        (&["--quota", "K=9"], 4, "every stratum has the number that is asked for", "batch show grow"),
        (&[], 2, "an extension needs to know how far", "--quota STRATUM=N"),
        (
            &["--pilot", "grow", "--label", "B1b", "--allocation", "neyman", "--total", "40"],
            2,
            "own ratings",
            "--exclude",
        ),
    ] {
        let (found, text) = refusal(folder, &[&["draw", "--extend", "grow"][..], arguments].concat());
        assert_eq!(found, code, "{arguments:?}: {text}");
        assert!(text.contains(message) && text.contains(hint), "{arguments:?}: {text}");
    }
    let (code, text) = refusal(folder, &["draw", "--extend", "demo-pilot", "--quota", "A=3"]);
    assert_eq!(code, 4);
    assert!(text.contains("batch demo was drawn with demo-pilot excluded"), "{text}");
}

#[test]
fn an_adversarial_setting_needs_a_new_seed_for_every_round() {
    let folder = with_plan();
    let folder = folder.path();
    let frame = json(folder, &[&["frame", "two.toml", "--json"][..], &BIND[..]].concat());
    let digest = frame["frame_digest"].as_str().expect("a digest").to_owned();
    let first = json(folder, &draw(&["--batch", "a", "--adversarial", "--frame", &digest, "--json"]));
    for seed in [&[][..], &["--seed", "s"]] {
        let (code, text) = refusal(folder, &[&["draw", "--extend", "a", "--quota", "K=8"][..], seed].concat());
        assert_eq!(code, 2);
        assert!(text.contains("whoever knows a seed knows the next tickets"), "{text}");
        assert!(text.contains("used so far: s)"), "{text}");
    }
    let grown = json(folder, &["draw", "--extend", "a", "--quota", "K=8", "--seed", "dice-614", "--json"]);
    assert_eq!(sizes(&grown), [(8, 8), (4, 4)]);
    assert!(cases(&first["cases"]).is_subset(&cases(&grown["cases"])));
    // The new cases have tickets of the new seed, and the probability is 8 of 31 for all.
    let of_f: Vec<&Value> = grown["cases"].as_array().expect("cases").iter().filter(|c| c["stratum"] == "K").collect();
    assert!(of_f.iter().all(|c| (c["inclusion_probability"].as_f64().expect("p") - 8.0 / 31.0).abs() < 1e-15));
    let added = cases(&grown["added"]);
    for case in of_f.iter().filter(|c| added.contains(c["case"].as_str().expect("name"))) {
        let hashed = format!("dice-614:{}", case["case"].as_str().expect("name"));
        assert_eq!(case["ticket"], dualrater::digest::sha256_hex(hashed.as_bytes()));
    }
    assert!(stdout(folder, &["batch", "show", "a"]).contains("adversarial setting"));
}

/// Fills a rater's sheet: the answer to every label that applies is given, where it is blank.
fn fill(folder: &Path, name: &str) {
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path).expect("readable");
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).expect("memory");
    for row in reader.records() {
        let row = row.expect("a row");
        let filled = header.iter().zip(&row).map(|(column, cell)| match column {
            "B1a" | "B1b" if cell.is_empty() => "1",
            "B3" | "B4" | "B5" if cell.is_empty() => "0",
            "B6" if cell.is_empty() => "n.a.",
            _ if column.ends_with("_rationale") && cell.is_empty() => "seen",
            _ => cell,
        });
        writer.write_record(filled).expect("memory");
    }
    std::fs::write(path, writer.into_inner().expect("memory")).expect("written");
}

fn column(folder: &Path, name: &str, wanted: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder.join(name)).expect("readable");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let place = |name: &str| header.iter().position(|column| column == name).expect("the column");
    let (case, value) = (place("case"), place(wanted));
    reader.records().map(|row| row.expect("a row")).map(|row| (row[case].to_owned(), row[value].to_owned())).collect()
}

#[test]
fn nonresponse_stays_in_the_denominators_and_a_replacement_is_marked() {
    let folder = with_plan();
    let folder = folder.path();
    stdout(folder, &draw(&["--batch", "n"]));
    let drawn = batch(folder, "n");
    let of = |stratum: &str| -> Vec<String> {
        let list = drawn["cases"].as_array().expect("cases").iter().filter(|case| case["stratum"] == stratum);
        list.map(|case| case["identity"].as_str().expect("a name").to_owned()).collect()
    };
    let (lost, second) = (of("K")[0].clone(), of("L")[0].clone());
    let (code, text) = refusal(folder, &["batch", "replace", &lost, "--batch", "n"]);
    assert_eq!(code, 4);
    assert!(text.contains("was not declared unusable"), "{text}");
    stdout(folder, &["batch", "unusable", &lost, "--batch", "n", "--reason", "the log is cut off"]);
    let shown = stdout(folder, &["batch", "replace", "--batch", "n"]);
    // The next ticket: the seventh of K.
    let seventh = json(folder, &draw(&["--quota", "K=7", "--dry-run", "--json"]))["cases"][6]["case"].clone();
    let seventh = seventh.as_str().expect("a name");
    assert!(shown.contains(&format!("{seventh} replaces {lost}")), "{shown}");
    assert!(shown.contains("round 2 of batch n (replacement): 1 case added, 11 in all"), "{shown}");
    let now = batch(folder, "n");
    assert_eq!(
        (&now["unusable"][0]["case"], &now["unusable"][0]["replaced_by"]),
        (&lost.clone().into(), &seventh.into())
    );
    let stratum = &now["rounds"][1]["strata"][0];
    assert_eq!((&stratum["quota"], &stratum["replacements"], &stratum["drawn"]), (&6.into(), &1.into(), &7.into()));
    assert!((stratum["probability"].as_f64().expect("p") - 7.0 / 31.0).abs() < 1e-15);

    // Raters see ten cases: not the unusable one. Their answers come along when the batch grows.
    for rater in ["anna", "ben"] {
        let sheet = format!("{rater}.csv");
        stdout(folder, &["export", "--batch", "n", "--rater", rater, "--out", &sheet]);
        assert_eq!(column(folder, &sheet, "B1b").len(), 10);
        fill(folder, &sheet);
        stdout(folder, &["import", &sheet]);
    }
    let (code, text) = refusal(folder, &["batch", "unusable", &second, "--batch", "n", "--reason", "late"]);
    assert_eq!(code, 4);
    assert!(text.contains(&format!("{second} was rated by anna, ben; nonresponse is decided before")), "{text}");

    stdout(folder, &["draw", "--extend", "n", "--quota", "L=6"]);
    assert_eq!(batch(folder, "n")["rounds"][2]["ratings_known"], 10 * 2 * 7, "ten cases, two raters, seven labels");
    stdout(folder, &["export", "--batch", "n", "--rater", "anna", "--out", "again.csv"]);
    let answers = column(folder, "again.csv", "B1b");
    assert_eq!(answers.len(), 12);
    assert_eq!(answers.values().filter(|value| *value == "1").count(), 10);
    assert_eq!(answers.values().filter(|value| value.is_empty()).count(), 2);

    // An old sheet that answers the unusable case is refused, with the reason.
    let text = std::fs::read_to_string(folder.join("anna.csv")).expect("readable");
    let forged = text.replacen(&of("K")[1], &lost, 1);
    std::fs::write(folder.join("forged.csv"), forged).expect("written");
    let (_, text) = refusal(folder, &["import", "forged.csv"]);
    assert!(text.contains("the case was declared unusable: the log is cut off"), "{text}");

    // Both raters say 1 throughout: agreement 10 of 10; the unusable case alone makes 10/11 to 11/11. The rate of B1b is 10
    // of 10, at least 10 of 11.
    let rows = json(folder, &["agree", "--batch", "n", "--json"]);
    let row = rows.as_array().expect("rows").iter().find(|row| row["label"] == "B1b").expect("B1b");
    assert_eq!(row["nonresponse"]["unusable"], 1);
    let po: Vec<f64> = serde_json::from_value(row["nonresponse"]["po"].clone()).expect("two numbers");
    assert!((po[0] - 10.0 / 11.0).abs() < 1e-15 && (po[1] - 1.0).abs() < 1e-15, "{po:?}");
    let shown = stdout(folder, &["agree", "--batch", "n"]);
    assert!(shown.contains("1 case was declared unusable before anybody rated it"), "{shown}");

    let report = json(folder, &["report", "--batch", "n", "--json"]);
    let bounds = |label: &str| {
        let labels = report["nonresponse"]["labels"].as_array().expect("labels");
        let found = labels.iter().find(|row| row["label"] == label).expect("the label");
        serde_json::from_value::<Vec<f64>>(found["rate"]["bounds"].clone()).expect("two numbers")
    };
    let (low, high) = (bounds("B1b")[0], bounds("B1b")[1]);
    assert!((low - 10.0 / 11.0).abs() < 1e-15 && (high - 1.0).abs() < 1e-15, "{low} {high}");
    let codes: Vec<&str> =
        report["warnings"].as_array().expect("warnings").iter().filter_map(|w| w["code"].as_str()).collect();
    assert!(codes.contains(&"nonresponse") && codes.contains(&"enlarged_after_ratings"), "{codes:?}");
    let page = std::fs::read_to_string(folder.join("report/index.html")).expect("a page");
    for text in ["the log is cut off", "Rounds of the batch", "round 3 added 2 cases when 140 ratings were known"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn the_frame_report_says_what_no_stratum_reaches() {
    let folder = demo();
    let folder = folder.path();
    let view = json(folder, &["frame", "--batch", "demo", "--json"]);
    // The demo's plan asks for fails of `masked` only: its 19 + 19 + 13 + 16 passes are out of reach.
    let finding = view["frame"]["findings"].as_array().expect("findings").iter().find(|f| f["code"] == "unreached");
    assert_eq!(
        finding.expect("one")["text"],
        "No stratum reaches a passing case of masked-baseline (masked): 67 cases (base 19, long_context 19, miss_func 13, \
         miss_param 16). The audit cannot say anything about masking there (a pass without the gold action)."
    );
    // Every count closes, and n adds up to the batch.
    let cells = view["frame"]["cells"].as_array().expect("cells");
    let sum = |key: &str| cells.iter().map(|cell| cell[key].as_u64().expect("a count")).sum::<u64>();
    assert_eq!(view["frame"]["cases"], sum("drawable") + sum("undrawable"));
    assert_eq!(view["frame"]["unreached"], sum("drawable") - sum("owned"));
    let drawn: Vec<u64> = serde_json::from_value(view["cells_drawn"].clone()).expect("counts");
    assert_eq!(drawn.iter().sum::<u64>(), 31);
    // The report prints the same sentence, and the CSV has the same cells.
    let text = stdout(folder, &["frame", "--batch", "demo", "--csv", "cells"]);
    let rows: Vec<csv::StringRecord> =
        csv::Reader::from_reader(text.as_bytes()).records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), cells.len());
    let report = json(folder, &["report", "--batch", "demo", "--json"]);
    let warnings = report["warnings"].as_array().expect("warnings");
    assert!(warnings.iter().any(|w| w["text"].as_str().is_some_and(|text| text.contains("about masking there"))));
}

#[test]
fn duplicates_are_listed_with_file_and_line() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    std::fs::create_dir(folder.join("results")).expect("made");
    let line = |id: &str| format!("{{\"id\": \"multi_turn_base_{id}\", \"result\": [[\"ok\"]]}}\n");
    let text = line("1") + &line("2") + &line("1") + "{\"result\": [[\"ok\"]]}\n";
    std::fs::write(folder.join("results/BFCL_v3_multi_turn_base_result.json"), text).expect("written");
    stdout(folder, &["ingest", "bfcl", "--run", "dirty", "--model", "m", "--results", "results"]);
    std::fs::write(folder.join("two.toml"), TWO.replace("verdict = 'FAIL'", "category = 'base'")).expect("written");
    let arguments = ["frame", "two.toml", "--bind", "run=dirty"];
    let view = json(folder, &[&arguments[..], &["--json"]].concat());
    let found: Vec<_> = view["duplicates"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|d| (d["defect"].as_str().expect("text"), d["line"].as_u64().expect("a number")))
        .collect();
    assert_eq!(found, [("duplicate_id", 3), ("missing_id", 4)]);
    assert_eq!((&view["frame"]["undrawable"], &view["frame"]["cases"]), (&2.into(), &4.into()));
    let shown = stdout(folder, &arguments);
    assert!(shown.contains("2 cases can never be drawn: later copies of a duplicate id"), "{shown}");
    assert!(shown.contains("(line 3 of "), "{shown}");
}

#[test]
fn a_statement_for_a_frame_elsewhere_takes_its_sizes_from_a_file() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    std::fs::write(folder.join("two.toml"), TWO).expect("written");
    std::fs::write(folder.join("counts.csv"), "stratum,N\nK,3000000\nL,9000000\n").expect("written");
    let common = ["draw", "two.toml", "--seed", "s", "--sql", "spark", "--parquet", "s3://b/frame", "--counts"];
    let sql = stdout(folder, &[&common[..], &["counts.csv", "--allocation", "proportional", "--total", "40"]].concat());
    assert!(sql.contains("('K', 10)") && sql.contains("('L', 30)") && sql.contains("parquet.`s3://b/frame`"), "{sql}");
    for (text, message) in [
        ("stratum,N\nK,3\n", "counts.csv: no N for stratum L"),
        ("stratum,N\nK,3\nZ,4\n", "counts.csv:3: the plan has no stratum \"Z\""),
        ("stratum,N\nK,x\n", "counts.csv:2: N is not a whole number"),
        ("stratum,N\nK,1\nK,1\n", "counts.csv:3: stratum K is there twice"),
        ("stratum,count\nK,1\n", "counts.csv:1: the columns stratum and N are missing"),
    ] {
        std::fs::write(folder.join("counts.csv"), text).expect("written");
        let (code, shown) = refusal(folder, &[&common[..], &["counts.csv"]].concat());
        assert_eq!(code, 1);
        assert!(shown.contains(message), "{shown}");
    }
}
