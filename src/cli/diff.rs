//! `dualrater diff`: the cases that hit under one rule set and not under the other, by rule.

use super::{Context, Output, explain, gar as gar_command};
use crate::error::{Error, Result};
use crate::gar::{self, CaseEmissions, CellDiff};

/// The cases that change between two rule sets, by rule
///
/// The cases whose hit changes between the rule sets `paper` and `strict`, by the rule that decides.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The two rule sets
    #[arg(long, default_value = "paper,strict")]
    rules: String,
    /// Only this run (may be repeated)
    #[arg(long)]
    run: Vec<String>,
    /// Switch rules of `strict`, as in `gar`
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    switch: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(serde::Serialize)]
struct Row {
    run: String,
    category: crate::model::Category,
    #[serde(flatten)]
    diff: CellDiff,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    if args.rules != "paper,strict" {
        return Err(Error::usage(format!("cannot compare {:?}", args.rules)).hint("the pair is --rules paper,strict"));
    }
    let store = context.store()?;
    let rules = explain::switches(args.switch.as_deref())?;
    let mut rows = Vec::new();
    for cell in gar_command::cells(&store, &args.run)? {
        let sources = store.case_sources(&store.run(&cell.run)?, cell.category)?;
        let cases = sources.iter().map(|source| CaseEmissions {
            id: &source.case_id,
            turns: source.turns.as_deref(),
            truth: source.truth.as_ref(),
        });
        let diff = gar::diff(cell.category, cases, &rules);
        rows.push(Row { run: cell.run, category: cell.category, diff });
    }
    if args.json {
        return output.json(&rows);
    }
    for row in rows {
        let CellDiff { n, left_out, both, neither, changed, by_rule, several } = &row.diff;
        output.line(format!(
            "{} {}: {} of {n} cases change ({both} hit under both, {neither} under neither, {left_out} not known under strict)",
            row.run,
            row.category,
            changed.len()
        ));
        for (rule, change) in by_rule {
            output.line(format!("   {rule}: {} lost, {} gained", change.lost, change.gained));
        }
        if several.lost + several.gained > 0 {
            output.line(format!("   several rules together: {} lost, {} gained", several.lost, several.gained));
        }
        for case in changed {
            let rules: Vec<String> = case.rules.iter().map(ToString::to_string).collect();
            let rules = if rules.is_empty() { "several rules".to_owned() } else { rules.join(", ") };
            let how = if case.paper { "paper only" } else { "strict only" };
            output.line(format!("   {}/{} {how}: {rules}", row.run, case.id));
        }
    }
    Ok(())
}
