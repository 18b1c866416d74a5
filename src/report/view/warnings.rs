//! What a reader must know before believing the numbers, found in the data.

use serde::Serialize;

use super::{Agreement, Context, Finals};
use crate::agree::independence::Independence;
use crate::model::{AuditCase, RaterKind, Verdict};
use crate::rubric::GoldTurnRule;

/// A warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// A short stable name.
    pub code: &'static str,
    /// The sentence.
    pub text: String,
}

pub(super) fn of(
    context: &Context<'_>,
    finals: &Finals,
    agreement: &Agreement,
    independence: &Independence,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut add = |code, text: Option<String>| warnings.extend(text.map(|text| Warning { code, text }));
    for note in &context.provenance.notes {
        add("origin", Some(note.clone()));
    }
    add("raters_are_models", raters(context));
    for finding in &independence.findings {
        add("independence", Some(finding.sentence()));
    }
    add("no_verdict", no_verdict(independence));
    add("simulated_raters", simulated(context));
    add("strata_by_outcome", outcome(context));
    add("pooled_above_strata", above_strata(agreement));
    add("strata_short", short(context));
    add("enlarged_after_ratings", enlarged(context));
    add("nonresponse", nonresponse(context));
    add("derived_label", derived(context, agreement));
    add("gold_turn_zero", gold_turn(context));
    add("text_not_saved", unobservable(context));
    add("cannot_judge", cannot_judge(context));
    add("not_final", (!finals.complete).then(|| finals.sentence.clone()));
    add("kappa_undefined", undefined(agreement));
    warnings
}

/// `A, B and C`.
pub(super) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [front @ .., last] => format!("{} and {last}", front.join(", ")),
    }
}

fn kind(context: &Context<'_>, rater: &crate::model::RaterName) -> Option<RaterKind> {
    context.audit.raters.iter().find(|(name, _)| name == rater).map(|(_, kind)| *kind)
}

fn raters(context: &Context<'_>) -> Option<String> {
    let (first, second) = context.pair;
    let both = kind(context, first) == Some(RaterKind::Model) && kind(context, second) == Some(RaterKind::Model);
    let model = |rater: &crate::model::RaterName| context.provenance.rater_models.get(rater.as_str());
    let same = match (model(first), model(second)) {
        (Some(one), Some(other)) if one == other => format!(" Both are {one}."),
        (Some(one), Some(other)) => format!(" They are {one} and {other}."),
        _ => " Whether they are one and the same model is not recorded.".to_owned(),
    };
    both.then(|| {
        format!(
            "{first} and {second} are language models.{same} Where two raters are one model, kappa measures how far that \
             model repeats itself; shared mistakes count as agreement."
        )
    })
}

fn simulated(context: &Context<'_>) -> Option<String> {
    let (first, second) = context.pair;
    [first, second].into_iter().any(|rater| kind(context, rater) == Some(RaterKind::Simulated)).then(|| {
        "Raters of this batch are simulated with known error rates: the report shows how the program works and says nothing \
         about any model."
            .to_owned()
    })
}

fn no_verdict(independence: &Independence) -> Option<String> {
    let rows: Vec<String> = independence
        .raters
        .iter()
        .filter(|row| row.no_verdicts > 0)
        .map(|row| format!("{} on {}", row.rater, row.no_verdicts))
        .collect();
    (!rows.is_empty()).then(|| {
        format!(
            "Models gave no verdict where they were asked for one: {} labels of cases. These are left out of agreement and counted \
             beside it, with their reasons.",
            listed(&rows)
        )
    })
}

/// Strata all of whose cases have one and the same verdict.
fn outcome(context: &Context<'_>) -> Option<String> {
    let constant = |wanted: Verdict| -> Vec<String> {
        let has = |stratum: &crate::model::AuditStratum| {
            let mut cases = context.audit.cases.iter().filter(|case| case.stratum == stratum.id).peekable();
            cases.peek().is_some() && cases.all(|case| case.verdict == Some(wanted))
        };
        context.audit.strata.iter().filter(|stratum| has(stratum)).map(|stratum| stratum.id.to_string()).collect()
    };
    let (failed, passed) = (constant(Verdict::Fail), constant(Verdict::Pass));
    let strata = |ids: &[String], verb: &str| {
        let word = if ids.len() == 1 { "stratum" } else { "strata" };
        (!ids.is_empty()).then(|| format!("every case of {word} {} {verb}", listed(ids)))
    };
    let parts: Vec<String> =
        [strata(&failed, "failed at baseline"), strata(&passed, "passed")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| {
        let mut text = parts.join("; ");
        if let Some(first) = text.get(..1) {
            text = first.to_uppercase() + text.get(1..).unwrap_or_default();
        }
        format!(
            "{text}. Cases chosen by their outcome stand for cases of that outcome only: a stratum's rate is not the rate of \
             its model and category, and a rate or kappa over all strata is not one of any population."
        )
    })
}

