//! `dualrater rate-mechanically`: the labels that follow from the data, stored as a rater of a kind of its own.

use std::collections::BTreeMap;

use super::desk::Desk;
use super::{Context, Output, clock};
use crate::action::RuleSet;
use crate::error::{Error, Result};
use crate::gar::{CaseEvidence, MechanicalAnswer, RubricVersion, mechanical};
use crate::model::{BatchName, Category, LabelId, RaterKind, RaterName};
use crate::rate::ExpectedCase;
use crate::store::{Act, CaseSource, NewRating, Store, StoredCase};

/// Compute the labels that follow from emissions, ground truth and verdict, and store them as a rater of their own.
///
/// The rater is called mechanical-paper or mechanical-strict, after the rule set that reads the emissions. It is never of
/// record; `agree --raters NAME,mechanical-paper` and the report compare the others with it. The same again changes
/// nothing; what comes out differently (say, because a data set was joined since) is stored beside the earlier answer.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(long)]
    batch: BatchName,
    /// The rule set that reads the emissions
    #[arg(long, default_value = "paper", value_parser = ["paper", "strict"])]
    rules: String,
    /// Print what was stored as JSON
    #[arg(long)]
    json: bool,
}

/// What was stored.
#[derive(Debug, serde::Serialize)]
struct Summary {
    batch: BatchName,
    rater: RaterName,
    rubric: String,
    cases: usize,
    stored: usize,
    revised: usize,
    unchanged: usize,
    labels: BTreeMap<LabelId, BTreeMap<String, u64>>,
    chain_head: String,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let mut store = context.store()?;
    let desk = Desk::open(&store, &args.batch)?;
    if desk.batch.imported {
        return Err(Error::conflict(format!(
            "batch {} was made elsewhere: its cases have no text here, so nothing can be computed from their emissions",
            args.batch
        ))
        .hint("the mechanical rater runs on batches that were drawn from ingested runs"));
    }
    let version = version(&desk.rubric.id)?;
    let rules = if args.rules == "strict" { RuleSet::Strict } else { RuleSet::Paper };
    let rater =
        RaterName::parse(&format!("mechanical-{}", args.rules)).map_err(|error| Error::internal(error.to_string()))?;
    let mut evidence = Evidence { store: &store, cells: BTreeMap::new(), text_saved: BTreeMap::new() };
    let expected = desk.expectation(&store, &rater, true)?;
    let source = format!("computed by dualrater {} under the rules {}", env!("CARGO_PKG_VERSION"), args.rules);
    let mut entries = Vec::new();
    let (mut revised, mut unchanged) = (0, 0);
    let mut labels: BTreeMap<LabelId, BTreeMap<String, u64>> = BTreeMap::new();
    for case in &desk.cases {
        let Some(shown) = expected.cases.get(&case.identity) else { continue };
        for (label, (value, rationale)) in evidence.answers(version, rules, case, shown)? {
            if desk.rubric.label(&label).is_none() {
                continue;
            }
            *labels.entry(label.clone()).or_default().entry(value.as_str().to_owned()).or_default() += 1;
            match shown.existing.get(&label) {
                Some(stored) if stored.value == value && stored.rationale == rationale => {
                    unchanged += 1;
                    continue;
                }
                Some(_) => revised += 1,
                None => {}
            }
            entries.push(NewRating {
                act: Act::Rating,
                case: case.identity.clone(),
                label,
                rater: rater.clone(),
                value,
                correct: None,
                rationale,
                case_digest: Some(shown.digest.clone()),
                source: source.clone(),
            });
        }
    }
    drop(expected);
    store.register_rater(&desk.batch, &rater, RaterKind::Mechanical, None, &clock::now())?;
    let chain_head = store.append(&desk.batch, &entries, &clock::now())?;
    let summary = Summary {
        batch: args.batch.clone(),
        rater,
        rubric: desk.rubric.id.clone(),
        cases: desk.cases.len(),
        stored: entries.len(),
        revised,
        unchanged,
        labels,
        chain_head,
    };
    if args.json {
        return output.json(&summary);
    }
    print(&summary, output);
    Ok(())
}

/// The computed questions of a rubric.
fn version(rubric: &str) -> Result<RubricVersion> {
    match rubric {
        "mechanism-v2" => Ok(RubricVersion::V2),
        "mechanism-v3" => Ok(RubricVersion::V3),
        other => Err(Error::data(format!("no label of the rubric {other} is known to follow from the data"))
            .hint("the mechanical rater answers labels of mechanism-v2 and mechanism-v3")),
    }
}

/// Reads each run and category once.
struct Evidence<'s> {
    store: &'s Store,
    cells: BTreeMap<(String, Category), BTreeMap<String, CaseSource>>,
    text_saved: BTreeMap<String, bool>,
}

impl Evidence<'_> {
    fn answers(
        &mut self,
        version: RubricVersion,
        rules: RuleSet,
        case: &StoredCase,
        shown: &ExpectedCase,
    ) -> Result<BTreeMap<LabelId, MechanicalAnswer>> {
        let name = case.identity.run().to_owned();
        let cell = (name.clone(), shown.category);
        if !self.cells.contains_key(&cell) {
            let run = self.store.run(&name)?;
            let sources = self.store.case_sources(&run, shown.category)?;
            self.cells.insert(cell.clone(), sources.into_iter().map(|found| (found.case_id.clone(), found)).collect());
            self.text_saved.insert(name.clone(), self.store.run_has_text(&run)?);
        }
        let found = self.cells.get(&cell).and_then(|cases| cases.get(case.identity.case()));
        let found =
            found.ok_or_else(|| Error::internal(format!("run {name} lacks the drawn case {}", case.identity)))?;
        let seen = CaseEvidence {
            category: shown.category,
            turns: found.turns.as_deref(),
            truth: found.truth.as_ref(),
            verdict: shown.verdict,
            text_saved: self.text_saved.get(&name).copied().unwrap_or(false),
        };
        Ok(mechanical(version, rules, &seen))
    }
}

fn print(summary: &Summary, output: &mut Output) {
    output.line(format!(
        "{}: {} answers to {} cases of batch {} stored ({} revised), {} unchanged",
        summary.rater, summary.stored, summary.cases, summary.batch, summary.revised, summary.unchanged
    ));
    let rows: Vec<Vec<String>> = summary
        .labels
        .iter()
        .map(|(label, values)| {
            let count = |value: &str| values.get(value).copied().unwrap_or(0).to_string();
            vec![label.to_string(), count("1"), count("0"), count("n.a."), count("cannot_judge")]
        })
        .collect();
    output.table(&["label", "1", "0", "n.a.", "cannot judge"], &rows, &[1, 2, 3, 4]);
    output.line("Computed by rule, so no independent evidence; never of record.");
    output.line(format!("next: dualrater agree --batch {} --raters NAME,{}", summary.batch, summary.rater));
    output.line(format!("chain head {}", summary.chain_head));
}
