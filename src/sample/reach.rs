//! Reach: what an audit can say nothing about, because no stratum reaches it.
//!
//! A sample speaks for the cases that could be drawn. *Masking* is a pass without the gold action, *execution failure* the
//! gold action and then a fail; so where no passing case of a run can be drawn, nothing follows about masking there.

use serde::Serialize;

use super::frame::{FrameCell, Overlap};
use crate::model::{Category, RunName, Verdict};

/// Something that follows from what the strata reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A short stable name: `unreached`, `partly_reached`, `unscored`, `overlap`, `undrawable`.
    pub code: &'static str,
    /// The run; `None` where it is about the whole frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunName>,
    /// The verdict that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// How many cases.
    pub cases: u64,
    /// The sentence.
    pub text: String,
}

/// What follows, run by run (passing, failing, unscored), then overlaps and cases that cannot be drawn.
pub(super) fn findings(cells: &[FrameCell], overlaps: &[Overlap]) -> Vec<Finding> {
    let mut runs: Vec<&RunName> = cells.iter().map(|cell| &cell.run).collect();
    runs.dedup();
    let mut found = Vec::new();
    for run in runs {
        for verdict in [Some(Verdict::Pass), Some(Verdict::Fail), None] {
            let here: Vec<&FrameCell> =
                cells.iter().filter(|cell| cell.run == *run && cell.verdict == verdict && cell.drawable > 0).collect();
            found.extend(of_run(run, verdict, &here));
        }
    }
    for overlap in overlaps {
        found.push(Finding {
            code: "overlap",
            run: None,
            verdict: None,
            cases: overlap.cases,
            text: format!(
                "{} of stratum {owner} {} the conditions of {} too and {} to {owner}, which is asked first.",
                counted(overlap.cases, "case"),
                if overlap.cases == 1 { "meets" } else { "meet" },
                overlap.also,
                if overlap.cases == 1 { "belongs" } else { "belong" },
                owner = overlap.owner,
            ),
        });
    }
    let undrawable: u64 = cells.iter().map(|cell| cell.undrawable).sum();
    if undrawable > 0 {
        found.push(Finding {
            code: "undrawable",
            run: None,
            verdict: None,
            cases: undrawable,
            text: format!(
                "{} can never be drawn: later copies of a duplicate id, and records without a usable id. The sample says \
                 nothing about them.",
                counted(undrawable, "case")
            ),
        });
    }
    found
}

fn of_run(run: &RunName, verdict: Option<Verdict>, cells: &[&FrameCell]) -> Option<Finding> {
    let (all, owned) = cells.iter().fold((0, 0), |(all, owned), cell| (all + cell.drawable, owned + cell.owned));
    if owned == all {
        return None;
    }
    let model = cells.first().map(|cell| cell.model.as_str()).unwrap_or_default();
    let named = if model == run.as_str() { run.to_string() } else { format!("{run} ({model})") };
    let unreached = all - owned;
    let word = match verdict {
        Some(Verdict::Pass) => "passing",
        Some(Verdict::Fail) => "failing",
        None => "unscored",
    };
    let (question, meaning) = match verdict {
        Some(Verdict::Pass) => ("masking", "a pass without the gold action"),
        Some(Verdict::Fail) => ("execution failure", "the gold action, then a fail"),
        None => ("these cases", "the benchmark gave no verdict"),
    };
    let (code, text) = if verdict.is_none() {
        let text = format!("{} of {named} without a verdict: no stratum reaches {unreached}.", counted(all, "case"));
        ("unscored", text)
    } else if owned == 0 {
        let parts: Vec<String> = cells.iter().map(|cell| format!("{} {}", cell.category, cell.drawable)).collect();
        let text = format!(
            "No stratum reaches a {word} case of {named}: {} ({}). The audit cannot say anything about {question} there \
             ({meaning}).",
            counted(all, "case"),
            parts.join(", ")
        );
        ("unreached", text)
    } else {
        ("partly_reached", partly(&named, word, question, (owned, all), cells))
    };
    Some(Finding { code, run: Some(run.clone()), verdict, cases: unreached, text })
}

fn partly(named: &str, word: &str, question: &str, (owned, all): (u64, u64), cells: &[&FrameCell]) -> String {
    let mut strata: Vec<&str> = Vec::new();
    for stratum in cells.iter().flat_map(|cell| &cell.strata) {
        if !strata.contains(&stratum.stratum.as_str()) {
            strata.push(stratum.stratum.as_str());
        }
    }
    let many = if strata.len() == 1 { "stratum" } else { "strata" };
    let mut text = format!("{owned} of {all} {word} cases of {named} are in reach ({many} {}).", strata.join(", "));
    let none: Vec<Category> = cells.iter().filter(|cell| cell.owned == 0).map(|cell| cell.category).collect();
    if !none.is_empty() {
        let names: Vec<String> = none.iter().map(ToString::to_string).collect();
        text.push_str(&format!(" Nothing follows about {question} in {}.", names.join(", ")));
    }
    let some: Vec<String> = cells
        .iter()
        .filter(|cell| cell.owned > 0 && cell.owned < cell.drawable)
        .map(|cell| format!("{} {} of {}", cell.category, cell.owned, cell.drawable))
        .collect();
    if !some.is_empty() {
        text.push_str(&format!(
            " What is found in {} stands for the cases that the strata choose, not for the others.",
            some.join(", ")
        ));
    }
    text
}

fn counted(count: u64, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
