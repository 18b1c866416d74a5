//! Values computed elsewhere: each row names its source, input, expected value and tolerance.

use dualrater::agree::alpha::{AlphaData, Metric};
use dualrater::agree::bootstrap::{self, Plan};
use dualrater::agree::{
    Counts, Panel, Table, Weights, Z95, fleiss, jackknife, kappa, many, margins, pooled, two_raters, weighted,
};
use dualrater::estimate::differences::{self, TwoGroups};
use dualrater::estimate::{Interval, Method, paired, proportion};
use serde_json::{Map, Value, json};

use crate::agreement::read_json;
use crate::shared::folder as shared;

/// The rows whose id begins with a letter; empty where the shared folder is missing.
pub fn rows(group: &str) -> Vec<Value> {
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
pub fn check(row: &Value, found: &Value) {
    let tolerance = row["tolerance"].as_f64().expect("a tolerance");
    compare(found, &row["expected"], tolerance, &format!("{} ({}; {})", row["id"], row["name"], row["source"]));
}

pub fn compare(found: &Value, expected: &Value, tolerance: f64, at: &str) {
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

/// A matrix of numbers.
fn matrix(rows: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(rows.clone()).expect("rows of numbers")
}

/// Everything about two raters, with ± 1.959964 standard errors and without bootstrap.
fn measures(table: &Table, weights: Option<&Weights>) -> Value {
    json!(two_raters(table, weights, Z95, Plan { seed: 1, replicates: 0 }))
}

fn texts(list: &Value) -> Vec<String> {
    let text = |item: &Value| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
    list.as_array().expect("a list").iter().map(text).collect()
}

fn table_of(first: &Value, second: &Value, categories: &[&str]) -> Table {
    let categories: Vec<String> = categories.iter().map(|name| (*name).to_owned()).collect();
    let (first, second) = (texts(first), texts(second));
    Table::from_pairs(&categories, first.iter().zip(&second).map(|(a, b)| (a.as_str(), b.as_str()))).expect("listed")
}

/// k: two raters over a table of counts; plain, and with linear, quadratic and own weights.
#[test]
fn two_raters_nominal_and_weighted() {
    for row in rows("k").iter().filter(|row| row["input"]["type"] == "confusion_matrix") {
        let id = row["id"].as_str().expect("an id");
        let input = &row["input"];
        let table = Table::numbered(&counts(&input["table"])).expect("square");
        let size = table.size();
        let weights = match id {
            "k04" => Some(Weights::from_agreement(&matrix(&input["agreement_weights"])).expect("agreement weights")),
            "k05b" => Some(Weights::from_disagreement(&matrix(&input["disagreement_weights"])).expect("weights")),
            id if id.ends_with("-wlinear") => Some(Weights::linear(size)),
            id if id.ends_with("-wquadratic") => Some(Weights::quadratic(size)),
            _ => None,
        };
        let mut found = measures(&table, weights.as_ref());
        found["gwet_ac1_se_irrcac"] = found["gwet_ac1_se"].clone();
        check(row, &found);
    }
}

/// k: two raters by their labels; what the order of the categories and unused levels do to weights.
#[test]
fn two_raters_by_labels() {
    for row in rows("k").iter().filter(|row| row["input"]["type"] == "labels") {
        let input = &row["input"];
        let kappa = |table: &Table, weights: &Weights| json!(weighted::kappa(table, weights).kappa);
        let three = |table: &Table| {
            let size = table.size();
            json!({
                "unweighted": kappa(table, &Weights::identity(size)),
                "linear": kappa(table, &Weights::linear(size)),
                "quadratic": kappa(table, &Weights::quadratic(size)),
            })
        };
        let found = match row["id"].as_str() {
            Some("k31") => {
                let table = table_of(&input["rater1"], &input["rater2"], &["negative", "neutral", "positive"]);
                measures(&table, None)["kappa"].clone()
            }
            Some("k32") => {
                let of = |order: &[&str]| {
                    kappa(&table_of(&input["rater1"], &input["rater2"], order), &Weights::quadratic(3))
                };
                json!({
                    "codebook_order": of(&["low", "mid", "high"]),
                    "alphabetical_order_wrong": of(&["high", "low", "mid"]),
                })
            }
            Some("k33") => json!({
                "levels_used_only": three(&table_of(&input["rater2"], &input["rater3"], &["1", "2", "3", "4", "6"])),
                "full_scale_1_to_6":
                    three(&table_of(&input["rater2"], &input["rater3"], &["1", "2", "3", "4", "5", "6"])),
            }),
            other => unreachable!("no reader for {other:?}"),
        };
        check(row, &found);
    }
}

/// The units of a row as optional labels.
fn unit_labels(input: &Value) -> Vec<Vec<Option<String>>> {
    let label = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let units = input["items_x_raters"].as_array().expect("units").iter();
    units.map(|unit| unit.as_array().expect("ratings").iter().map(label).collect()).collect()
}

fn panel(units: &[Vec<Option<String>>]) -> Panel {
    let rows: Vec<Vec<Option<&str>>> = units.iter().map(|unit| unit.iter().map(Option::as_deref).collect()).collect();
    Panel::from_labels(&rows, None).expect("rectangular")
}

/// m: Fleiss' kappa and its relatives.
#[test]
fn fleiss_family() {
    for row in rows("m") {
        let input = &row["input"];
        let found = if input["type"] == "counts" {
            let rows: Vec<Vec<u32>> = serde_json::from_value(input["items_x_categories"].clone()).expect("counts");
            let categories = (1..=rows[0].len()).map(|i| i.to_string()).collect();
            let counts = Counts::new(categories, &rows).expect("rectangular");
            let classic = fleiss::fleiss(&counts).expect("defined");
            let identity = Weights::identity(rows[0].len());
            let with_gaps = many::fleiss(&counts, &identity);
            assert!((with_gaps.coef.expect("defined") - classic.kappa).abs() < 1e-12, "{}", row["id"]);
            let randolph = many::brennan_prediger(&counts, &identity).coef;
            json!({ "po": classic.pa, "pe": classic.pe, "kappa": classic.kappa, "randolph": randolph })
        } else {
            let panel = panel(&unit_labels(input));
            let all = fleiss::many_raters(&panel, &Weights::identity(panel.categories().len())).expect("small");
            json!({
                "fleiss": all.fleiss.coef, "conger_exact": all.conger.coef, "light": all.light.coef,
                "randolph": all.randolph.coef,
            })
        };
        check(&row, &found);
    }
}

/// g: coefficients for many raters with gaps, their standard errors and weights.
#[test]
fn gwet_with_missing_ratings() {
    for row in rows("g") {
        let panel = panel(&unit_labels(&row["input"]));
        let size = panel.categories().len();
        let with = |weights: Weights| json!(fleiss::many_raters(&panel, &weights).expect("small"));
        let found = json!({
            "unweighted": with(Weights::identity(size)),
            "linear": with(Weights::linear(size)),
            "quadratic": with(Weights::quadratic(size)),
            "ordinal": with(Weights::ordinal(size)),
        });
        check(&row, &found);
    }
}

/// a: Krippendorff's alpha.
#[test]
fn krippendorff_alpha() {
    for row in rows("a") {
        let data = AlphaData::from_panel(&panel(&unit_labels(&row["input"])));
        let alpha = |metric: Metric| json!(data.alpha(metric).alpha);
        let found = if row["expected"].is_number() {
            let ordinal = row["statistic"].as_str().is_some_and(|text| text.contains("ordinal"));
            alpha(if ordinal { Metric::Ordinal } else { Metric::Nominal })
        } else {
            Metric::ALL.into_iter().map(|m| (m.as_str().to_owned(), alpha(m))).collect::<Map<_, _>>().into()
        };
        check(&row, &found);
    }
}

/// q: equal margins and symmetry of a table.
#[test]
fn marginal_tests() {
    for row in rows("q").iter().filter(|row| row["input"]["type"] == "confusion_matrix") {
        let table = Table::numbered(&counts(&row["input"]["table"])).expect("square");
        let margins = margins::homogeneity(&table).expect("differing");
        let kappa = kappa::cohen(&table);
        let found = json!({
            "bowker": margins::bowker(&table).expect("differing").chi2,
            "stuart_maxwell": margins.stuart_maxwell.chi2,
            "stuart_maxwell_p": margins.stuart_maxwell.p,
            "bhapkar": margins.bhapkar.expect("defined").chi2,
            "bhapkar_p": margins.bhapkar.expect("defined").p,
            "kappa": kappa.kappa,
            "se": kappa.se,
        });
        check(row, &found);
    }
}

/// p: kappas of strata and their inverse-variance mean.
#[test]
fn pooled_kappa() {
    for row in rows("p") {
        let strata: Vec<(String, kappa::Kappa)> = row["input"]["strata"]
            .as_object()
            .expect("strata")
            .iter()
            .map(|(name, table)| (name.clone(), kappa::cohen(&Table::numbered(&counts(table)).expect("square"))))
            .collect();
        let pooled = pooled::pooled(&strata, Z95).expect("defined");
        let test = pooled.homogeneity.expect("two strata or more");
        let mut found = json!({
            "pooled": pooled.kappa, "pooled_se": pooled.se, "homogeneity_chi2": test.chi2, "p": test.p,
        });
        for ((name, kappa), key) in strata.iter().zip(["kappa_winnipeg", "kappa_new_orleans"]) {
            assert!(pooled.strata.contains(name));
            found[key] = json!(kappa.kappa);
        }
        check(&row, &found);
    }
}

/// r: the bootstrap law of kappa at 200,000 replicates, and the jackknife to nine digits.
#[test]
fn bootstrap_and_jackknife() {
    for row in rows("r") {
        let table = Table::numbered(&counts(&row["input"]["table"])).expect("square");
        let replicates = bootstrap::kappa(&table, Plan { seed: 20, replicates: 200_000 });
        let jackknife = jackknife::kappa(&table).expect("defined").se;
        let found = json!({
            "boot_se": replicates.se(),
            "percentile95": replicates.percentile(0.95).expect("defined"),
            "jackknife_se": jackknife,
        });
        check(&row, &found);
        let exact = row["expected"]["jackknife_se"].as_f64().expect("a number");
        assert!((jackknife - exact).abs() < 1e-9, "{}: {jackknife} and {exact}", row["id"]);
    }
}

/// z: degenerate input.
#[test]
fn degenerate_input() {
    for row in rows("z") {
        let input = &row["input"];
        match row["id"].as_str() {
            Some("z01") => {
                let table = table_of(&input["rater1"], &input["rater2"], &["y"]);
                let found = measures(&table, None);
                for key in ["kappa", "se", "ci95", "scott_pi", "gwet_ac1", "krippendorff_alpha_nominal"] {
                    assert!(found[key].is_null(), "{}: {key} is {}", row["id"], found[key]);
                }
                assert_eq!(
                    (&found["reason"], &found["po"], &found["n"]),
                    (&json!("one_category"), &json!(1.0), &json!(10))
                );
            }
            Some("z03") => {
                let found = measures(&Table::numbered(&counts(&input["table"])).expect("square"), None);
                check(&row, &found);
                assert!(found["ci95"].is_null() && found["reason"] == "degenerate", "{}", row["id"]);
                compare(&found["po_ci95"], &json!([0.722_467_200_137_111, 1.0]), 1e-12, "z03 Wilson of 10/10");
            }
            Some("z04") => {
                let alpha =
                    |units: &[Vec<Option<String>>]| AlphaData::from_panel(&panel(units)).alpha(Metric::Nominal).alpha;
                let units = unit_labels(input);
                let spelled: Vec<Vec<Option<String>>> = units
                    .iter()
                    .map(|unit| unit.iter().map(|label| label.clone().or(Some("None".into()))).collect())
                    .collect();
                check(&row, &json!({ "correct": alpha(&units), "none_as_category": alpha(&spelled) }));
            }
            other => unreachable!("no reader for {other:?}"),
        }
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
