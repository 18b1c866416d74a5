//! What a draw needs once the command line was understood, the draw itself, and its storing as a batch.

use std::collections::{BTreeMap, BTreeSet};

use super::sharing::{PilotChoice, PilotUse};
use crate::error::{Error, Kind, Result};
use crate::model::{BatchName, CaseIdentity, RunName, Seed, StratumId};
use crate::rubric::Rubric;
use crate::sample::{self, Draw, DrawnCase, Exclusion, Kept, Request, Sharing};
use crate::store::{BatchInfo, FirstRound, NewBatch, NewBatchCase, NewBatchStratum, Store};
use crate::strata::{self, Assigner, BoundPlan, FrameCase, Plan, Role, SqlMatches};

/// A plan over the runs of a database: everything that decides which case belongs where.
pub(in crate::cli) struct Setting {
    pub bound: BoundPlan,
    pub frame: Vec<FrameCase>,
    pub frame_digest: String,
    pub sql_matches: SqlMatches,
}

impl Setting {
    /// Binds a plan and reads its frame.
    pub(in crate::cli) fn open(store: &Store, plan: &Plan, bindings: &BTreeMap<Role, RunName>) -> Result<Self> {
        let mut known = BTreeSet::new();
        for run in store.runs()? {
            known.insert(RunName::parse(&run.name).map_err(|error| Error::internal(error.to_string()))?);
        }
        let bound = strata::bind_known(plan, bindings, &known)?;
        let frame = store.frame(bound.frame_runs().as_ref(), bound.pairs())?;
        let mut sql_matches = SqlMatches::new();
        for (stratum, condition) in bound.sql_conditions() {
            sql_matches.insert(stratum.clone(), store.cases_where(stratum, condition)?);
        }
        let frame_digest = sample::frame_digest(&frame).map_err(|error| Error::internal(error.to_string()))?;
        Ok(Self { bound, frame, frame_digest, sql_matches })
    }

    /// The setting of a stored batch, from its own plan and bindings. The frame may have changed since: compare digests.
    pub(in crate::cli) fn of_batch(store: &Store, batch: &BatchInfo) -> Result<Self> {
        let no_plan = || {
            Error::conflict(format!("batch {} was not drawn here: it has no plan and no frame", batch.name))
                .hint("draw a batch of your own from ingested runs")
        };
        let (digest, name) = batch.plan.as_ref().ok_or_else(no_plan)?;
        let text = store.plan_text(digest)?.ok_or_else(no_plan)?;
        let plan = Plan::parse(name, &text)?;
        let bindings = serde_json::from_str(&batch.bindings).map_err(|error| {
            Error::new(Kind::CheckFailed, format!("the bindings of batch {} cannot be read: {error}", batch.name))
        })?;
        Self::open(store, &plan, &bindings)
    }

    pub(in crate::cli) fn assigner(&self) -> Result<Assigner<'_>> {
        Assigner::new(&self.bound, &self.sql_matches).map_err(|error| Error::internal(error.to_string()))
    }

    /// Earlier batches whose cases are not to be drawn.
    pub(in crate::cli) fn exclusions(&self, store: &Store, names: &[BatchName]) -> Result<Vec<Exclusion>> {
        let assignment = self.assigner()?.digest();
        let mut exclusions = Vec::new();
        for name in names {
            let batch = store.batch(name)?;
            let same_frame = batch.frame.as_ref().is_some_and(|(digest, _)| *digest == self.frame_digest);
            let same_design = same_frame && self.same_assignment(store, &batch, &assignment)?;
            exclusions.push(Exclusion { batch: name.clone(), cases: store.batch_identities(&batch)?, same_design });
        }
        Ok(exclusions)
    }

    /// Did the batch's plan give every case to the stratum that this one gives it to?
    fn same_assignment(&self, store: &Store, batch: &BatchInfo, assignment: &str) -> Result<bool> {
        if let Some(noted) = store.rounds(batch)?.first().and_then(|round| round.assignment.clone()) {
            return Ok(noted == assignment);
        }
        // Earlier programs did not note it: the plan, bound to the batch's runs, decides in the same way.
        let Some((digest, name)) = &batch.plan else { return Ok(false) };
        let Some(text) = store.plan_text(digest)? else { return Ok(false) };
        let Ok(plan) = Plan::parse(name, &text) else { return Ok(false) };
        let Ok(bindings) = serde_json::from_str::<BTreeMap<Role, RunName>>(&batch.bindings) else { return Ok(false) };
        let known = bindings.values().cloned().collect();
        let bound = strata::bind_known(&plan, &bindings, &known).ok();
        Ok(bound.is_some_and(|bound| bound.assignment_digest() == self.bound.assignment_digest()))
    }

    /// The rows of a batch for drawn cases.
    pub(in crate::cli) fn batch_cases<'d>(
        &self,
        draw: &Draw,
        drawn: impl Iterator<Item = &'d DrawnCase>,
    ) -> Result<Vec<NewBatchCase>> {
        let by_identity: BTreeMap<&CaseIdentity, &FrameCase> =
            self.frame.iter().map(|case| (&case.identity, case)).collect();
        let reasons: BTreeMap<&StratumId, Option<String>> =
            draw.strata.iter().map(|s| (&s.id, s.unconditional_reason.clone())).collect();
        let mut cases = Vec::new();
        for drawn in drawn {
            let Some(case) = by_identity.get(&drawn.case) else {
                return Err(Error::internal(format!("{} was drawn but is not in the frame", drawn.case)));
            };
            cases.push(NewBatchCase {
                identity: drawn.case.clone(),
                stratum: drawn.stratum.to_string(),
                model: case.model.clone(),
                category: case.category.to_string(),
                transition: case.transition.map(|transition| transition.to_string()),
                verdict: case.verdict.map(|verdict| verdict.to_string()),
                second_run: self.bound.pairs().get(&case.run).map(ToString::to_string),
                ticket: Some(drawn.ticket.clone()),
                probability: Some(drawn.inclusion_probability),
                unconditional: drawn.unconditional_probability,
                unconditional_reason: reasons.get(&drawn.stratum).cloned().flatten(),
            });
        }
        Ok(cases)
    }
}

