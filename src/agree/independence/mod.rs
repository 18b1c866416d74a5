//! Are the raters independent of each other, of the data's own rules, and of things that should not matter?
//!
//! Two passes of one model are self-consistency, not agreement between raters: they have a table of their own. What else is
//! looked at: one model behind two names, rationales that repeat from case to case or from rater to rater, and whether the
//! length of a case or its place in the rater's order predicts the answer. Every look is counted, and the level of each
//! interval is raised so that all of one kind together are wrong in 5 % of audits.

mod consistency;
mod looks;
mod rationales;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

pub use consistency::ConsistencyRow;
pub use looks::{Look, LookKind, RankEffect, rank_effect};
pub use rationales::{RepeatedRow, SharedRow, nearly_same};

use super::diagnose::{Finding, Kind};
use crate::model::{Audit, CaseIdentity, LabelId, RaterKind, RaterName, RatingValue};

/// What is known beside the ratings. Everything may be empty: then that is not looked at.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The model behind a rater, as recorded.
    pub models: BTreeMap<String, String>,
    /// The cases in the order in which a rater got them.
    pub order: BTreeMap<RaterName, Vec<CaseIdentity>>,
    /// Characters of what is shown of a case.
    pub lengths: BTreeMap<CaseIdentity, u64>,
    /// Answers of every pass of the models.
    pub passes: Vec<PassValue>,
    /// Cases that hold text that addresses the rater.
    pub flagged: BTreeSet<CaseIdentity>,
}

/// An answer of some pass of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassValue {
    /// The rater.
    pub rater: RaterName,
    /// The case.
    pub case: CaseIdentity,
    /// The pass, from 1.
    pub pass: u32,
    /// The label.
    pub label: LabelId,
    /// The value; `None`: no verdict.
    pub value: Option<RatingValue>,
}

/// What was looked at and what was found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Independence {
    /// The raters with kind and model.
    pub raters: Vec<RaterRow>,
    /// Self-consistency of models that were asked several times.
    pub consistency: Vec<ConsistencyRow>,
    /// Rationales that repeat across cases.
    pub repeated: Vec<RepeatedRow>,
    /// Rationales that both raters of the pair share.
    pub shared: Option<SharedRow>,
    /// Does length or order predict the answer? Every look, whatever it showed.
    pub looks: Vec<Look>,
    /// Mechanical raters are stored, so that a rater who follows the data by rule can be told.
    pub rules_known: bool,
    /// Cases that hold text that addresses the rater; `None`: nobody looked.
    pub flagged: Option<Flagged>,
    /// What a person should act on.
    pub findings: Vec<Finding>,
}

/// A rater as far as independence goes.
#[derive(Debug, Clone, Serialize)]
pub struct RaterRow {
    /// The rater.
    pub rater: RaterName,
    /// Its kind.
    pub kind: RaterKind,
    /// The model behind it, where it is recorded.
    pub model: Option<String>,
    /// Is it one of the two whose agreement is reported?
    pub of_record: bool,
    /// Labels of cases asked for in vain.
    pub no_verdicts: u64,
    /// The same by reason.
    pub reasons: BTreeMap<String, u64>,
}

/// Cases with text that addresses the rater.
#[derive(Debug, Clone, Serialize)]
pub struct Flagged {
    /// How many.
    pub cases: u64,
    /// Which, in the batch's order.
    pub list: Vec<CaseIdentity>,
}

impl Independence {
    /// What was looked at, in a sentence; `None` where nothing could be.
    #[must_use]
    pub fn looked(&self) -> Option<String> {
        let count = |kind| self.looks.iter().filter(|look| look.kind == kind).count();
        let (length, order) = (count(LookKind::Length), count(LookKind::Order));
        let hits = self.looks.iter().filter(|look| look.away).count();
        (length + order > 0).then(|| {
            format!(
                "{} looks at whether length ({length}) or order ({order}) predicts an answer, at a level that allows for all of \
                 them: {} found.",
                length + order,
                if hits == 0 { "nothing".to_owned() } else { hits.to_string() }
            )
        })
    }
}

/// Looks at everything that the evidence allows.
#[must_use]
pub fn independence(audit: &Audit, pair: (&RaterName, &RaterName), evidence: &Evidence) -> Independence {
    let raters: Vec<RaterRow> =
        audit.raters.iter().map(|(name, kind)| row(audit, pair, evidence, name, *kind)).collect();
    // The pair, and every model beside it.
    let judged: Vec<&RaterName> =
        raters.iter().filter(|row| row.of_record || row.kind == RaterKind::Model).map(|row| &row.rater).collect();
    let looks = looks::all(audit, &judged, evidence);
    // Simulated and mechanical raters write phrases, and nobody takes them for reasons.
    let reasoned = |name: &RaterName| {
        raters.iter().any(|row| row.rater == *name && !matches!(row.kind, RaterKind::Simulated | RaterKind::Mechanical))
    };
    let reasoning: Vec<&RaterName> = judged.iter().copied().filter(|name| reasoned(name)).collect();
    let repeated = rationales::repeated(audit, &reasoning);
    let shared = if reasoned(pair.0) && reasoned(pair.1) { rationales::shared(audit, pair) } else { None };
    let mut findings = Vec::new();
    findings.extend(same_model(&raters, pair));
    findings.extend(rationales::findings(&repeated, shared.as_ref()));
    findings.extend(looks.iter().filter(|look| look.away).map(Look::finding));
    let flagged = (!evidence.lengths.is_empty()).then(|| {
        let list: Vec<CaseIdentity> =
            audit.cases.iter().map(|case| &case.case).filter(|case| evidence.flagged.contains(case)).cloned().collect();
        Flagged { cases: list.len() as u64, list }
    });
    Independence {
        consistency: consistency::of(audit, &evidence.passes),
        rules_known: raters.iter().any(|row| row.kind == RaterKind::Mechanical),
        raters,
        repeated,
        shared,
        looks,
        flagged,
        findings,
    }
}

fn row(
    audit: &Audit,
    pair: (&RaterName, &RaterName),
    evidence: &Evidence,
    name: &RaterName,
    kind: RaterKind,
) -> RaterRow {
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for found in audit.no_verdicts.iter().filter(|found| found.rater == *name) {
        *reasons.entry(found.reason.clone()).or_default() += 1;
    }
    RaterRow {
        rater: name.clone(),
        kind,
        model: evidence.models.get(name.as_str()).cloned(),
        of_record: name == pair.0 || name == pair.1,
        no_verdicts: reasons.values().sum(),
        reasons,
    }
}

/// One model behind both names: what looks like agreement is self-consistency.
fn same_model(raters: &[RaterRow], pair: (&RaterName, &RaterName)) -> Option<Finding> {
    let model = |name: &RaterName| {
        let row = raters.iter().find(|row| row.rater == *name && row.kind == RaterKind::Model)?;
        row.model.as_ref().map(|model| model.trim().to_lowercase())
    };
    let (first, second) = (model(pair.0)?, model(pair.1)?);
    (first == second && pair.0 != pair.1).then(|| Finding {
        kind: Kind::SameModel,
        label: None,
        text: format!(
            "{} and {} are the same model, {first}. Their agreement is that model's self-consistency, not agreement between \
             raters: mistakes that it makes each time count as agreement. Take another model or a person as second rater.",
            pair.0, pair.1
        ),
        measure: "raters of record that are this model",
        effect: 2.0,
        interval: None,
    })
}

#[cfg(test)]
mod tests;
