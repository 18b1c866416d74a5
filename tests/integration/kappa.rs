//! `dualrater kappa --json`: the very value that is printed, against numbers computed elsewhere; files as they come.

use std::path::Path;

use dualrater::agree::Table;
use dualrater::agree::bootstrap::Plan;
use dualrater::agree::pairs::NaPolicy;
use dualrater::agree::ratings::Source;
use dualrater::agree::summary::{Settings, WeightChoice, summarise};
use dualrater::estimate::summary;
use dualrater::ingest::{Layout, RatingsFormat, read_ratings};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::reference_values::{check, compare, rows};

const NO_BOOTSTRAP: Plan = Plan { seed: 1, replicates: 0 };

fn settings() -> Settings {
    Settings { bootstrap: NO_BOOTSTRAP, ..Settings::default() }
}

fn printed(source: &Source, settings: &Settings) -> Value {
    let found = serde_json::to_string(&summarise(source, settings).expect("a summary")).expect("serialises");
    serde_json::from_str(&found).expect("JSON")
}

fn read(text: &str, format: &RatingsFormat) -> Source {
    let mut sources = read_ratings(text.as_bytes(), Path::new("ratings.csv"), format).expect("readable");
    assert_eq!(sources.len(), 1, "one label");
    sources.remove(0)
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The units of a row as a wide file.
fn wide(units: &Value) -> String {
    let units = units.as_array().expect("units");
    let raters = units[0].as_array().expect("ratings").len();
    let mut lines =
        vec![(0..raters).map(|at| format!("r{at}")).fold("item".to_owned(), |line, name| line + "," + &name)];
    for (at, unit) in units.iter().enumerate() {
        let cells = unit.as_array().expect("ratings").iter().map(text_of);
        lines.push(cells.fold(format!("u{at}"), |line, cell| line + "," + &cell));
    }
    lines.join("\n")
}

/// Two lists of labels as a wide file.
fn two_lists(first: &Value, second: &Value) -> String {
    let (first, second) = (first.as_array().expect("labels"), second.as_array().expect("labels"));
    let lines = first.iter().zip(second).map(|(a, b)| format!("{},{}", text_of(a), text_of(b)));
    std::iter::once("a,b".to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}

fn order(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn reference_values_of_tables() {
    for row in rows("k").iter().filter(|row| row["input"]["type"] == "confusion_matrix") {
        let input = &row["input"];
        let counts: Vec<Vec<u64>> = serde_json::from_value(input["table"].clone()).expect("counts");
        let matrix = |key: &str| WeightChoice::Matrix(serde_json::from_value(input[key].clone()).expect("numbers"));
        let weights = match row["id"].as_str().expect("an id") {
            "k04" => Some(matrix("agreement_weights")),
            "k05b" => Some(matrix("disagreement_weights")),
            id if id.ends_with("-wlinear") => Some(WeightChoice::Linear),
            id if id.ends_with("-wquadratic") => Some(WeightChoice::Quadratic),
            _ => None,
        };
        let source = Source::Table(Table::numbered(&counts).expect("square"));
        check(row, &printed(&source, &Settings { weights, ..settings() }));
    }
}

#[test]
fn reference_values_of_label_files() {
    for row in rows("k").iter().filter(|row| row["input"]["type"] == "labels") {
        let input = &row["input"];
        let kappa = |text: &str, order: Option<Vec<String>>, weights: Option<WeightChoice>| {
            let source = read(text, &RatingsFormat::default());
            printed(&source, &Settings { order, weights, ..settings() })["kappa"].clone()
        };
        let found = match row["id"].as_str() {
            Some("k31") => kappa(&two_lists(&input["rater1"], &input["rater2"]), None, None),
            Some("k32") => {
                let text = two_lists(&input["rater1"], &input["rater2"]);
                let of = |names: &[&str]| kappa(&text, Some(order(names)), Some(WeightChoice::Quadratic));
                json!({
                    "codebook_order": of(&["low", "mid", "high"]),
                    "alphabetical_order_wrong": of(&["high", "low", "mid"]),
                })
            }
            Some("k33") => {
                let text = two_lists(&input["rater2"], &input["rater3"]);
                let three = |order: &Option<Vec<String>>| {
                    json!({
                        "unweighted": kappa(&text, order.clone(), None),
                        "linear": kappa(&text, order.clone(), Some(WeightChoice::Linear)),
                        "quadratic": kappa(&text, order.clone(), Some(WeightChoice::Quadratic)),
                    })
                };
                json!({
                    "levels_used_only": three(&None),
                    "full_scale_1_to_6": three(&Some(order(&["1", "2", "3", "4", "5", "6"]))),
                })
            }
            other => unreachable!("no reader for {other:?}"),
        };
        check(row, &found);
    }
}

#[test]
fn reference_values_of_many_raters() {
    for row in rows("m") {
        let input = &row["input"];
        let found = if input["type"] == "counts" {
            let units = &input["items_x_categories"];
            let format = RatingsFormat { layout: Some(Layout::Counts), ..RatingsFormat::default() };
            let found = printed(&read(&wide(units), &format), &settings());
            assert_eq!(found["light"]["reason"], "raters_not_told_apart");
            json!({
                "po": found["fleiss"]["pa"], "pe": found["fleiss"]["pe"], "kappa": found["fleiss"]["coef"],
                "randolph": found["randolph"]["coef"],
            })
        } else {
            let found = printed(&read(&wide(&input["items_x_raters"]), &RatingsFormat::default()), &settings());
            json!({
                "fleiss": found["fleiss"]["coef"], "conger_exact": found["conger"]["coef"],
                "light": found["light"]["coef"], "randolph": found["randolph"]["coef"],
            })
        };
        check(&row, &found);
    }
    for row in rows("g") {
        let source = read(&wide(&row["input"]["items_x_raters"]), &RatingsFormat::default());
        let with = |weights: Option<WeightChoice>| printed(&source, &Settings { weights, ..settings() });
        let found = json!({
            "unweighted": with(None),
            "linear": with(Some(WeightChoice::Linear)),
            "quadratic": with(Some(WeightChoice::Quadratic)),
            "ordinal": with(Some(WeightChoice::Ordinal)),
        });
        check(&row, &found);
    }
}

#[test]
fn reference_values_of_alpha() {
    for row in rows("a") {
        let found = printed(&read(&wide(&row["input"]["items_x_raters"]), &RatingsFormat::default()), &settings());
        let alpha = |metric: &str| found["krippendorff_alpha"][metric]["alpha"].clone();
        let value = if row["expected"].is_number() {
            let ordinal = row["statistic"].as_str().is_some_and(|text| text.contains("ordinal"));
            alpha(if ordinal { "ordinal" } else { "nominal" })
        } else {
            json!({
                "nominal": found["krippendorff_alpha_nominal"], "ordinal": alpha("ordinal"),
                "interval": alpha("interval"), "ratio": alpha("ratio"),
            })
        };
        check(&row, &value);
    }
}

#[test]
fn reference_values_of_degenerate_input() {
    for row in rows("z") {
        let input = &row["input"];
        match row["id"].as_str() {
            Some("z01") => {
                let source = read(&two_lists(&input["rater1"], &input["rater2"]), &RatingsFormat::default());
                let found = printed(&source, &Settings::default());
                for key in ["kappa", "se", "ci95", "scott_pi", "krippendorff_alpha_nominal"] {
                    assert!(found[key].is_null(), "{key}");
                    assert_eq!(found["reasons"][key], "one_category", "{key}");
                }
                assert_eq!((&found["reason"], &found["po"]), (&json!("one_category"), &json!(1.0)));
                assert_eq!(found["ci95_bootstrap"]["reason"], "one_category");
            }
            Some("z03") => {
                let counts: Vec<Vec<u64>> = serde_json::from_value(input["table"].clone()).expect("counts");
                let source = Source::Table(Table::numbered(&counts).expect("square"));
                let found = printed(&source, &Settings::default());
                check(&row, &found);
                assert!(found["ci95"].is_null() && found["ci95_bootstrap"]["low"].is_null());
                assert_eq!(
                    (&found["reason"], &found["ci95_bootstrap"]["reason"]),
                    (&json!("degenerate"), &json!("degenerate"))
                );
                compare(&found["po_ci95"], &json!([0.722_467_200_137_111, 1.0]), 1e-12, "z03 Wilson of 10/10");
                assert_eq!(found["findings"][0]["kind"], "perfect_agreement");
            }
            Some("z04") => {
                let text = wide(&input["items_x_raters"]).replace(",,", ",None,");
                let text = if text.lines().nth(1).is_some_and(|line| line.ends_with(',')) {
                    text.replacen("u0,1,1,", "u0,1,1,None", 1)
                } else {
                    text
                };
                assert_eq!(text.matches("None").count(), 2, "{text}");
                let as_category = printed(&read(&text, &RatingsFormat::default()), &settings());
                let missing = RatingsFormat { missing: vec!["None".to_owned()], ..RatingsFormat::default() };
                let dropped = printed(&read(&text, &missing), &settings());
                check(
                    &row,
                    &json!({
                        "correct": dropped["krippendorff_alpha_nominal"],
                        "none_as_category": as_category["krippendorff_alpha_nominal"],
                    }),
                );
                // The trap is named where it opens.
                let named = |found: &Value| {
                    found["findings"].as_array().expect("a list").iter().any(|f| f["kind"] == "none_is_a_category")
                };
                assert!(named(&as_category) && !named(&dropped));
                assert_eq!(dropped["reading"]["missing"]["None"], 2);
            }
            other => unreachable!("no reader for {other:?}"),
        }
    }
}

/// Feinstein & Cicchetti 1990: the same agreement of .85 with balanced (k12) and with skewed margins (k13); only the latter is
/// a paradox. The findings are those of `diagnose`, with an interval that holds their effect.
#[test]
fn the_paradox_is_named_where_it_is_one() {
    for (cells, paradox) in [([[40, 9], [6, 45]], false), ([[80, 10], [5, 5]], true)] {
        let source = Source::Table(Table::numbered(&cells.map(Vec::from)).expect("square"));
        let found = printed(&source, &settings());
        let kinds: Vec<&Value> = found["findings"].as_array().expect("a list").iter().map(|f| &f["kind"]).collect();
        assert_eq!(kinds.contains(&&json!("kappa_paradox")), paradox, "{kinds:?}");
        for finding in found["findings"].as_array().expect("a list") {
            let number = |value: &Value| value.as_f64().expect("a number");
            let (effect, limits) = (number(&finding["effect"]), &finding["interval"]);
            assert!(number(&limits[0]) <= effect && effect <= number(&limits[1]), "{finding}");
        }
    }
}

#[test]
fn reference_values_of_rates() {
    for row in rows("b").iter().filter(|row| row["input"]["type"] == "binomial") {
        let of = |key: &str| row["input"][key].as_u64().expect("a count");
        check(row, &serde_json::to_value(summary::rate(of("x"), of("n"), 0.95).expect("counts")).expect("JSON"));
    }
    for row in rows("d") {
        let of = |key: &str| row["input"][key].as_u64().expect("a count");
        let found = summary::difference((of("x1"), of("n1")), (of("x2"), of("n2")), 0.95).expect("counts");
        let mut found = serde_json::to_value(found).expect("JSON");
        let score = row["name"].as_str().is_some_and(|name| name.starts_with("Miettinen"));
        found["ci95"] = found[if score { "miettinen_nurminen" } else { "newcombe" }].clone();
        check(&row, &found);
    }
}

/// The same ratings as a spreadsheet and a database export write them give the same numbers.
#[test]
fn wide_and_long_and_dirty_files_are_the_same_ratings() {
    let plain = "item,a,b\n1,x,x\n2,x,y\n3,y,y\n4,\"two\nlines\",\"two\nlines\"\n5,,x\n6,x,NA\n";
    let sheet = "\u{feff}sep=;\r\nItem;a;b\r\n1; x ;x\r\n2;x;y\r\n3;y;y\r\n4;\"two\nlines\";\"two\nlines\"\r\n5;null;x\r\n6;x\r\n\r\n";
    let tabs = "case_id\ta\tb\n1\tx\tx\n2\tx\ty\n3\ty\ty\n4\t\"two\nlines\"\t\"two\nlines\"\n5\tNaN\tx\n6\tx\tn/a";
    let long = "rater,item,value\nb,1,x\na,1,x\na,2,x\nb,2,y\na,3,y\nb,3,y\nb,4,\"two\nlines\"\na,4,\"two\nlines\"\nb,5,x\na,6,x\na,6,x\n";
    let utf16: Vec<u8> = format!("\u{feff}{plain}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let format = RatingsFormat { raters: vec!["a".to_owned(), "b".to_owned()], ..RatingsFormat::default() };
    let mut numbers = Vec::new();
    for bytes in [plain.as_bytes(), sheet.as_bytes(), tabs.as_bytes(), long.as_bytes(), &utf16] {
        let found = read_ratings(bytes, Path::new("f"), &format).expect("readable");
        let found = printed(&found[0], &settings());
        // Four pairs, three of them equal: counted by hand.
        assert_eq!((&found["n"], &found["agree"], &found["items"]), (&json!(4), &json!(3), &json!(6)));
        assert_eq!(found["dropped"], json!({"missing": 2, "cannot_judge": 0, "one_sided_na": 0, "both_na": 0}));
        assert_eq!(found["raters"], json!(["a", "b"]));
        numbers.push((found["kappa"].clone(), found["table"].clone(), found["reading"].clone()));
    }
    assert!(numbers.iter().all(|(kappa, table, _)| (kappa, table) == (&numbers[0].0, &numbers[0].1)));
    assert_eq!(numbers[1].2["missing"], json!({"": 1, "null": 1}));
    assert_eq!((&numbers[1].2["trimmed"], &numbers[3].2["repeated"]), (&json!(1), &json!(1)));
    assert_eq!(numbers[3].2["layout"], "long");
}

#[test]
fn labels_raters_and_families_are_told_apart() {
    let text = "item,rater,label,value,scene\n1,a,B1,0,s\n1,b,B1,0,s\n2,a,B1,1,s\n2,b,B1,1,s\n3,a,B1,0,t\n3,b,B1,1,t\n\
                1,a,B2,n.a.,s\n1,b,B2,9,s\n2,a,B2,10,s\n2,b,B2,9,s\n3,a,B2,cannot_judge,t\n3,b,B2,9,t\n";
    let format = RatingsFormat { family: Some("scene".to_owned()), ..RatingsFormat::default() };
    let sources = read_ratings(text.as_bytes(), Path::new("f"), &format).expect("readable");
    let found: Vec<Value> = sources.iter().map(|source| printed(source, &Settings::default())).collect();
    assert_eq!((&found[0]["label"], &found[1]["label"]), (&json!("B1"), &json!("B2")));
    assert_eq!(
        (&found[0]["ci95_family"]["families"], &found[0]["ci95_family"]["cases_sharing"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(found[1]["dropped"], json!({"missing": 0, "cannot_judge": 1, "one_sided_na": 1, "both_na": 0}));
    // Numbers in their order, not as texts.
    assert_eq!((&found[1]["categories"], &found[1]["category_order"]), (&json!(["9", "10"]), &json!("numeric")));
    let category = Settings { na: NaPolicy::Category, ..Settings::default() };
    assert_eq!(printed(&sources[1], &category)["n"], 2);
}

/// Errors name the line and do not guess.
#[test]
fn files_that_cannot_be_used_are_refused() {
    let line = |text: &str| {
        let error = read_ratings(text.as_bytes(), Path::new("f"), &RatingsFormat::default()).expect_err("refused");
        error.place().and_then(|place| place.line)
    };
    assert_eq!(line("item,rater,value\n1,a,x\n1,b,x\n1,a,y\n"), Some(4));
    assert_eq!(line("item,a,b\n1,x,y\n2,\"x,y\n3,x,x\n"), Some(3));
    assert_eq!(line("item,a,b\n1,x,y\n2,x,y,z\n"), Some(3));
    assert_eq!(line("item,a,a\n1,x,y\n"), Some(1));
    for text in ["", "item,a\n1,x\n", "\u{feff}\n\n"] {
        assert!(read_ratings(text.as_bytes(), Path::new("f"), &RatingsFormat::default()).is_err(), "{text:?}");
    }
    let outside = Settings { order: Some(order(&["x"])), ..settings() };
    assert!(summarise(&read("a,b\nx,y\n", &RatingsFormat::default()), &outside).is_err());
    let weights = Settings { weights: Some(WeightChoice::Matrix(vec![vec![1.0]])), ..settings() };
    assert!(summarise(&read("a,b\nx,y\n", &RatingsFormat::default()), &weights).is_err());
}

/// What is null says why; what is a number is finite (JSON has no other).
fn every_null_has_a_reason(found: &Value) {
    for key in [
        "po",
        "pe",
        "kappa",
        "se",
        "ci95",
        "se_h0",
        "kappa_max",
        "scott_pi",
        "bennett_s_pabak",
        "gwet_ac1",
        "krippendorff_alpha_nominal",
        "prevalence_index",
        "bias_index",
        "positive_agreement",
        "negative_agreement",
    ] {
        if found.get(key).is_some_and(Value::is_null) {
            let crowd = found.get("reasons").is_none();
            let reason = if crowd { &found["krippendorff_alpha"]["nominal"]["reason"] } else { &found["reasons"][key] };
            assert!(reason.is_string() && reason != "not_available", "{key} is null without a reason: {found}");
        }
    }
    for key in ["fleiss", "conger", "light", "randolph", "gwet", "krippendorff", "brennan_prediger", "percent"] {
        if let Some(row) = found.get(key) {
            let complete = !row["coef"].is_null() && !row["se"].is_null() && !row["ci95"].is_null();
            assert_eq!(complete, row["reason"].is_null(), "{key}: {row}");
        }
    }
    for key in ["ci95_bootstrap", "ci95_bca", "ci95_family"] {
        if let Some(row) = found.get(key) {
            assert_eq!(row["low"].is_null(), row["reason"].is_string(), "{key}: {row}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn degenerate_tables_are_explained(k in 1usize..5, cells in prop::collection::vec(prop_oneof![3 => Just(0u64), 2 => 1u64..6], 16)) {
        let rows: Vec<Vec<u64>> = (0..k).map(|i| cells[i * k..(i + 1) * k].to_vec()).collect();
        let plan = Plan { seed: 3, replicates: 50 };
        for weights in [None, Some(WeightChoice::Linear)] {
            let source = Source::Table(Table::numbered(&rows).expect("square"));
            let found = printed(&source, &Settings { weights, bootstrap: plan, ..Settings::default() });
            every_null_has_a_reason(&found);
            prop_assert_eq!(found["n"].as_u64(), Some(rows.concat().iter().sum::<u64>()));
        }
    }

    /// Any file of few raters and values: items close, nothing is unexplained, and names do not matter.
    #[test]
    fn any_ratings_are_explained(
        raters in 2usize..5,
        cells in prop::collection::vec(prop::sample::select(vec!["", "0", "1", "n.a.", "cannot_judge", "x"]), 0..40),
    ) {
        let header = (0..raters).fold("item".to_owned(), |line, at| format!("{line},r{at}"));
        let file = |rename: &dyn Fn(&str) -> String| {
            let lines = cells.chunks_exact(raters).enumerate().map(|(at, unit)| {
                unit.iter().fold(format!("\nu{at}"), |line, cell| line + "," + &rename(cell))
            });
            header.clone() + &lines.collect::<String>()
        };
        let plan = Plan { seed: 3, replicates: 50 };
        let run = |text: &str| printed(&read(text, &RatingsFormat::default()), &Settings { bootstrap: plan, ..Settings::default() });
        let found = run(&file(&|cell| cell.to_owned()));
        every_null_has_a_reason(&found);
        let dropped: u64 = found["dropped"].as_object().expect("reasons").values().filter_map(Value::as_u64).sum();
        prop_assert_eq!(found["n"].as_u64().expect("a count") + dropped, found["items"].as_u64().expect("a count"));
        let renamed = run(&file(&|cell| match cell { "0" => "no".to_owned(), "1" => "yes".to_owned(), "x" => "so so".to_owned(), other => other.to_owned() }));
        for key in ["kappa", "scott_pi", "krippendorff_alpha_nominal"] {
            let near = match (found[key].as_f64(), renamed[key].as_f64()) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-12,
                (a, b) => a == b,
            };
            prop_assert!(near, "{}: {} {}", key, found[key], renamed[key]);
        }
    }
}