/// What a draw needs.
pub(in crate::cli) struct DrawRequest<'a> {
    pub batch: &'a BatchName,
    pub plan: &'a Plan,
    pub plan_text: &'a str,
    pub seed: &'a Seed,
    pub bindings: BTreeMap<Role, RunName>,
    pub exclude: &'a [BatchName],
    pub rubric: &'a Rubric,
    pub rubric_text: &'a str,
    pub sharing: Sharing,
    pub pilot: Option<PilotChoice>,
    /// The frame digest that was published, where one was.
    pub frame: Option<&'a str>,
    pub adversarial: bool,
    pub allow_empty: bool,
    pub command: String,
    pub now: String,
}

/// A draw and what it was made from.
pub(in crate::cli) struct Drawn {
    pub draw: Draw,
    pub setting: Setting,
    pub sharing: Sharing,
    pub pilot: Option<PilotUse>,
}

/// Draws; stores nothing.
pub(in crate::cli) fn draw(store: &Store, request: &DrawRequest<'_>) -> Result<Drawn> {
    let setting = Setting::open(store, request.plan, &request.bindings)?;
    check_frame(request.frame, &setting.frame_digest)?;
    let mut sharing = request.sharing.clone();
    let mut exclude = request.exclude.to_vec();
    let mut pilot = None;
    if let Some(choice) = &request.pilot {
        let found = choice.count(store, &setting)?;
        sharing.pilot.clone_from(&found.counts);
        // Its cases were seen; under its own seed they would all be drawn again.
        if !exclude.contains(&choice.batch) {
            exclude.push(choice.batch.clone());
        }
        pilot = Some(found);
    }
    let exclusions = setting.exclusions(store, &exclude)?;
    let draw = sample::draw(
        &setting.frame,
        &Request {
            plan: &setting.bound,
            seed: request.seed,
            sql_matches: &setting.sql_matches,
            exclusions: &exclusions,
            sharing: &sharing,
            kept: &Kept::new(),
            replacements: &BTreeMap::new(),
            allow_empty: request.allow_empty,
        },
    )?;
    Ok(Drawn { draw, setting, sharing, pilot })
}

/// Is the frame the one whose digest was published?
pub(super) fn check_frame(wanted: Option<&str>, found: &str) -> Result<()> {
    match wanted {
        Some(wanted) if wanted != found => Err(Error::conflict(format!(
            "the frame is not the one that was named: its digest is {found}, --frame says {wanted}"
        ))
        .hint("runs, verdicts or bindings changed since the digest was published")),
        _ => Ok(()),
    }
}

/// Stores a draw as a batch.
pub(in crate::cli) fn keep(store: &mut Store, request: &DrawRequest<'_>, drawn: &Drawn) -> Result<()> {
    let Drawn { draw, setting, .. } = drawn;
    let cases = setting.batch_cases(draw, draw.cases.iter())?;
    let strata = draw
        .strata
        .iter()
        .map(|stratum| NewBatchStratum {
            id: stratum.id.to_string(),
            title: stratum.title.clone(),
            population: Some(stratum.population),
            excluded: stratum.excluded,
            quota: Some(stratum.quota),
            drawn: stratum.n,
            shortfall: stratum.shortfall,
            overlap: stratum.overlap,
        })
        .collect();
    let excluded: Vec<String> = draw.excluded.iter().map(|excluded| excluded.batch.to_string()).collect();
    let allocation = super::sharing::record(&drawn.sharing, drawn.pilot.as_ref());
    store.add_batch(&NewBatch {
        name: request.batch,
        imported: false,
        seed: Some(request.seed.as_str()),
        plan: Some((&draw.plan_digest, &draw.plan, request.plan_text)),
        frame: Some((&draw.frame_digest, setting.frame.len() as u64)),
        rubric: (&request.rubric.digest(), &request.rubric.id, request.rubric_text),
        bindings: &serde_json::to_string(&draw.bindings).unwrap_or_default(),
        excluded: &serde_json::to_string(&excluded).unwrap_or_default(),
        command: &request.command,
        now: &request.now,
        strata,
        cases,
        first: Some(FirstRound {
            assignment: &draw.assignment_digest,
            adversarial: request.adversarial,
            allocation: &allocation.to_string(),
        }),
    })?;
    Ok(())
}

/// Refuses a rubric that shows nothing of units that are told in sections (τ²): its raters would see empty cases.
pub(super) fn check_seen(draw: &Draw, store: &Store, rubric: &Rubric) -> Result<()> {
    use crate::rubric::Shown::{Dialogue, Task, WriteEvent};
    if [Dialogue, Task, WriteEvent].iter().any(|item| rubric.shows(*item)) {
        return Ok(());
    }
    let runs: BTreeSet<&str> = draw.cases.iter().map(|case| case.case.run()).collect();
    for name in runs {
        if store.tau2_run(&store.run(name)?)?.is_some() {
            return Err(Error::usage(format!("the rubric {} shows nothing of runs of τ²-bench", rubric.id)).hint(
                "choose --rubric confirm-v1 (writes), tau2-simulation-v1 (simulations) or ask-candidate-v1 (tasks)",
            ));
        }
    }
    Ok(())
}
