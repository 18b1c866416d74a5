//! Label files: both forms, refusals, splits.

use super::labels::*;
use crate::error::Result;
use crate::model::RaterName;
use crate::rubric::bundled;

fn read(lines: &str, split: Option<&str>) -> Result<ImportedAudit> {
    let folder = tempfile::tempdir().expect("temp dir");
    let path = folder.path().join("labels.jsonl");
    std::fs::write(&path, lines).expect("write");
    let name = |text| RaterName::parse(text).expect("valid");
    let names = RaterNames { a: name("a"), b: name("b"), adjudicator: name("adj") };
    read_labels(&path, split, &bundled("mechanism-v2").expect("bundled"), &names)
}

const FULL: &str = r#"{"split":"main","case_id":"multi_turn_base_1","model":"M/x","category":"base","stratum":"D","transition":"PASS_to_FAIL","context":"…","rater_a":{"B1a":{"value":1,"rationale":"turn 0 calls"},"B4":{"value":0,"rationale":""}},"rater_b":{"B1a":{"value":0,"rationale":"no"},"B4":{"value":0,"rationale":""}},"adjudication":{"B1a":{"value":1,"note":"a is right"}},"spot_check":{"B4":{"value":1,"correct":false,"note":"asked"}},"final":{"B1a":1,"B4":1}}"#;

#[test]
fn the_full_form_keeps_rationales_rulings_and_spot_checks() {
    let audit = read(FULL, None).expect("sound");
    assert_eq!(audit.cases[0].identity.as_str(), "published:M/x/multi_turn_base_1");
    assert_eq!(audit.cases[0].verdict.as_deref(), Some("PASS"));
    let acts: Vec<(&str, &str, &str)> =
        audit.entries.iter().map(|e| (e.act.as_str(), e.value.as_str(), e.rationale.as_str())).collect();
    assert_eq!(
        acts,
        [
            ("rating", "1", "turn 0 calls"),
            ("rating", "0", "no"),
            ("ruling", "1", "a is right"),
            ("rating", "0", ""),
            ("rating", "0", ""),
            ("spot_check", "1", "asked"),
        ]
    );
    assert_eq!((audit.finals_checked, audit.open_disagreements), (1, 0));
}

#[test]
fn finals_that_do_not_follow_and_needless_rulings_are_refused() {
    let wrong = FULL.replace(r#""final":{"B1a":1"#, r#""final":{"B1a":0"#);
    assert!(read(&wrong, None).err().expect("refused").message().contains("final value of B1a"));
    let needless = FULL.replace(r#""B1a":{"value":0,"rationale":"no"}"#, r#""B1a":{"value":1,"rationale":"no"}"#);
    assert!(read(&needless, None).err().expect("refused").message().contains("the raters agree"));
    let twice = format!("{FULL}\n{FULL}");
    assert!(read(&twice, None).err().expect("refused").message().contains("twice"));
    let value =
        FULL.replace(r#""B4":{"value":0,"rationale":""}},"rater_b""#, r#""B4":{"value":2,"rationale":""}},"rater_b""#);
    assert!(read(&value, None).is_err());
}

#[test]
fn a_pilot_without_finals_is_taken_over_with_its_disagreements_open() {
    let pilot =
        r#"{"split":"pilot","case_id":"c_1","model":"m","category":"base","stratum":"A","a":{"B1a":1},"b":{"B1a":0}}"#;
    let both = format!("{FULL}\n{pilot}");
    assert!(read(&both, None).is_err(), "two splits and none chosen");
    let audit = read(&both, Some("pilot")).expect("sound");
    assert_eq!((audit.cases.len(), audit.open_disagreements, audit.finals_checked), (1, 1, 0));
    assert_eq!(audit.other_splits.get("main"), Some(&1));
}
