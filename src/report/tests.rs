//! What others wrote stays text in every format, and odd audits make reports too.

use std::collections::BTreeMap;

use super::*;
use crate::agree::Options;
use crate::model::{
    Adjudication, Audit, AuditCase, AuditStratum, BatchName, CaseIdentity, Category, LabelId, RaterKind, RaterName,
    Rating, RatingValue, StratumId, Verdict,
};
use crate::rubric::{Rubric, bundled};

const HOSTILE: &str =
    "</td><script>alert(1)</script> | `x` \u{202e}\u{1b}[31m \\input{/etc/passwd} $x_1$ & 100% \"q\" *b* [l](u)";

fn rubric() -> Rubric {
    bundled("mechanism-v2").expect("bundled")
}

fn provenance() -> Provenance {
    Provenance {
        program: "dualrater".into(),
        generated_at: "2026-01-02T03:04:05Z".into(),
        command_line: HOSTILE.into(),
        batch: BatchProvenance {
            name: "b".into(),
            kind: BatchKind::Drawn,
            seed: Some("s".into()),
            plan: Some(PlanProvenance { name: HOSTILE.into(), digest: "d".into() }),
            frame: Some(FrameProvenance { digest: "f".into(), size: 9 }),
            bindings: BTreeMap::new(),
            excluded: Vec::new(),
            created_at: String::new(),
            command: String::new(),
            sampling: SamplingRecord::default(),
        },
        rubric: RubricProvenance { id: "mechanism-v2".into(), digest: "r".into() },
        chain_head: "0".into(),
        chain_entries: 0,
        joined_runs: BTreeMap::new(),
        rater_models: BTreeMap::new(),
        runs: Vec::new(),
        notes: Vec::new(),
    }
}

/// Cases `(first, second, ruling, metric)` for B1b.
fn audit(rows: &[(&str, &str, Option<&str>, Option<bool>)]) -> Audit {
    let name = |text| RaterName::parse(text).expect("a name");
    let (a, b) = (name("=cmd|' C calc'!A0"), name("b"));
    let label = LabelId::parse("B1b").expect("a label");
    let stratum = StratumId::parse("+A").expect("a stratum");
    let cases = rows.iter().enumerate().map(|(index, (first, second, ruling, gar_hit))| {
        let rate = |rater: &RaterName, value: &str| {
            let value = RatingValue::from(value.to_owned());
            let rating = Rating { rater: rater.clone(), label: label.clone(), value, rationale: HOSTILE.into() };
            (rater.clone(), BTreeMap::from([(label.clone(), rating)]))
        };
        let ruled = ruling.map(|value| Adjudication { value: value.to_owned().into(), note: "=1+1".into() });
        AuditCase {
            case: CaseIdentity::parse(&format!("=run/case|{index}")).expect("an identity"),
            model: "<b>m</b>_1".into(),
            category: Category::MissFunc,
            stratum: stratum.clone(),
            transition: None,
            verdict: Some(Verdict::Fail),
            gar_hit: *gar_hit,
            ratings: BTreeMap::from([rate(&a, first), rate(&b, second)]),
            adjudications: ruled.map(|ruling| (label.clone(), ruling)).into_iter().collect(),
            spot_checks: None,
        }
    });
    let cases: Vec<AuditCase> = cases.collect();
    Audit {
        batch: BatchName::parse("b<i>").expect("a name"),
        strata: vec![AuditStratum {
            id: stratum,
            title: HOSTILE.into(),
            population: Some(9),
            drawn: cases.len() as u64,
            quota: Some(50),
        }],
        raters: vec![(a.clone(), RaterKind::Human), (b.clone(), RaterKind::Simulated)],
        pair: Some((a, b)),
        labels: vec![label],
        cases,
        no_verdicts: Vec::new(),
    }
}

fn built(audit: &Audit) -> View {
    let input = Input {
        audit,
        rubric: &rubric(),
        options: Options::default(),
        estimates: Vec::new(),
        provenance: provenance(),
        evidence: crate::agree::independence::Evidence::default(),
    };
    view(&input).expect("a pair")
}

fn mixed() -> View {
    built(&audit(&[
        ("1", "1", None, Some(true)),
        ("1", "0", Some("0"), Some(true)),
        ("0", "0", None, None),
        ("n.a.", "1", Some("n.a."), Some(false)),
        ("cannot_judge", "cannot_judge", None, Some(false)),
        ("0", "1", Some("cannot_judge"), Some(false)),
        ("0", "0", None, Some(false)),
    ]))
}

