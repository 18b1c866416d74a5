//! The report of the published audit, from its label file through the database to the text of `report.json`.

use std::collections::BTreeMap;
use std::path::Path;

use dualrater::agree::Options;
use dualrater::ingest::{RaterNames, read_labels};
use dualrater::model::{Audit, BatchName, RaterKind, RaterName, RatingValue};
use dualrater::report::{
    self, BatchKind, BatchProvenance, Input, Provenance, RubricProvenance, RunProvenance, SamplingRecord, View, view,
};
use dualrater::rubric::{Rubric, bundled, bundled_text};
use dualrater::store::{NewBatch, Store};
use serde_json::Value;

use crate::agreement::{assert_contains, read_json};
use crate::shared::folder as shared;

const NOW: &str = "2026-01-02T03:04:05Z";

/// The published labels, taken over into a database and read back.
fn stored(shared: &Path) -> (Audit, Rubric, Provenance) {
    let rubric = bundled("mechanism-v2").expect("bundled");
    let name = |text| RaterName::parse(text).expect("a name");
    let names = RaterNames { a: name("rater_a"), b: name("rater_b"), adjudicator: name("adjudicator") };
    let file = shared.join("data/paper-audit/labels-main.jsonl");
    let labels = read_labels(&file, Some("main"), &rubric, &names).expect("sound labels");
    let mut store = Store::in_memory().expect("a database");
    let batch = BatchName::parse("published").expect("a name");
    let text = bundled_text("mechanism-v2").expect("bundled");
    store
        .add_batch(&NewBatch {
            name: &batch,
            imported: true,
            seed: None,
            plan: None,
            frame: None,
            rubric: (&rubric.digest(), &rubric.id, text),
            bindings: "{}",
            excluded: "[]",
            command: "dualrater ingest labels labels-main.jsonl",
            now: NOW,
            strata: labels.strata,
            cases: labels.cases,
            first: None,
        })
        .expect("a new batch");
    let info = store.batch(&batch).expect("stored");
    for (rater, kind) in
        [(&names.a, RaterKind::Model), (&names.b, RaterKind::Model), (&names.adjudicator, RaterKind::Adjudicator)]
    {
        store.register_rater(&info, rater, kind, Some("one model"), NOW).expect("a new rater");
    }
    let head = store.append(&info, &labels.entries, NOW).expect("appended");
    let audit = store.audit(&info, rubric.labels.iter().map(|label| label.id.clone()).collect()).expect("read");
    let provenance = Provenance {
        program: "dualrater 0.1.0".into(),
        generated_at: NOW.into(),
        command_line: "dualrater report --batch published --out report".into(),
        batch: BatchProvenance {
            name: "published".into(),
            kind: BatchKind::Imported,
            seed: None,
            plan: None,
            frame: None,
            bindings: BTreeMap::new(),
            excluded: Vec::new(),
            created_at: NOW.into(),
            command: info.command,
            sampling: SamplingRecord::default(),
        },
        rubric: RubricProvenance { id: rubric.id.clone(), digest: rubric.digest() },
        chain_head: head,
        chain_entries: labels.entries.len() as u64,
        joined_runs: BTreeMap::new(),
        rater_models: [("rater_a", "one model"), ("rater_b", "one model")]
            .map(|(rater, model)| (rater.to_owned(), model.to_owned()))
            .into(),
        runs: Vec::new(),
        notes: Vec::new(),
    };
    (audit, rubric, provenance)
}

fn build(audit: &Audit, rubric: &Rubric, provenance: &Provenance) -> View {
    view(&Input {
        audit,
        rubric,
        options: Options::default(),
        estimates: Vec::new(),
        provenance: provenance.clone(),
        evidence: dualrater::agree::independence::Evidence::default(),
    })
    .expect("a pair")
}

fn json(view: &View) -> Value {
    serde_json::from_str(&report::json(view).expect("JSON")).expect("JSON")
}

