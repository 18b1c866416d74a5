//! `dualrater tau2 ask-candidates`: tasks that may call for a question.

use std::collections::BTreeMap;

use crate::cli::{Context, Output, clock, draw};
use crate::error::{Error, Result};
use crate::model::{BatchName, RunName, Seed};
use crate::strata::{self, Plan, Role};
use crate::tau2::{AskLabel, Domain, published_ask_labels};

/// Tasks that may call for a question, by the keyword rule; with --batch as a batch to rate
///
/// The keyword rule finds words such as "if the agent asks" in the user's instructions. Whether a task does call for a
/// question is for two raters to say: --batch makes a batch of all candidates with the rubric ask-candidate-v1.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ingested runs whose tasks are looked at, one a domain
    #[arg(long, required = true)]
    run: Vec<RunName>,
    /// Make a batch of all candidates
    #[arg(long)]
    batch: Option<BatchName>,
    /// The rubric of the batch
    #[arg(long, default_value = "ask-candidate-v1")]
    rubric: String,
    /// Seed of the batch; it only shuffles, as every candidate is taken
    #[arg(long, default_value = "ask-candidates")]
    seed: Seed,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(serde::Serialize)]
struct Candidate {
    run: String,
    domain: Domain,
    task_id: String,
    class: &'static str,
    keywords: Vec<&'static str>,
    /// The published label of the task of this number; not shown to raters.
    published: Option<AskLabel>,
    in_paper_ask_subset: Option<bool>,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let mut store = context.store()?;
    let mut candidates = Vec::new();
    let mut bindings = BTreeMap::new();
    for name in &args.run {
        let run = store.run(name.as_str())?;
        let facts =
            store.tau2_facts(&run)?.ok_or_else(|| Error::usage(format!("run {name} is not a run of τ²-bench")))?;
        let role = Role::parse(facts.domain.as_str()).map_err(|error| Error::internal(error.to_string()))?;
        if let Some(other) = bindings.insert(role, name.clone()) {
            return Err(Error::usage(format!("runs {other} and {name} are both of {}", facts.domain))
                .hint("their tasks are the same; name one run a domain"));
        }
        let published: BTreeMap<&str, _> =
            published_ask_labels(facts.domain).map(|label| (label.task, label)).collect();
        for task in facts.tasks.iter().filter(|task| task.ask()) {
            let known = published.get(task.id.as_str());
            candidates.push(Candidate {
                run: name.to_string(),
                domain: facts.domain,
                task_id: task.id.clone(),
                class: if task.refuse() { "REFUSE" } else { "TOOL_CALL" },
                keywords: task.keywords(),
                published: known.map(|label| label.label),
                in_paper_ask_subset: known.map(|label| label.in_paper),
            });
        }
    }
    if let Some(batch) = &args.batch {
        let text = strata::bundled("tau2-ask").ok_or_else(|| Error::internal("the plan tau2-ask is missing"))?;
        let plan = Plan::parse("tau2-ask", text)?;
        let (rubric, rubric_text) = crate::cli::rubric::load(&args.rubric)?;
        let request = draw::DrawRequest {
            batch,
            plan: &plan,
            plan_text: text,
            seed: &args.seed,
            bindings,
            exclude: &[],
            rubric: &rubric,
            rubric_text: &rubric_text,
            allow_empty: true,
            command: Context::command_line(),
            now: clock::now(),
        };
        let (drawn, bound) = draw::draw(&store, &request)?;
        if drawn.cases.is_empty() {
            return Err(Error::data("no task is a candidate; nothing was stored"));
        }
        draw::keep(&mut store, &request, &drawn, &bound)?;
    }
    if args.json {
        return output.json(&candidates);
    }
    let rows: Vec<Vec<String>> = candidates
        .iter()
        .map(|candidate| {
            vec![
                format!("{} {}", candidate.domain, candidate.task_id),
                candidate.class.to_owned(),
                candidate.keywords.join(", "),
            ]
        })
        .collect();
    output.table(&["task", "class", "words found"], &rows, &[]);
    output.line(format!("{} candidates", candidates.len()));
    if let Some(batch) = &args.batch {
        output.line(format!("batch {batch}: next: dualrater export --batch {batch} --rater NAME --as csv"));
    }
    Ok(())
}
