//! Case by case: the adjudicated label against the automatic metric (GAR, any turn, rule set `paper`).
//!
//! The label is taken as the truth and the metric as the test: a case that the metric counts as a hit and the raters do
//! not is a false positive.

use serde::Serialize;

use super::{Context, Count, ReportError};
use crate::agree::{Table, Undefined, kappa};
use crate::model::{AuditCase, CaseIdentity, Category, LabelId, RatingValue, StratumId};

/// Agreement of the adjudicated labels with the automatic metric.
#[derive(Debug, Clone, Serialize)]
pub struct GarSection {
    /// Cases of the batch.
    pub cases: u64,
    /// Cases for which the metric is known.
    pub joined: u64,
    /// What can be said, in a sentence.
    pub sentence: String,
    /// Why two equal rates are no agreement.
    pub equal_rates_note: &'static str,
    /// The comparison per label; empty where no run is joined or there are no finals.
    pub labels: Vec<GarLabel>,
}

/// One label against the metric.
#[derive(Debug, Clone, Serialize)]
pub struct GarLabel {
    /// The label.
    pub label: LabelId,
    /// How its definition and the metric's differ.
    pub definitions: &'static str,
    /// Over all cases of the batch.
    pub pooled: Cross,
    /// Per model and category.
    pub cells: Vec<CellCross>,
    /// Per stratum.
    pub strata: Vec<StratumCross>,
    /// The cases on which label and metric differ.
    pub disagreeing: Vec<GarCase>,
}

/// One cell's cross-table.
#[derive(Debug, Clone, Serialize)]
pub struct CellCross {
    /// The model.
    pub model: String,
    /// The category.
    pub category: Category,
    /// The cross-table.
    #[serde(flatten)]
    pub cross: Cross,
}

/// One stratum's cross-table.
#[derive(Debug, Clone, Serialize)]
pub struct StratumCross {
    /// The stratum.
    pub stratum: StratumId,
    /// The cross-table.
    #[serde(flatten)]
    pub cross: Cross,
}

/// A case on which label and metric differ.
#[derive(Debug, Clone, Serialize)]
pub struct GarCase {
    /// The case.
    pub case: CaseIdentity,
    /// Its model.
    pub model: String,
    /// Its category.
    pub category: Category,
    /// Its stratum.
    pub stratum: StratumId,
    /// The adjudicated value.
    pub label_value: String,
    /// Does the metric count it as a hit?
    pub gar_hit: bool,
}

/// A cross-table. `tp + fp + fn + tn = n`; `n` and what is left out make the cases.
#[derive(Debug, Clone, Serialize)]
pub struct Cross {
    /// Cases.
    pub cases: u64,
    /// Cases with both.
    pub n: u64,
    /// Label 1, metric hit.
    pub tp: u64,
    /// Label 0, metric hit.
    pub fp: u64,
    /// Label 1, metric no hit.
    #[serde(rename = "fn")]
    pub false_negatives: u64,
    /// Label 0, metric no hit.
    pub tn: u64,
    /// Cases without one of the two.
    pub left_out: CrossLeftOut,
    /// tp of tp + fn.
    pub sensitivity: Count,
    /// tn of tn + fp.
    pub specificity: Count,
    /// Adjudicated rate over the `n` cases.
    pub label_rate: Count,
    /// The metric over the same cases.
    pub gar_rate: Count,
    /// Share of cases on which both say the same.
    pub po: Option<f64>,
    /// Cohen's kappa of label and metric.
    pub kappa: Option<f64>,
    /// Its large-sample standard error.
    pub se: Option<f64>,
    /// κ ± 1.96 SE.
    pub ci95: Option<[f64; 2]>,
    /// Why kappa or its interval is missing.
    pub reason: Option<Undefined>,
    /// The same in a sentence.
    pub reason_text: Option<&'static str>,
}

/// Why cases are not in a cross-table; a case counts once, in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CrossLeftOut {
    /// No run is joined, or the run does not hold the case.
    pub no_gar: u64,
    /// No final value: a rating or a ruling is missing.
    pub no_final: u64,
    /// The label does not apply.
    pub na: u64,
    /// The text was not saved.
    pub cannot_judge: u64,
}

const EQUAL_RATES: &str = "Two equal rates are not agreement: the label and the metric can each say yes in ten cases out of a \
    hundred and never in the same one. What counts is the table of cases.";

const LATER: &str = "The metric takes any emission of any turn by its cue phrases. B1b takes whole turns from the gold turn on, \
    as a rater reads them, and a turn with a call is a tool-call turn whatever else it says. So the metric can be a hit \
    where B1b is 0: words that only look like a refusal or a question, one beside a call, or one before the gold turn. \
    The reverse needs a refusal or question without any of the cue phrases, or a call in a form that the classifier does not \
    know.";

const AT_GOLD_TURN: &str = "B1a asks about one turn, the metric about the whole conversation. A model that gets there later is a \
    hit for the metric and 0 for B1a, so the two measure different things even where both are right; B1b is the label to \
    compare.";

const OF_TAU2: &str = "For τ²-bench the metric is the benchmark's own check: every reference action was matched by some call, its compared \
    arguments equal, or, where there is none, no call wrote. An early end counts as a hit under the rule set paper, because \
    nothing was checked. A rater reads the same calls, and may take other arguments for the same. For a chat log the metric is whether any \
    emission has the due class by its form or its cue phrases; a rater asks whether it was shown where it was due.";