/// For looking at: `DUALRATER_REPORT_OUT=dir` writes the files of a report.
fn keep(view: &View, name: &str) {
    let Some(out) = std::env::var_os("DUALRATER_REPORT_OUT") else { return };
    let out = Path::new(&out).join(name);
    std::fs::create_dir_all(out.join("tables")).expect("a folder");
    std::fs::write(out.join("index.html"), report::html(view)).expect("written");
    std::fs::write(out.join("report.md"), report::markdown(view)).expect("written");
    std::fs::write(out.join("report.json"), report::json(view).expect("JSON")).expect("written");
    std::fs::write(out.join("tables.tex"), report::latex_tables(view)).expect("written");
    for (file, text) in report::csv_tables(view) {
        std::fs::write(out.join("tables").join(file), text).expect("written");
    }
}

#[test]
fn published_audit_report_json_holds_every_expected_number() {
    let Some(shared) = shared() else { return };
    let expected = read_json(&shared.join("data/paper-audit/expected.json"));
    let (audit, rubric, provenance) = stored(&shared);
    let view = build(&audit, &rubric, &provenance);
    keep(&view, "published");
    let found = json(&view);
    assert_contains(&found, &expected, "report");
    for key in ["cells", "disagreements", "one_sided_na", "adjudicator_sided_with_a", "na_as_category_kappa"] {
        let keys = |value: &Value| value[key].as_object().map(|map| map.keys().cloned().collect::<Vec<_>>());
        let (mut found, mut expected) = (keys(&found), keys(&expected));
        found.iter_mut().chain(&mut expected).for_each(|keys| keys.sort());
        assert_eq!(found, expected, "{key}: no name more or less");
    }
    let modes = found["paper_rules"]["B7"].as_object().expect("B7");
    let order: Vec<&str> = modes.keys().map(String::as_str).collect();
    assert_eq!(order, ["state_inject_misuse", "recon_prompt_overfit", "unclassified", "history_edit_artifact"]);
}

