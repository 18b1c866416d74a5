//! What a run did and how far the rater has come.

use std::collections::BTreeMap;

use super::{Args, Tally, Work, cases};
use crate::cli::Output;
use crate::cli::desk::Desk;
use crate::error::Result;
use crate::model::{BatchName, RaterName};
use crate::store::{JudgeTotals, Store};

/// Prices of a million tokens.
#[derive(Debug, Clone, Copy)]
pub struct Price {
    pub input: Option<f64>,
    pub output: Option<f64>,
}

impl Price {
    /// The cost of some tokens; `None` where no price is known.
    pub fn of(&self, prompt: u64, answer: u64) -> Option<f64> {
        (self.input.is_some() || self.output.is_some())
            .then(|| (prompt as f64 * self.input.unwrap_or(0.0) + answer as f64 * self.output.unwrap_or(0.0)) / 1e6)
    }

    /// The prices in words.
    pub fn words(&self) -> String {
        format!("{} and {} a million tokens", self.input.unwrap_or(0.0), self.output.unwrap_or(0.0))
    }
}

/// The summary of a run.
#[derive(Debug, serde::Serialize)]
pub struct Summary {
    batch: BatchName,
    rater: RaterName,
    model: String,
    /// Cases of the batch that somebody can rate.
    cases: u64,
    /// Cases and passes answered in this run.
    answered: u64,
    /// Of these, with a label without verdict.
    without_verdict: u64,
    /// Replies that were asked for again.
    asked_again: u64,
    /// Cases and passes asked in vain: open.
    open: u64,
    /// Answered in earlier runs.
    answered_before: u64,
    /// Answered by the same rater by sheet.
    answered_otherwise: u64,
    beyond_limit: u64,
    milliseconds: u64,
    /// Everything stored of this rater in this batch.
    totals: JudgeTotals,
    cost: Option<f64>,
    chain_head: String,
}

pub(super) fn of(
    store: &Store,
    desk: &Desk,
    args: &Args,
    work: &Work,
    tally: &Tally,
    milliseconds: u64,
    price: &Price,
) -> Result<Summary> {
    let totals = store.judge_totals(&desk.batch, &args.rater)?;
    Ok(Summary {
        batch: args.batch.clone(),
        rater: args.rater.clone(),
        model: args.model.clone(),
        cases: desk.usable() as u64,
        answered: tally.answered,
        without_verdict: tally.without,
        asked_again: tally.again,
        open: tally.open,
        answered_before: work.done,
        answered_otherwise: work.answered_otherwise,
        beyond_limit: work.beyond_limit,
        milliseconds,
        cost: price.of(totals.prompt_tokens, totals.completion_tokens),
        totals,
        chain_head: store.chain_head()?,
    })
}

pub(super) fn print(summary: &Summary, output: &mut Output) {
    let seconds = summary.milliseconds as f64 / 1000.0;
    output.line(format!(
        "{} ({}): {} answered in {seconds:.1} s ({} asked again), {} before",
        summary.rater,
        summary.model,
        cases(summary.answered),
        summary.asked_again,
        summary.answered_before,
    ));
    let totals = &summary.totals;
    output.line(format!(
        "pass 1 so far: {} of {} whole, {} with labels without verdict{}",
        totals.verdicts,
        cases(summary.cases),
        totals.no_verdicts,
        reasons(&totals.reasons)
    ));
    if totals.prompt_tokens + totals.completion_tokens > 0 {
        let cost = summary.cost.map_or_else(String::new, |cost| format!(", cost {cost:.4}"));
        output.line(format!(
            "tokens in all: {} of prompts, {} of answers{cost}",
            totals.prompt_tokens, totals.completion_tokens
        ));
    }
    for (count, what) in [
        (totals.flagged, "holding text that addresses the rater: look at their answers"),
        (summary.answered_otherwise, "answered by sheet, not asked"),
        (summary.beyond_limit, "left for later by --limit"),
        (summary.open, "open: asked in vain"),
    ] {
        if count > 0 {
            output.line(format!("{}: {what}", cases(count)));
        }
    }
    output.line(format!("chain head {}", summary.chain_head));
}

/// ` (label_missing 2, refused 7 labels)`, or nothing.
fn reasons(reasons: &BTreeMap<String, u64>) -> String {
    if reasons.is_empty() {
        return String::new();
    }
    let list: Vec<String> = reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    format!(" (labels: {})", list.join(", "))
}
