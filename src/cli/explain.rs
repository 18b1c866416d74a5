//! `dualrater explain`: what each rule set sees in a case, emission by emission.

use super::{Context, Output};
use crate::action::{Classified, StrictRules, StrictVerdict};
use crate::error::{Error, Result};
use crate::gar::{self, CaseEmissions};
use crate::model::{ActionClass, CaseIdentity, Category};
use crate::store::{CaseSource, Store};

/// What each rule set sees in a case, emission by emission
///
/// What each rule set sees in a case, emission by emission: the class, the cue with its byte offset, the rules that acted,
/// and why the classes differ.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The case: run/case_id
    case: CaseIdentity,
    /// Switch rules of `strict`, as in `gar`
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    switch: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    let rules = switches(args.switch.as_deref())?;
    let (category, source) = find(&store, &args.case)?;
    let emissions = CaseEmissions { id: &source.case_id, turns: source.turns.as_deref(), truth: source.truth.as_ref() };
    let rows = gar::explain(category, emissions, &rules);
    if args.json {
        return output.json(&rows);
    }
    output.line(format!("{} · {category} · gold action {}", args.case, category.gold_action()));
    match source.truth.as_ref().map(|truth| gar::gold_turn(category, truth)) {
        None => output.line("no data set is joined: the gold turn is not known"),
        Some(None) => output.line("the ground truth has no gold turn of this kind"),
        Some(Some(turn)) => output.line(format!("gold turn {turn}")),
    }
    if source.turns.is_none() {
        output.line("an inference error stands in place of a result: nothing to classify, never a hit");
        return Ok(());
    }
    let table: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let raw =
                source.turns.as_ref().and_then(|turns| turns.get(row.turn)?.get(row.step)).map_or("", String::as_str);
            let window = if row.in_window == Some(true) { "*" } else { "" };
            vec![
                format!("{}/{}{window}", row.turn, row.step),
                paper(&row.paper),
                strict(&row.strict),
                row.why.clone().unwrap_or_default(),
                excerpt(raw),
            ]
        })
        .collect();
    output.table(&["turn/step", "paper", "strict", "why they differ", "emission"], &table, &[]);
    output.line("* in the gold window, the only place where a hit counts under strict");
    Ok(())
}

/// The rules of `strict` that a list switches on.
pub(super) fn switches(list: Option<&str>) -> Result<StrictRules> {
    match list {
        None => Ok(StrictRules::all()),
        Some(list) => StrictRules::parse(list).map_err(|error| Error::usage(error.to_string())),
    }
}

fn find(store: &Store, case: &CaseIdentity) -> Result<(Category, CaseSource)> {
    let run = store.run(case.run())?;
    if store.tau2_run(&run)?.is_some() {
        return Err(Error::usage(format!(
            "run {} is a run of τ²-bench, whose messages have several labels each",
            run.name
        ))
        .hint(format!("`dualrater tau2 audit {}` counts them", run.name)));
    }
    for category in Category::ALL.into_iter().chain(Category::CHAT) {
        if let Some(found) =
            store.case_sources(&run, category)?.into_iter().find(|source| source.case_id == case.case())
        {
            return Ok((category, found));
        }
    }
    Err(Error::not_found(format!("run {} has no case {}", run.name, case.case())).hint("a case is named run/case_id"))
}

fn class(class: Option<ActionClass>) -> &'static str {
    class.map_or("none", ActionClass::as_str)
}

fn paper(found: &Classified) -> String {
    match (&found.cue, found.form) {
        (Some(cue), _) => format!("{}: {:?} at {}", class(found.class), cue.cue, cue.offset),
        (None, Some(form)) => {
            format!("{}: {form} {}", class(found.class), found.calls.join(", ")).trim_end().to_owned()
        }
        (None, None) => class(found.class).to_owned(),
    }
}

fn strict(found: &StrictVerdict) -> String {
    let rules: Vec<String> = found.fired.iter().map(|hit| hit.rule.to_string()).collect();
    if rules.is_empty() {
        class(found.class).to_owned()
    } else {
        format!("{} ({})", class(found.class), rules.join(", "))
    }
}

fn excerpt(raw: &str) -> String {
    const LENGTH: usize = 90;
    let short: String = raw.chars().take(LENGTH).collect();
    if short.len() < raw.len() { format!("{short}…") } else { short }
}