/// The numbers that people read, taken from what is published about the labels: 44/48 and 39/43 for xLAM alone, rater B upheld on 55
/// of 75 and 38 of 40, 21 spot-checked cases all right, a mean of 0.9225 of which one label follows by rule.
#[test]
fn published_audit_in_words_and_tables() {
    let Some(shared) = shared() else { return };
    let (audit, rubric, provenance) = stored(&shared);
    let view = build(&audit, &rubric, &provenance);
    let found = json(&view);
    let held_out = &found["held_out"];
    let xlam = &held_out["models"][0];
    assert_eq!(xlam["model"], "xLAM-2-8b-fc-r");
    let of = |rate: &Value| (rate["k"].as_u64(), rate["n"].as_u64());
    assert_eq!((of(&xlam["d1"]), of(&xlam["d2"])), ((Some(44), Some(48)), (Some(39), Some(43))));
    assert_eq!((of(&held_out["d1"]), of(&held_out["d2"])), ((Some(72), Some(78)), (Some(65), Some(71))));
    assert_eq!(held_out["gold_action"], 7);

    let sides = |label: usize| &found["adjudication"]["labels"][label];
    assert_eq!((sides(5)["with_second"].as_u64(), sides(6)["with_second"].as_u64()), (Some(55), Some(38)));
    assert_eq!(found["adjudication"]["spot_checks"]["cases"], 21);
    assert_eq!(found["adjudication"]["spot_checks"]["wrong"], 0);
    // Rulings 6:0, 11:0, 20:55, 2:38 are uneven beyond chance (p 0.031 at most), 2:1 is not.
    let uneven: Vec<bool> = (0..7).map(|label| sides(label)["one_sided"].as_bool().expect("known")).collect();
    assert_eq!(uneven, [true, true, false, false, false, true, true]);

    // The rulings by label are those of the counts above; the findings name the same labels, and all of them together.
    let of_kind = |kind: &str| -> Vec<&Value> {
        let all = found["findings"].as_array().expect("a list");
        all.iter().filter(|finding| finding["kind"] == kind).map(|finding| &finding["label"]).collect()
    };
    assert_eq!(
        of_kind("one_sided_adjudicator"),
        ["B1a", "B1b", "B6", "B7"].map(Value::from).iter().chain([&Value::Null]).collect::<Vec<_>>()
    );
    assert_eq!(of_kind("derived_label"), [&Value::from("B5")]);

    let mean = |key: &str| found["agreement"][key]["mean"].as_f64().expect("defined");
    assert!((mean("mean") - 0.922_524_428_760_580_4).abs() < 1e-12);
    // Without B5, from the four published kappas.
    let rest = (0.933_222_036_727_879_7 + 0.887_156_339_762_002_4 + 1.0 + 0.792_243_767_313_019_4) / 4.0;
    assert!((mean("mean_without_derived") - rest).abs() < 1e-12);

    let codes: Vec<&str> = view.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(
        codes,
        ["raters_are_models", "strata_by_outcome", "pooled_above_strata", "derived_label", "gold_turn_zero"]
    );
    assert!(view.warnings[0].text.contains("Both are one model."));
    assert!(
        view.warnings[1].text.starts_with("Every case of strata A, B, C, E and G failed at baseline; every case of")
    );
    // Counted once more with another program: inside strata A, B, C, E and G kappa of B6 is -0.26 to -0.16; in D and F both
    // raters say 1 throughout. No other label's pooled kappa is above all of its strata's.
    assert!(
        view.warnings[2].text.contains("for B6 (0.46 pooled, −0.26 to −0.16 inside):"),
        "{}",
        view.warnings[2].text
    );
    assert!(found["gar"]["sentence"].as_str().expect("text").starts_with("No run is joined"));

    for text in [report::html(&view).replace('\u{a0}', " "), report::markdown(&view)] {
        for number in ["0.933", "0.887", "0.792", "0.461", "−0.006", "92.3 %", "91.5 %", "xLAM-2-8b-fc-r"] {
            assert!(text.contains(number), "{number}");
        }
    }
    for row in &view.agreement.labels {
        assert_eq!(row.dropped.n + row.dropped.left_out.total(), 200);
    }
    for rate in view.rates.iter().flatten() {
        let all = |rate: &report::view::FinalRate| {
            rate.n + rate.na + rate.cannot_judge + rate.open + rate.missing + rate.no_verdict
        };
        assert_eq!((rate.pooled.cases, all(&rate.pooled)), (200, 200));
        assert_eq!(rate.strata.iter().map(|stratum| stratum.rate.k).sum::<u64>(), rate.pooled.k);
        assert_eq!(rate.strata.iter().map(|stratum| all(&stratum.rate)).sum::<u64>(), 200);
    }
    let tables = report::csv_tables(&view);
    let cells = &tables.iter().find(|(name, _)| name == "cells.csv").expect("there").1;
    assert!(cells.contains("xLAM-2-8b-fc-r,miss_func,A,B1a,48,5,48,0.10416666666666667,"));
    assert!(report::latex_tables(&view).contains("xLAM-2-8b-fc-r & miss\\_func & A & B1a & 48 & 5 & 48 & 10.4 \\%"));
}

/// As the study's pilot: ratings, and nobody has ruled.
#[test]
fn an_audit_without_rulings_reports_agreement_and_no_rates() {
    let Some(shared) = shared() else { return };
    let (mut audit, rubric, provenance) = stored(&shared);
    for case in &mut audit.cases {
        case.adjudications.clear();
        case.gar_hit = Some(true);
    }
    let view = build(&audit, &rubric, &provenance);
    keep(&view, "pilot");
    let found = json(&view);
    assert!(found["rates"].is_null() && found["cell_rates"].is_null() && found["held_out"].is_null());
    assert_eq!(found["agreement"]["labels"][0]["agree"], 194);
    assert_eq!(found["finals"]["open"], 6 + 11 + 3 + 75 + 40);
    assert!(found["paper_rules"]["final_rates"]["B3_D1"].is_null());
    assert!(found["paper_rules"].get("B7").is_none());
    assert!(found["cells"]["Qwen3-8B/base"]["B1a"].is_null());
    assert_eq!(found["gar"]["labels"].as_array().map(Vec::len), Some(0));
    assert!(report::markdown(&view).contains("there are no final values"));
}

