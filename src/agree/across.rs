//! Final values of the same cases under two rubrics, case by case.

use serde::Serialize;

use super::label::{LabelAgreement, Options, label_agreement};
use super::{NaPolicy, TableError};
use crate::model::{Audit, LabelId, RaterKind, RaterName, Rating};

/// A label that both rubrics have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AcrossRow {
    /// Cases of which both batches have a final value, whatever it is.
    pub both_final: u64,
    /// Cases whose final values differ, *n.a.* and *cannot judge* counted as values of their own.
    pub changed: u64,
    /// Cases whose value went from 0 to 1.
    pub up: u64,
    /// Cases whose value went from 1 to 0.
    pub down: u64,
    /// Agreement of the two final values; *n.a.* as the options say. A case without a final value is `missing`.
    #[serde(flatten)]
    pub agreement: LabelAgreement,
}

/// Compares the final values of two audits of the same cases, per label that both have, in the order of the first. Each
/// audit's pair of record decides what is final; an audit without one has no final value.
///
/// # Errors
/// More cases than a table holds.
pub fn across(first: &Audit, second: &Audit, options: &Options) -> Result<Vec<AcrossRow>, TableError> {
    // Names of the two sides inside the table; they cannot fail to parse (tested).
    let (Ok(before), Ok(after)) = (RaterName::parse("before"), RaterName::parse("after")) else {
        return Ok(Vec::new());
    };
    let names = [&before, &after];
    let shared: Vec<LabelId> = first.labels.iter().filter(|label| second.labels.contains(label)).cloned().collect();
    let joined = joined(first, second, names, &shared);
    let mut rows = Vec::new();
    for label in &shared {
        let agreement = label_agreement(&joined, (names[0], names[1]), label, options)?;
        let finals =
            || joined.cases.iter().filter_map(|case| case.value(names[0], label).zip(case.value(names[1], label)));
        let moved = |from: &str, to: &str| {
            finals().filter(|(a, b)| a.value() == Some(from) && b.value() == Some(to)).count() as u64
        };
        rows.push(AcrossRow {
            both_final: finals().count() as u64,
            changed: finals().filter(|(a, b)| a != b).count() as u64,
            up: moved("0", "1"),
            down: moved("1", "0"),
            agreement,
        });
    }
    Ok(rows)
}

/// The first audit's cases with the final values of both as the answers of two raters.
fn joined(first: &Audit, second: &Audit, names: [&RaterName; 2], labels: &[LabelId]) -> Audit {
    let mut cases = first.cases.clone();
    for case in &mut cases {
        let again = second.cases.iter().find(|other| other.case == case.case);
        let sides = [(Some(&*case), first), (again, second)];
        let mut ratings = std::collections::BTreeMap::new();
        for ((case, audit), name) in sides.into_iter().zip(names) {
            let (Some(case), Some((a, b))) = (case, &audit.pair) else { continue };
            let finals = labels.iter().filter_map(|label| {
                let value = case.final_value((a, b), label)?.clone();
                let rating = Rating { rater: name.clone(), label: label.clone(), value, rationale: String::new() };
                Some((label.clone(), rating))
            });
            ratings.insert(name.clone(), finals.collect());
        }
        case.ratings = ratings;
        case.adjudications.clear();
        case.spot_checks = None;
    }
    Audit {
        batch: first.batch.clone(),
        strata: first.strata.clone(),
        raters: names.map(|name| (name.clone(), RaterKind::Adjudicator)).to_vec(),
        pair: None,
        labels: labels.to_vec(),
        cases,
        no_verdicts: Vec::new(),
    }
}

/// What is compared across rubrics: *n.a.* a category, so that a case that moves out of a label's reach is seen.
#[must_use]
pub fn across_options(options: Options) -> Options {
    Options { na: NaPolicy::Category, ..options }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agree::bootstrap::Plan;
    use crate::model::{Adjudication, AuditCase, BatchName, CaseIdentity, Category, RatingValue, StratumId, Verdict};
    use std::collections::BTreeMap;

    /// An audit of one label; per case the two ratings and the ruling.
    fn audit(cases: &[(&str, &str, Option<&str>)]) -> Audit {
        let (a, b) = (RaterName::parse("a").expect("valid"), RaterName::parse("b").expect("valid"));
        let label = LabelId::parse("B1a").expect("valid");
        let stratum = StratumId::parse("A").expect("valid");
        let value = |text: &str| RatingValue::from(text.to_owned());
        let case = |(index, (first, second, ruling)): (usize, &(&str, &str, Option<&str>))| {
            let rate = |rater: &RaterName, text: &str| {
                let (label, value) = (label.clone(), value(text));
                let rating = Rating { rater: rater.clone(), label: label.clone(), value, rationale: String::new() };
                (rater.clone(), BTreeMap::from([(label, rating)]))
            };
            let ruled = ruling.map(|text| (label.clone(), Adjudication { value: value(text), note: String::new() }));
            AuditCase {
                case: CaseIdentity::parse(&format!("r/{index}")).expect("valid"),
                model: "m".into(),
                category: Category::Base,
                stratum: stratum.clone(),
                transition: None,
                verdict: Some(Verdict::Pass),
                gar_hit: None,
                ratings: BTreeMap::from([rate(&a, first), rate(&b, second)]),
                adjudications: ruled.into_iter().collect(),
                spot_checks: None,
            }
        };
        let cases = cases.iter().enumerate().map(case).collect();
        Audit {
            batch: BatchName::parse("batch").expect("valid"),
            strata: Vec::new(),
            raters: vec![(a.clone(), RaterKind::Human), (b.clone(), RaterKind::Human)],
            pair: Some((a, b)),
            labels: vec![label],
            cases,
            no_verdicts: Vec::new(),
        }
    }

    /// Counted by hand: finals 1, 1, 0, n.a., open, 0 against 1, 0, 1, 0, 1, 0.
    #[test]
    fn finals_are_compared_case_by_case() {
        let before = audit(&[
            ("1", "1", None),
            ("1", "0", Some("1")),
            ("0", "0", None),
            ("n.a.", "n.a.", None),
            ("1", "0", None),
            ("0", "0", None),
        ]);
        let after = audit(&[
            ("1", "1", None),
            ("0", "0", None),
            ("0", "1", Some("1")),
            ("0", "0", None),
            ("1", "1", None),
            ("0", "0", None),
        ]);
        let options = Options { bootstrap: Plan { seed: 1, replicates: 10 }, ..across_options(Options::default()) };
        let rows = across(&before, &after, &options).expect("small tables");
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        assert_eq!((row.both_final, row.changed, row.up, row.down), (5, 3, 1, 1));
        assert_eq!((row.agreement.n, row.agreement.agree, row.agreement.left_out.missing), (5, 2, 1));
    }
}
