//! What was audited, by whom, under which questions.

use serde::Serialize;

use super::Context;
use crate::model::{BatchName, LabelId, RaterKind, RaterName, StratumId};
use crate::report::BatchKind;

/// The head of a report.
#[derive(Debug, Clone, Serialize)]
pub struct Header {
    /// The batch.
    pub batch: BatchName,
    /// Drawn or taken over.
    pub kind: BatchKind,
    /// The rubric.
    pub rubric: String,
    /// Its title.
    pub rubric_title: String,
    /// Cases.
    pub cases: u64,
    /// Cases that passed, failed and have no verdict on the baseline.
    pub verdicts: Verdicts,
    /// Models in the order of the batch.
    pub models: Vec<String>,
    /// The two raters whose agreement is reported.
    pub pair: [RaterName; 2],
    /// All raters.
    pub raters: Vec<RaterLine>,
    /// The labels in the rubric's order.
    pub labels: Vec<LabelLine>,
    /// The strata in the plan's order.
    pub strata: Vec<StratumLine>,
    /// The last link of the chain of ratings.
    pub chain_head: String,
    /// Its entries.
    pub chain_entries: u64,
}

/// The grader's verdicts on a set of cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Verdicts {
    /// Passed.
    pub pass: u64,
    /// Failed.
    pub fail: u64,
    /// Without a verdict.
    pub unscored: u64,
}

impl Verdicts {
    fn of<'a>(cases: impl Iterator<Item = &'a crate::model::AuditCase>) -> Self {
        let mut verdicts = Self::default();
        for case in cases {
            match case.verdict {
                Some(crate::model::Verdict::Pass) => verdicts.pass += 1,
                Some(crate::model::Verdict::Fail) => verdicts.fail += 1,
                None => verdicts.unscored += 1,
            }
        }
        verdicts
    }
}

/// A rater.
#[derive(Debug, Clone, Serialize)]
pub struct RaterLine {
    /// Name.
    pub name: RaterName,
    /// Person, model, rule, …
    pub kind: RaterKind,
    /// The language model behind it, where known.
    pub model: Option<String>,
    /// One of the pair of record?
    pub of_record: bool,
    /// Ratings given (the latest per case and label); 0 for an adjudicator, who rules instead.
    pub ratings: u64,
}

/// A label.
#[derive(Debug, Clone, Serialize)]
pub struct LabelLine {
    /// Short name.
    pub id: LabelId,
    /// Title.
    pub title: String,
    /// `binary` or `choice`.
    pub kind: &'static str,
    /// Is its agreement averaged?
    pub primary: bool,
    /// Does it follow by rule from another label?
    pub derived: bool,
}

/// A stratum.
#[derive(Debug, Clone, Serialize)]
pub struct StratumLine {
    /// Short name.
    pub id: StratumId,
    /// Title.
    pub title: String,
    /// Cases in the frame; `None`: not known.
    pub population: Option<u64>,
    /// Cases wanted.
    pub quota: Option<u64>,
    /// Cases drawn.
    pub drawn: u64,
    /// Cases wanted and not there.
    pub shortfall: u64,
    /// The verdicts of its cases.
    pub verdicts: Verdicts,
}

pub(super) fn of(context: &Context<'_>) -> Header {
    let audit = context.audit;
    let derived = context.derived_labels();
    let mut models: Vec<String> = Vec::new();
    for case in &audit.cases {
        if !models.contains(&case.model) {
            models.push(case.model.clone());
        }
    }
    let ratings = |name: &RaterName| {
        audit.cases.iter().filter_map(|case| case.ratings.get(name)).map(|given| given.len() as u64).sum()
    };
    Header {
        batch: audit.batch.clone(),
        kind: context.provenance.batch.kind,
        rubric: context.rubric.id.clone(),
        rubric_title: context.rubric.title.clone(),
        cases: audit.cases.len() as u64,
        verdicts: Verdicts::of(audit.cases.iter()),
        models,
        pair: [context.pair.0.clone(), context.pair.1.clone()],
        raters: audit
            .raters
            .iter()
            .map(|(name, kind)| RaterLine {
                name: name.clone(),
                kind: *kind,
                model: context.provenance.rater_models.get(name.as_str()).cloned(),
                of_record: name == context.pair.0 || name == context.pair.1,
                ratings: ratings(name),
            })
            .collect(),
        labels: audit
            .labels
            .iter()
            .map(|id| LabelLine {
                id: id.clone(),
                title: context.title(id),
                kind: if context.is_binary(id) { "binary" } else { "choice" },
                primary: context.rubric.primary.contains(id),
                derived: derived.contains(&id),
            })
            .collect(),
        strata: audit
            .strata
            .iter()
            .map(|stratum| StratumLine {
                id: stratum.id.clone(),
                title: stratum.title.clone(),
                population: stratum.population,
                quota: stratum.quota,
                drawn: stratum.drawn,
                shortfall: stratum.quota.map_or(0, |quota| quota.saturating_sub(stratum.drawn)),
                verdicts: Verdicts::of(audit.cases.iter().filter(|case| case.stratum == stratum.id)),
            })
            .collect(),
        chain_head: context.provenance.chain_head.clone(),
        chain_entries: context.provenance.chain_entries,
    }
}