#[test]
fn hostile_text_is_text_on_the_page() {
    let page = html(&mixed());
    assert!(page.contains("&lt;/td&gt;&lt;script&gt;alert(1)"));
    for never in ["<script", "<b>m", "b<i>", "\u{202e}", "\u{1b}", "http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(never), "{never:?}");
    }
    // Every identifier once, and every link to one of them.
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let unique: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(unique.contains(target), "{target}");
    }
}

#[test]
fn hostile_text_is_text_in_markdown() {
    let text = markdown(&mixed());
    for never in ["<script", "<b>", "b<i>", "\u{202e}", "\u{1b}", " `x`", "[l](u)", " *b*"] {
        assert!(!text.contains(never), "{never:?}");
    }
    // Every line of a table has as many cells as its heading: bars inside are escaped.
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2).filter(|pair| pair.iter().all(|line| line.starts_with("| "))) {
        assert_eq!(bars(pair[0]), bars(pair[1]), "{pair:?}");
    }
}

#[test]
fn hostile_text_is_text_in_latex() {
    let text = latex_tables(&mixed());
    assert!(text.contains("m\\textless{}/b\\textgreater{}\\_1"));
    for never in ["\\input", "<", ">", "$x", "\u{202e}", "\u{1b}"] {
        assert!(!text.lines().filter(|line| !line.starts_with('%')).any(|line| line.contains(never)), "{never:?}");
    }
    assert_eq!(text.matches("\\begin{table}").count(), text.matches("\\end{table}").count());
    assert_eq!(latex::escape("a_b & 5 % of {x} \\y"), "a\\_b \\& 5 \\% of \\{x\\} \\textbackslash{}y");
}

#[test]
fn no_cell_of_a_csv_table_is_a_formula() {
    let mut inert = 0;
    for (name, text) in csv_tables(&mixed()) {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        for record in reader.records() {
            let record = record.expect("rows of one length");
            for cell in record.iter().filter(|cell| cell.parse::<f64>().is_err()) {
                assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{name}: {cell}");
                inert += usize::from(cell.starts_with("'=") || cell.starts_with("'+"));
            }
        }
    }
    assert!(inert > 10);
}

/// Counted by hand from the seven cases.
#[test]
fn counts_of_a_small_audit_close() {
    let view = mixed();
    let rate = &view.rates.as_ref().expect("rulings")[0].pooled;
    assert_eq!((rate.cases, rate.k, rate.n, rate.na, rate.cannot_judge, rate.open), (7, 1, 4, 1, 2, 0));
    let cross = &view.gar.labels[0].pooled;
    assert_eq!((cross.n, cross.tp, cross.fp, cross.false_negatives, cross.tn), (3, 1, 1, 0, 1));
    let out = cross.left_out;
    assert_eq!((out.no_gar, out.no_final, out.na, out.cannot_judge), (1, 0, 1, 2));
    let sides = view.adjudication.labels[0].sides;
    assert_eq!((sides.disagreements, sides.with_first, sides.with_second, sides.with_neither), (3, 1, 1, 1));
    let codes: Vec<&str> = view.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["simulated_raters", "strata_by_outcome", "strata_short", "cannot_judge"]);
    assert!(view.published.paper_rules.modes.is_none() && view.held_out.is_none());
}

#[test]
fn an_empty_batch_and_a_batch_without_raters() {
    let empty = built(&audit(&[]));
    for text in [html(&empty), markdown(&empty), latex_tables(&empty), json(&empty).expect("JSON")] {
        assert!(!text.contains("NaN") && !text.contains("inf"));
    }
    let mut alone = audit(&[("1", "1", None, None)]);
    alone.pair = None;
    let input = Input {
        audit: &alone,
        rubric: &rubric(),
        options: Options::default(),
        estimates: Vec::new(),
        provenance: provenance(),
        evidence: crate::agree::independence::Evidence::default(),
    };
    assert!(matches!(view(&input), Err(ReportError::NoPair { .. })));
}

/// A rubric without the study's labels: no section about them, and the rest stands.
#[test]
fn a_rubric_without_the_published_labels() {
    let mut other = audit(&[("1", "1", None, Some(true)), ("0", "0", None, Some(false))]);
    let label = LabelId::parse("helpful").expect("a label");
    for case in &mut other.cases {
        for given in case.ratings.values_mut() {
            let ratings: Vec<Rating> = std::mem::take(given).into_values().collect();
            given.extend(ratings.into_iter().map(|rating| (label.clone(), rating)));
        }
    }
    other.labels = vec![label];
    let view = built(&other);
    assert_eq!(view.rates.as_ref().map(Vec::len), Some(1));
    assert!(view.gar.labels.is_empty() && view.published.cells.is_empty());
    assert!(view.published.paper_rules.final_rates.is_empty());
    assert!(html(&view).contains("helpful"));
}
