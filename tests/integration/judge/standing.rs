//! What the tables say about model raters: kinds, one model behind two names, self-consistency, looks, and a judge beside
//! people.

use serde_json::json;

use super::*;

/// A model that follows a coin for B4, so that its passes differ, and says the gold action everywhere else.
fn fickle() -> Server {
    Server::start(|asked| {
        let mut answer = asked.valid();
        let seed = asked.body.get("seed").and_then(Value::as_u64).unwrap_or(0) as usize;
        if (asked.message(1).len() + seed).is_multiple_of(2) {
            answer["labels"]["B4"]["value"] = "1".into();
        }
        for (label, form) in answer["labels"].as_object_mut().expect("labels") {
            form["rationale"] =
                json!(format!("The model does in this turn what label {label} asks it to do, as turn 1 shows."));
        }
        Answer::json(&answer)
    })
}

#[test]
fn one_model_behind_two_names_is_self_consistency() {
    let folder = project();
    let at = folder.path();
    let server = fickle();
    let url = server.url();
    done(at, &judge(&url, &["--seed", "1", "--passes", "2"]));
    let mut second = judge(&url, &["--seed", "2"]);
    second[4] = "m2";
    done(at, &second);
    let shown = done(at, &["agree", "--batch", "demo", "--raters", "m1,m2", "--replicates", "20"]);
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "m1 (model, m)",
        "m1 and m2 are the same model, m. Their agreement is that model's self-consistency",
        "rationales (100 %",
        "both raters gave nearly the same rationale",
        "looks at whether length",
        "Self-consistency of models over their passes (no agreement between raters):",
        "Whether a rater follows the data by rule was not looked at",
    ] {
        assert!(flat.contains(part), "{part}: {shown}");
    }
    done(at, &["raters", "--batch", "demo", "--pair", "m1,m2"]);
    let report = json(at, &["report", "--batch", "demo", "--out", "r", "--replicates", "20", "--json"]);
    let rows = report["independence"]["consistency"].as_array().expect("rows");
    let row = |label: &str| rows.iter().find(|row| row["label"] == label).expect("the label");
    let all = cases(at);
    assert_eq!((count(row("B4"), "/same"), count(row("B4"), "/cases")), (0, all), "each pass says the opposite");
    assert_eq!(count(row("B1a"), "/same"), all);
    assert_eq!(row("B1a")["passes"], 2);
    let codes =
        report["warnings"].as_array().expect("warnings").iter().map(|one| one["code"].as_str().expect("a code"));
    assert!(codes.filter(|code| *code == "independence").count() >= 3, "{report}");
    let looks = report["independence"]["looks"].as_array().expect("looks");
    assert!(looks.iter().all(|look| look["interval"][0].as_f64() <= look["effect"].as_f64()));
    let page = std::fs::read_to_string(at.join("r/index.html")).expect("the page");
    assert!(page.contains("Independence of the raters") && page.contains("no agreement between raters"));
    assert!(!page.contains("Models beside people"), "there are no people in this batch");
    assert!(at.join("r/tables/self_consistency.csv").exists());
}

/// The judge says 1 to B1a everywhere; the simulated raters stand in for people. The counts are those of the sheets.
#[test]
fn a_judge_is_measured_against_people() {
    let folder = project();
    let at = folder.path();
    let server = fickle();
    done(at, &judge(&server.url(), &["--seed", "1"]));
    let refused = run(at, &["validate", "--batch", "demo", "--judge", "m1"]);
    assert_eq!(refused.status.code(), Some(3), "simulated raters are no people unless named");
    let people =
        ["validate", "--batch", "demo", "--judge", "m1", "--people", "sim-careful,sim-hasty", "--replicates", "20"];
    let mut arguments = people.to_vec();
    arguments.push("--json");
    let found = json(at, &arguments);
    let b1a = found["labels"].as_array().expect("labels").iter().find(|row| row["label"] == "B1a").expect("B1a");
    let said = |rater: &str, value: &str| {
        let sql = format!(
            "SELECT count(*) FROM ratings JOIN batches ON batches.id = batch WHERE name = 'demo' AND act = 'rating'
             AND rater = '{rater}' AND label = 'B1a' AND value = '{value}'"
        );
        query(at, &sql) as u64
    };
    let against = &b1a["against"][0];
    assert_eq!(against["person"], "sim-careful");
    assert_eq!(count(against, "/agree"), said("sim-careful", "1"), "the judge always says 1");
    assert_eq!(count(against, "/n"), said("sim-careful", "1") + said("sim-careful", "0"));
    assert!(against["kappa"].as_f64().is_none_or(|kappa| kappa.abs() < 1e-9), "a constant judge has no kappa above 0");
    assert!(against["strata"].as_array().expect("strata").len() > 1);
    let rate = &b1a["corrected"];
    assert_eq!(count(rate, "/judged_yes"), count(rate, "/judged"));
    let finals =
        "SELECT count(*) FROM ratings JOIN batches ON batches.id = batch WHERE name = 'demo' AND act = 'rating'
        AND rater = 'sim-careful' AND label = 'B1a'";
    assert_eq!(count(rate, "/judged"), query(at, finals) as u64);
    // People rated every judged case or differ on it without a ruling; the estimate is then theirs, not the judge's.
    let corrected = rate["difference"]["rate"].as_f64().expect("a rate");
    assert!(corrected < 1.0, "{corrected}");
    let second = b1a["second"].as_array().expect("rows");
    assert_eq!(second.len(), 2, "each person with the other as second");
    assert!(second.iter().all(|row| row["standing"] == "worse" || row["standing"] == "open"));
    let shown = done(at, &people);
    for part in ["beside each person", "as well as a second person does?", "Rates over the judged cases"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    for wrong in
        [&["--judge", "nobody"][..], &["--judge", "m1", "--people", "m1"], &["--judge", "m1", "--margin", "-1"]]
    {
        let mut arguments = vec!["validate", "--batch", "demo"];
        arguments.extend(wrong);
        assert!(!run(at, &arguments).status.success(), "{wrong:?}");
    }
}
