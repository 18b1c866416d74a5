//! `dualrater report`: the audit in every form that somebody needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::estimate::population::Question;
use super::{Context, Output, clock};
use crate::agree::Options;
use crate::agree::bootstrap::Plan;
use crate::agree::pairs::NaPolicy;
use crate::error::{Error, Result};
use crate::estimate::findings::{Findings, meaning};
use crate::model::{BatchName, Category, StratumId};
use crate::report::{
    self, BatchKind, BatchProvenance, FrameProvenance, PlanProvenance, Provenance, RoundRecord, RubricProvenance,
    RunProvenance, SamplingRecord, UnusableRecord,
};
use crate::rubric::{GoldTurnRule, Rubric};
use crate::store::{BatchInfo, FileKind, Store};
use crate::strata;

/// Write the audit report: HTML, Markdown, JSON, CSV and LaTeX tables
///
/// Write the audit report: index.html (one file, works offline), report.md, report.json, tables/*.csv and tables.tex, all
/// from one computation.
///
/// Agreement per label and stratum, rates after adjudication with intervals, agreement with GAR case by case, what the
/// adjudicator did, what limits the numbers, and where everything comes from.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(long)]
    batch: BatchName,
    /// The folder to write
    #[arg(long, default_value = "report")]
    out: PathBuf,
    /// What n.a. is: left out, or a category of its own
    #[arg(long, default_value = "drop", value_parser = ["drop", "category"])]
    na: String,
    /// Bootstrap replicates
    #[arg(long, default_value_t = 2000)]
    replicates: u32,
    /// Seed of the bootstrap
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print report.json as well
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    let na = if args.na == "category" { NaPolicy::Category } else { NaPolicy::Drop };
    let options =
        Options { na, bootstrap: Plan { seed: args.seed, replicates: args.replicates }, ..Options::default() };
    let json = write(&store, &args.batch, &args.out, options)?;
    if args.json {
        output.raw(&json);
    } else {
        output.line(format!("report of batch {}: {}", args.batch, args.out.join("index.html").display()));
        output.line(format!("chain head {}", store.chain_head()?));
    }
    Ok(())
}

/// Writes the report of a batch; returns report.json.
pub(super) fn write(store: &Store, batch: &BatchName, out: &Path, options: Options) -> Result<String> {
    let (info, rubric) = Context::batch(store, batch)?;
    let audit = store.audit(&info, rubric.labels.iter().map(|label| label.id.clone()).collect())?;
    let provenance = provenance(store, &info, &audit)?;
    let estimates = estimates(store, &info, &rubric, &audit)?;
    let evidence = super::independence::evidence(store, &info, &rubric, &audit)?;
    let input = report::Input { audit: &audit, rubric: &rubric, options, estimates, provenance, evidence };
    let failed = |error: report::ReportError| Error::data(error.to_string());
    let view = report::view(&input).map_err(failed)?;
    let json = report::json(&view).map_err(failed)?;
    let tables = out.join("tables");
    std::fs::create_dir_all(&tables).map_err(|source| Error::io("make", &tables, &source))?;
    let save =
        |path: PathBuf, text: &str| std::fs::write(&path, text).map_err(|source| Error::io("write", &path, &source));
    save(out.join("index.html"), &report::html(&view))?;
    save(out.join("report.md"), &report::markdown(&view))?;
    save(out.join("report.json"), &json)?;
    save(out.join("tables.tex"), &report::latex_tables(&view))?;
    for (name, text) in report::csv_tables(&view) {
        save(tables.join(name), &text)?;
    }
    Ok(json)
}

/// What follows for the frame, for each label that asks for what GAR counts; nothing where the frame is not known.
fn estimates(store: &Store, batch: &BatchInfo, rubric: &Rubric, audit: &crate::model::Audit) -> Result<Vec<Findings>> {
    let Ok(pair) = super::agree::pair_of_record(audit) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for label in &rubric.labels {
        let meaning = meaning(&label.id, rubric.gold_turn == GoldTurnRule::GroundTruth);
        if batch.imported || meaning.refusal().is_some() {
            continue;
        }
        let question = Question { batch, rubric, audit, pair: (&pair.0, &pair.1), label: &label.id, strict: false };
        let (_, findings) = super::estimate::of(store, &question)?;
        found.extend(findings.not_weighted.is_none().then_some(findings));
    }
    Ok(found)
}