/// One ruling taken back: its label has no rate but bounds, the others keep theirs.
#[test]
fn one_open_disagreement_takes_the_rate_of_its_label_only() {
    let Some(shared) = shared() else { return };
    let (mut audit, rubric, provenance) = stored(&shared);
    let case = audit.cases.iter_mut().find(|case| case.adjudications.keys().any(|label| label.as_str() == "B1b"));
    case.expect("eleven of them").adjudications.retain(|label, _| label.as_str() != "B1b");
    let found = json(&build(&audit, &rubric, &provenance));
    let later = &found["rates"][1];
    assert_eq!(
        (later["label"].as_str(), later["open"].as_u64(), later["n"].as_u64()),
        (Some("B1b"), Some(1), Some(199))
    );
    assert!(later["rate"].is_null());
    let bounds: Vec<f64> = later["bounds"].as_array().expect("two").iter().filter_map(Value::as_f64).collect();
    assert!(bounds[0] <= 0.44 && 0.44 <= bounds[1]);
    assert_eq!(found["rates"][0]["k"], 71);
    assert!(found["paper_rules"]["final_rates"]["B1b"].is_null());
    assert_eq!(found["paper_rules"]["final_rates"]["B1a"]["k"], 71);
}

/// A metric made from the finals with known flips: the cross-table must be the constructed one, per cell and stratum too.
#[test]
fn cross_table_against_the_metric_is_the_constructed_one() {
    let Some(shared) = shared() else { return };
    let (mut audit, rubric, mut provenance) = stored(&shared);
    let (a, b) = audit.pair.clone().expect("a pair");
    let label = audit.labels[1].clone();
    let (mut ones, mut zeros, mut flipped) = (0, 0, Vec::new());
    for case in &mut audit.cases {
        let one = case.final_value((&a, &b), &label).is_some_and(RatingValue::is_one);
        let place = if one { &mut ones } else { &mut zeros };
        *place += 1;
        // Every eighth 1 is missed, every fourth 0 is hit, and the last 0 has no metric.
        let flip = if one { *place % 8 == 0 } else { *place % 4 == 0 };
        case.gar_hit = Some(one != flip);
        if flip {
            flipped.push(case.case.to_string());
        }
        if !one && *place == 111 {
            case.gar_hit = None;
        }
    }
    assert_eq!((ones, zeros), (88, 112));
    provenance.runs.push(RunProvenance {
        name: "calls-only".into(),
        model: "Qwen3-8B".into(),
        condition: "baseline".into(),
        results: vec!["0".repeat(64)],
        text_saved: Some(false),
    });
    let view = build(&audit, &rubric, &provenance);
    keep(&view, "joined");
    let found = json(&view);
    let later = &found["gar"]["labels"][0];
    assert_eq!(later["label"], "B1b");
    let pooled = &later["pooled"];
    let counts = ["cases", "n", "tp", "fp", "fn", "tn"].map(|key| pooled[key].as_u64().expect("a count"));
    assert_eq!(counts, [200, 199, 77, 28, 11, 83]);
    assert_eq!(pooled["left_out"]["no_gar"], 1);
    let near = |value: &Value, want: f64| (value.as_f64().expect("defined") - want).abs() < 1e-12;
    assert!(near(&pooled["sensitivity"]["rate"], 77.0 / 88.0) && near(&pooled["specificity"]["rate"], 83.0 / 111.0));
    // By hand: po = 160/199, pe = (88·105 + 111·94)/199².
    let (po, pe) = (160.0 / 199.0, (88.0 * 105.0 + 111.0 * 94.0) / (199.0 * 199.0));
    assert!(near(&pooled["kappa"], (po - pe) / (1.0 - pe)));
    for part in ["cells", "strata"] {
        let rows = later[part].as_array().expect("rows");
        for key in ["cases", "n", "tp", "fp", "fn", "tn"] {
            let sum: u64 = rows.iter().filter_map(|row| row[key].as_u64()).sum();
            assert_eq!(Some(sum), pooled[key].as_u64(), "{part} {key}");
        }
    }
    let listed: Vec<&str> =
        later["disagreeing"].as_array().expect("rows").iter().filter_map(|row| row["case"].as_str()).collect();
    assert_eq!(listed, flipped);
    assert!(view.warnings.iter().any(|warning| warning.code == "text_not_saved"));
    assert!(report::markdown(&view).contains("never in the same one"));
}
