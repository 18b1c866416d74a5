//! Values computed elsewhere: each row names its source, input, expected value and tolerance.

use dualrater::agree::kappa::cohen;
use dualrater::agree::{Table, Z95};
use dualrater::estimate::differences::{self, TwoGroups};
use dualrater::estimate::{Interval, Method, paired, proportion};
use serde_json::{Map, Value, json};

use crate::agreement::{read_json, shared};

/// The rows whose id begins with a letter; empty where the shared folder is missing.
fn rows(group: &str) -> Vec<Value> {
    let Some(shared) = shared() else { return Vec::new() };
    let all = read_json(&shared.join("data/reference_values.json"));
    let found: Vec<Value> = all["entries"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["id"].as_str().is_some_and(|id| id.starts_with(group)))
        .cloned()
        .collect();
    assert!(!found.is_empty(), "no rows {group}");
    found
}

/// Every expected number is found within the row's tolerance; a missing one fails with id and source.
fn check(row: &Value, found: &Value) {
    let tolerance = row["tolerance"].as_f64().expect("a tolerance");
    compare(found, &row["expected"], tolerance, &format!("{} ({}; {})", row["id"], row["name"], row["source"]));
}

fn compare(found: &Value, expected: &Value, tolerance: f64, at: &str) {
    match expected {
        Value::Object(fields) => {
            for (key, inner) in fields {
                compare(&found[key], inner, tolerance, &format!("{at} {key}"));
            }
        }
        Value::Array(items) => {
            for (i, inner) in items.iter().enumerate() {
                compare(&found[i], inner, tolerance, &format!("{at} [{i}]"));
            }
        }
        Value::Number(number) => {
            let want = number.as_f64().expect("finite");
            let near = found.as_f64().is_some_and(|got| (got - want).abs() <= tolerance.max(1e-14));
            assert!(near, "{at}: found {found}, expected {want}");
        }
        other => assert_eq!(found, other, "{at}"),
    }
}

fn counts(rows: &Value) -> Vec<Vec<u64>> {
    serde_json::from_value(rows.clone()).expect("rows of counts")
}

fn number(input: &Value, key: &str) -> u64 {
    input[key].as_u64().expect("a count")
}

fn limits(interval: Interval) -> Value {
    json!(interval.limits())
}

/// k: two raters, nominal, over a table of counts.
#[test]
fn two_raters_nominal() {
    for row in rows("k") {
        let id = row["id"].as_str().expect("an id");
        if row["input"]["type"] != "confusion_matrix" || id.contains("-w") || id == "k04" || id == "k05b" {
            continue;
        }
        let table = Table::numbered(&counts(&row["input"]["table"])).expect("square");
        let kappa = cohen(&table);
        let mut expected = row.clone();
        let found = json!({
            "n": kappa.n, "po": kappa.po, "pe": kappa.pe, "kappa": kappa.kappa, "se": kappa.se,
            "se_h0": kappa.se_h0, "ci95": kappa.interval(Z95).ok(),
        });
        let known = found.as_object().expect("fields");
        if let Some(fields) = expected["expected"].as_object_mut() {
            fields.retain(|key, _| known.contains_key(key));
        }
        check(&expected, &found);
    }
}

/// b: one proportion.
#[test]
fn one_proportion() {
    let all = |k: u64, n: u64| -> Map<String, Value> {
        Method::ALL
            .into_iter()
            .map(|method| (method.as_str().to_owned(), limits(proportion(method, k, n, 0.95).expect("counts"))))
            .collect()
    };
    for row in rows("b") {
        let input = &row["input"];
        if input["type"] == "binomial_list" {
            let cases: Vec<(u64, u64)> = serde_json::from_value(input["cases"].clone()).expect("pairs");
            let of = |method: &str| cases.iter().map(|(k, n)| all(*k, *n)[method].clone()).collect::<Vec<_>>();
            check(&row, &json!({ "wilson": of("wilson"), "clopper_pearson": of("clopper_pearson") }));
        } else {
            check(&row, &all(number(input, "x"), number(input, "n")).into());
        }
    }
}

/// d: the difference of two independent proportions.
#[test]
fn two_independent_proportions() {
    for row in rows("d") {
        let input = &row["input"];
        let of = |key| number(input, key);
        let groups = TwoGroups::new(of("x1"), of("n1"), of("x2"), of("n2")).expect("counts");
        let newcombe = limits(differences::newcombe(groups, Z95).expect("z"));
        let score = limits(differences::miettinen_nurminen(groups, Z95).expect("z"));
        let is_score = row["name"].as_str().is_some_and(|name| name.starts_with("Miettinen"));
        let found = json!({
            "diff": groups.difference(),
            "ci95": if is_score { score.clone() } else { newcombe.clone() },
            "newcombe": newcombe,
            "miettinen_nurminen": score,
            "agresti_caffo": limits(differences::agresti_caffo(groups, Z95).expect("z")),
        });
        check(&row, &found);
    }
}

/// q: paired proportions.
#[test]
fn paired_proportions() {
    for row in rows("q").iter().filter(|row| row["input"]["type"] == "paired_2x2") {
        let table = counts(&row["input"]["table"]);
        let pairs = paired::Pairs {
            both: table[0][0],
            first_only: table[0][1],
            second_only: table[1][0],
            neither: table[1][1],
        };
        let test = paired::mcnemar(pairs.first_only, pairs.second_only).expect("pairs that differ");
        let found = json!({
            "diff": pairs.difference(),
            "ci95": limits(paired::newcombe(pairs, Z95).expect("cases")),
            "mcnemar_p": test.p, "mcnemar_exact_p": test.exact_p, "mcnemar_midp": test.midp,
            "chi2": test.chi2, "p": test.p, "chi2_cc": test.chi2_cc, "p_cc": test.p_cc, "exact_p": test.exact_p,
        });
        check(row, &found);
    }
}