fn provenance(store: &Store, batch: &BatchInfo, audit: &crate::model::Audit) -> Result<Provenance> {
    let joined_runs = store.joins(batch)?;
    let mut names: BTreeSet<String> = joined_runs.values().cloned().collect();
    if !batch.imported {
        names.extend(audit.cases.iter().map(|case| case.case.run().to_owned()));
        names.extend(store.batch_cases(batch)?.into_iter().filter_map(|case| case.second_run));
    }
    let mut runs = Vec::new();
    for name in names {
        let run = store.run(&name)?;
        let mut results = Vec::new();
        for category in Category::ALL {
            results.extend(store.file(&run, category, FileKind::Result)?.map(|file| file.sha256));
        }
        runs.push(RunProvenance {
            text_saved: Some(store.run_has_text(&run)?),
            name: run.name,
            model: run.model,
            condition: run.condition,
            results,
        });
    }
    let chain = store.verify_chain()?;
    let bindings: BTreeMap<String, String> = serde_json::from_str(&batch.bindings).unwrap_or_default();
    let excluded: Vec<String> = serde_json::from_str(&batch.excluded).unwrap_or_default();
    Ok(Provenance {
        program: format!("dualrater {}", env!("CARGO_PKG_VERSION")),
        generated_at: clock::now(),
        command_line: Context::command_line(),
        batch: BatchProvenance {
            name: batch.name.to_string(),
            kind: if batch.imported { BatchKind::Imported } else { BatchKind::Drawn },
            seed: batch.seed.clone(),
            plan: batch.plan.clone().map(|(digest, name)| PlanProvenance { name, digest }),
            frame: batch.frame.clone().map(|(digest, size)| FrameProvenance { digest, size }),
            bindings,
            excluded,
            created_at: batch.created_at.clone(),
            command: batch.command.clone(),
            sampling: sampling(store, batch)?,
        },
        rubric: RubricProvenance { id: batch.rubric.1.clone(), digest: batch.rubric.0.clone() },
        chain_head: chain.head,
        chain_entries: chain.entries,
        joined_runs,
        rater_models: store.rater_models(batch)?,
        runs,
        notes: notes(store, batch, audit)?,
    })
}

/// The rounds of a batch and its unusable cases.
fn sampling(store: &Store, batch: &BatchInfo) -> Result<SamplingRecord> {
    let rounds = store.rounds(batch)?.into_iter().map(|round| RoundRecord {
        round: round.round,
        kind: round.kind.as_str().to_owned(),
        added: round.added,
        ratings_known: round.ratings_known,
        ratings_elsewhere: round.ratings_elsewhere,
        seed: round.seed,
        adversarial: round.adversarial,
        made_at: round.made_at,
        command: round.command,
    });
    let mut unusable = Vec::new();
    for found in store.unusable(batch)? {
        unusable.push(UnusableRecord {
            stratum: StratumId::parse(&found.stratum).map_err(|error| Error::internal(error.to_string()))?,
            case: found.case,
            reason: found.reason,
            declared_at: found.declared_at,
            replaced_by: found.replaced_by,
        });
    }
    Ok(SamplingRecord { rounds: rounds.collect(), unusable })
}

/// What the strata do not reach, where the runs are still as they were when the batch was drawn.
fn unreached(store: &Store, batch: &BatchInfo) -> Result<Vec<String>> {
    let Some((digest, _)) = batch.frame.as_ref().filter(|_| batch.plan.is_some()) else { return Ok(Vec::new()) };
    let setting = super::draw::Setting::of_batch(store, batch)?;
    if setting.frame_digest != *digest {
        return Ok(vec![
            "The runs changed since the batch was drawn: its strata and probabilities are those of the runs as they were."
                .to_owned(),
        ]);
    }
    let frame = crate::sample::frame_report(&setting.frame, &setting.assigner()?);
    Ok(frame.findings.into_iter().filter(|finding| finding.code == "unreached").map(|finding| finding.text).collect())
}

/// What the origin of the batch means for its numbers.
fn notes(store: &Store, batch: &BatchInfo, audit: &crate::model::Audit) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    if let Some((digest, name)) = &batch.plan
        && let Some(text) = store.plan_text(digest)?
        && let Ok(plan) = strata::Plan::parse(name, &text)
        && plan.strata.iter().any(|stratum| stratum.filter.has_gar())
    {
        notes.push(
            "Strata were chosen by the automatic metric itself, with unequal shares. Agreement with GAR, its kappa, \
             sensitivity and specificity, and every pooled rate are those of this sample, not of the run."
                .to_owned(),
        );
    }
    notes.extend(unreached(store, batch)?);
    for (model, run) in store.joins(batch)? {
        let (differ, compared) = store.joined_verdicts(audit, &model, &run)?;
        if differ > 0 {
            notes.push(format!(
                "{model} is joined to run {run}, but {differ} of {compared} cases have another verdict there than in the \
                 audit: it is not the run that was audited, so its agreement with GAR compares two different runs."
            ));
        }
    }
    Ok(notes)
}