const NO_METRIC: &str = "The cases are database writes or tasks, for which there is no automatic metric: what the raters say is \
    all there is.";

pub(super) fn of(context: &Context<'_>, rated: bool) -> Result<GarSection, ReportError> {
    let cases = context.audit.cases.len() as u64;
    let joined = context.audit.cases.iter().filter(|case| case.gar_hit.is_some()).count() as u64;
    let known: Vec<(&LabelId, &'static str)> = [("B1b", LATER), ("B1a", AT_GOLD_TURN), ("gold_action", OF_TAU2)]
        .into_iter()
        .filter_map(|(name, text)| Some((context.label(name)?, text)))
        .collect();
    let unmeasured = |case: &AuditCase| matches!(case.category, Category::Tau2Write | Category::Tau2Task);
    let sentence = if cases > 0 && context.audit.cases.iter().all(unmeasured) {
        NO_METRIC.to_owned()
    } else if joined == 0 {
        "No run is joined to this audit, so nothing here says whether the automatic metric is right. Join the runs that the \
         cases come from to get the case-level comparison."
            .to_owned()
    } else if known.is_empty() {
        "The rubric has no label that means what the automatic metric means (B1b, B1a or gold_action).".to_owned()
    } else if !rated {
        "There are no final values yet, so there is nothing to compare the automatic metric with.".to_owned()
    } else {
        format!("The automatic metric is known for {joined} of {cases} cases.")
    };
    let mut labels = Vec::new();
    if joined > 0 && rated {
        for (label, definitions) in known {
            labels.push(compare(context, label, definitions)?);
        }
    }
    Ok(GarSection { cases, joined, sentence, equal_rates_note: EQUAL_RATES, labels })
}

fn compare(context: &Context<'_>, label: &LabelId, definitions: &'static str) -> Result<GarLabel, ReportError> {
    let mut cells = Vec::new();
    for (model, category) in context.cells() {
        let cross = cross(context, label, |case| case.model == model && case.category == category)?;
        cells.push(CellCross { model: model.to_owned(), category, cross });
    }
    let mut strata = Vec::new();
    for stratum in &context.audit.strata {
        let cross = cross(context, label, |case| case.stratum == stratum.id)?;
        strata.push(StratumCross { stratum: stratum.id.clone(), cross });
    }
    let disagreeing = context.audit.cases.iter().filter_map(|case| {
        let (value, hit) = both(context, case, label).ok()?;
        (value != hit).then(|| GarCase {
            case: case.case.clone(),
            model: case.model.clone(),
            category: case.category,
            stratum: case.stratum.clone(),
            label_value: if value { "1" } else { "0" }.to_owned(),
            gar_hit: hit,
        })
    });
    let disagreeing = disagreeing.collect();
    let pooled = cross(context, label, |_| true)?;
    Ok(GarLabel { label: label.clone(), definitions, pooled, cells, strata, disagreeing })
}

enum Missing {
    Gar,
    Final,
    NotApplicable,
    CannotJudge,
}

/// Label and metric of a case.
fn both(context: &Context<'_>, case: &AuditCase, label: &LabelId) -> Result<(bool, bool), Missing> {
    let hit = case.gar_hit.ok_or(Missing::Gar)?;
    match case.final_value(context.pair, label) {
        None => Err(Missing::Final),
        Some(RatingValue::NotApplicable) => Err(Missing::NotApplicable),
        Some(RatingValue::CannotJudge) => Err(Missing::CannotJudge),
        Some(value) => Ok((value.is_one(), hit)),
    }
}

fn cross(context: &Context<'_>, label: &LabelId, keep: impl Fn(&AuditCase) -> bool) -> Result<Cross, ReportError> {
    let (mut cases, mut tp, mut fp, mut misses, mut tn) = (0, 0, 0, 0, 0);
    let mut left_out = CrossLeftOut::default();
    for case in context.audit.cases.iter().filter(|case| keep(case)) {
        cases += 1;
        match both(context, case, label) {
            Ok((true, true)) => tp += 1,
            Ok((false, true)) => fp += 1,
            Ok((true, false)) => misses += 1,
            Ok((false, false)) => tn += 1,
            Err(Missing::Gar) => left_out.no_gar += 1,
            Err(Missing::Final) => left_out.no_final += 1,
            Err(Missing::NotApplicable) => left_out.na += 1,
            Err(Missing::CannotJudge) => left_out.cannot_judge += 1,
        }
    }
    let table = Table::from_counts(vec!["1".to_owned(), "0".to_owned()], &[vec![tp, misses], vec![fp, tn]])?;
    let kappa = kappa::cohen(&table);
    let n = table.n();
    Ok(Cross {
        cases,
        n,
        tp,
        fp,
        false_negatives: misses,
        tn,
        left_out,
        sensitivity: Count::new(tp, tp + misses),
        specificity: Count::new(tn, tn + fp),
        label_rate: Count::new(tp + misses, n),
        gar_rate: Count::new(tp + fp, n),
        po: kappa.po,
        kappa: kappa.kappa,
        se: kappa.se,
        ci95: kappa.interval(context.options.z).ok(),
        reason: kappa.reason,
        reason_text: kappa.reason.map(Undefined::text),
    })
}