fn above_strata(agreement: &Agreement) -> Option<String> {
    let rows: Vec<String> = agreement
        .labels
        .iter()
        .filter_map(|row| {
            let [low, high] = row.pooled_above_strata?;
            Some(format!("{} ({:.2} pooled, {low:.2} to {high:.2} inside)", row.dropped.label, row.dropped.kappa?))
        })
        .collect();
    (!rows.is_empty()).then(|| {
        format!(
            "The pooled kappa is above that of every stratum in which it is defined for {}: the raters agree on how strata \
             differ more than on the cases inside them.",
            listed(&rows).replace('-', "\u{2212}")
        )
    })
}

fn short(context: &Context<'_>) -> Option<String> {
    let rows: Vec<String> = context
        .audit
        .strata
        .iter()
        .filter_map(|stratum| {
            let quota = stratum.quota.filter(|quota| stratum.drawn < *quota)?;
            Some(format!("{} has {} of {quota}", stratum.id, stratum.drawn))
        })
        .collect();
    (!rows.is_empty()).then(|| format!("Strata short of their quota: {}.", listed(&rows)))
}

fn enlarged(context: &Context<'_>) -> Option<String> {
    let rounds: Vec<String> = context
        .provenance
        .batch
        .sampling
        .rounds
        .iter()
        .filter(|round| round.kind == "extension" && round.ratings_known > 0)
        .map(|round| {
            format!("round {} added {} cases when {} ratings were known", round.round, round.added, round.ratings_known)
        })
        .collect();
    (!rounds.is_empty()).then(|| {
        format!(
            "The batch was enlarged after ratings came in: {}. If the size hangs on what they said, no interval here holds.",
            listed(&rounds)
        )
    })
}

fn nonresponse(context: &Context<'_>) -> Option<String> {
    let unusable = context.provenance.batch.sampling.unusable.len();
    (unusable > 0).then(|| {
        format!(
            "{unusable} of {} cases could not be rated by anybody. Rates and agreement leave them out and stand for the others; \
             the bounds beside them hold whatever the answers would have been.",
            context.audit.cases.len()
        )
    })
}

fn derived(context: &Context<'_>, agreement: &Agreement) -> Option<String> {
    let labels: Vec<String> = context
        .derived_labels()
        .into_iter()
        .filter(|label| context.rubric.primary.contains(label))
        .map(ToString::to_string)
        .collect();
    let (with, without) = (agreement.mean.as_ref()?, agreement.mean_without_derived.as_ref()?);
    Some(format!(
        "{} by rule from other answers and must not be averaged into a mean kappa as if judged on {} own: the mean over the \
         primary labels is {:.3} with and {:.3} without.",
        if labels.len() == 1 { format!("{} follows", listed(&labels)) } else { format!("{} follow", listed(&labels)) },
        if labels.len() == 1 { "its" } else { "their" },
        with.mean,
        without.mean,
    ))
}

fn gold_turn(context: &Context<'_>) -> Option<String> {
    use crate::model::Category::{MissFunc, MissParam};
    let missing = |case: &&AuditCase| matches!(case.category, MissFunc | MissParam);
    let cases = context.audit.cases.iter().filter(missing).count();
    let rule = context.rubric.gold_turn == GoldTurnRule::ZeroForMissing;
    (rule && cases > 0 && context.label("B1a").is_some()).then(|| {
        format!(
            "The rubric puts the gold turn of the {cases} miss_func and miss_param cases at turn 0, whatever the ground truth \
             says. Where something is missing later only, a call at turn 0 is right and B1a is still 0."
        )
    })
}

fn unobservable(context: &Context<'_>) -> Option<String> {
    let runs: Vec<String> = context
        .provenance
        .runs
        .iter()
        .filter(|run| run.text_saved == Some(false))
        .map(|run| run.name.clone())
        .collect();
    (!runs.is_empty()).then(|| {
        format!(
            "No case of {} holds text beside calls: the benchmark did not keep it, so asking, refusing and confirming cannot \
             be observed there, and an automatic rate of 0 means nothing.",
            listed(&runs)
        )
    })
}

fn cannot_judge(context: &Context<'_>) -> Option<String> {
    use crate::model::RatingValue::CannotJudge;
    let answered = |case: &AuditCase| {
        let (first, second) = context.pair;
        let said = |rater| context.audit.labels.iter().any(|label| case.value(rater, label) == Some(&CannotJudge));
        said(first) || said(second)
    };
    let cases = context.audit.cases.iter().filter(|case| answered(case)).count();
    (cases > 0).then(|| {
        format!(
            "On {cases} of {} cases a rater could not judge at least one label because the text was not saved; these answers \
             are left out and counted. The published rules have no such answer: there it counts as a value that is not 1.",
            context.audit.cases.len()
        )
    })
}

fn undefined(agreement: &Agreement) -> Option<String> {
    let rows: Vec<String> = agreement
        .labels
        .iter()
        .filter(|row| row.dropped.kappa.is_none())
        .map(|row| format!("{} ({})", row.dropped.label, row.dropped.reason_text.unwrap_or("no reason")))
        .collect();
    (!rows.is_empty()).then(|| format!("Kappa is undefined for {}.", listed(&rows)))
}
