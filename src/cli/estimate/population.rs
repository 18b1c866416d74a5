//! The frame and the audited cases of a batch, as estimation reads them.

use std::collections::{BTreeMap, BTreeSet};

use crate::cli::Context;
use crate::error::{Error, Result};
use crate::estimate::findings::{
    Answer, AuditedCase, Cell, Frame, FrameGroup, Input, Meaning, Metric, Reach, StratumDesign, meaning,
};
use crate::gar::{self, CaseEmissions};
use crate::model::{Audit, CaseIdentity, Category, LabelId, RaterName, RunName, StratumId, Verdict};
use crate::rubric::{GoldTurnRule, Rubric};
use crate::sample;
use crate::store::{BatchInfo, CaseSource, Store, StoredCase};
use crate::strata::{self, Assigner, BoundPlan, FrameCase, Plan, Role, SqlMatches};

/// What is asked of a batch.
pub(in crate::cli) struct Question<'a> {
    pub batch: &'a BatchInfo,
    pub rubric: &'a Rubric,
    pub audit: &'a Audit,
    pub pair: (&'a RaterName, &'a RaterName),
    pub label: &'a LabelId,
    pub strict: bool,
}

/// Everything that is estimated from.
pub(in crate::cli) fn input(store: &Store, question: &Question<'_>) -> Result<Input> {
    let from_truth = question.rubric.gold_turn == GoldTurnRule::GroundTruth;
    let meaning = meaning(question.label, from_truth);
    let metric = meaning.metric(question.strict);
    let mut sources = Sources { store, read: BTreeMap::new() };
    let drawn = store.batch_cases(question.batch)?;
    Ok(Input {
        label: question.label.clone(),
        metric,
        meaning,
        strata: strata_of(question.audit),
        frame: frame(store, question.batch, &drawn, metric, &mut sources)?,
        cases: cases(store, question, &mut sources)?,
    })
}

fn strata_of(audit: &Audit) -> Vec<StratumDesign> {
    let design = |stratum: &crate::model::AuditStratum| StratumDesign {
        id: stratum.id.clone(),
        population: stratum.population,
        drawn: stratum.drawn,
    };
    audit.strata.iter().map(design).collect()
}

/// Reads each run and category once.
struct Sources<'s> {
    store: &'s Store,
    read: BTreeMap<(String, Category), BTreeMap<String, CaseSource>>,
}

impl Sources<'_> {
    fn case(&mut self, run: &str, category: Category, case: &str) -> Result<Option<&CaseSource>> {
        let key = (run.to_owned(), category);
        if !self.read.contains_key(&key) {
            let sources = self.store.case_sources(&self.store.run(run)?, category)?;
            let by_id = sources.into_iter().map(|source| (source.case_id.clone(), source)).collect();
            self.read.insert(key.clone(), by_id);
        }
        Ok(self.read.get(&key).and_then(|cases| cases.get(case)))
    }
}

fn emissions(source: &CaseSource) -> CaseEmissions<'_> {
    CaseEmissions { id: &source.case_id, turns: source.turns.as_deref(), truth: source.truth.as_ref() }
}

fn cases(store: &Store, question: &Question<'_>, sources: &mut Sources<'_>) -> Result<Vec<AuditedCase>> {
    let joins = store.joins(question.batch)?;
    let unusable: BTreeSet<CaseIdentity> =
        store.unusable(question.batch)?.into_iter().map(|declared| declared.case).collect();
    let mut found = Vec::with_capacity(question.audit.cases.len());
    for case in &question.audit.cases {
        let own = (!question.batch.imported).then(|| case.case.run().to_owned());
        let run = own.clone().or_else(|| joins.get(&case.model).cloned());
        let source = match &run {
            Some(run) => sources.case(run, case.category, case.case.case())?,
            None => None,
        };
        let (hits, cues) = match source {
            Some(source) => gar::metric_reading(case.category, &emissions(source)),
            None => ([None; 4], Default::default()),
        };
        let value = |rater: &RaterName| case.value(rater, question.label).cloned();
        found.push(AuditedCase {
            case: case.case.clone(),
            cell: Cell { run: own, model: case.model.clone(), category: case.category },
            stratum: case.stratum.clone(),
            answer: if unusable.contains(&case.case) {
                Answer::Unusable
            } else {
                Answer::of(case.final_value(question.pair, question.label))
            },
            values: [value(question.pair.0), value(question.pair.1)],
            hits,
            cues,
        });
    }
    Ok(found)
}

const MADE_ELSEWHERE: &str = "the audit was made elsewhere: which cases could have been drawn, and with what chance, is not known, \
    so its rates are those of the audited cases";
const CHANGED: &str = "the frame is not the one that the batch was drawn from any more (a score file or other cases came since), so \
    its strata cannot be counted again";

/// What the cases of a group have in common.
type Group = (Cell, Reach, Option<Verdict>);

/// The frame of a batch in counts.
fn frame(
    store: &Store,
    batch: &BatchInfo,
    drawn: &[StoredCase],
    metric: Metric,
    sources: &mut Sources<'_>,
) -> Result<Frame> {
    if batch.imported {
        return Ok(Frame::Unknown { reason: MADE_ELSEWHERE.to_owned() });
    }
    let Some((plan, frame)) = drawn_from(store, batch)? else {
        return Ok(Frame::Unknown { reason: CHANGED.to_owned() });
    };
    let mut matches = SqlMatches::new();
    for (stratum, condition) in plan.sql_conditions() {
        matches.insert(stratum.clone(), store.cases_where(stratum, condition)?);
    }
    let assigner = Assigner::new(&plan, &matches).map_err(|error| Error::internal(error.to_string()))?;
    let ids: Vec<StratumId> = plan.strata().map(|(stratum, _)| stratum.id.clone()).collect();
    let taken = taken(store, batch, drawn)?;
    let mut counts: BTreeMap<Group, (u64, u64, u64)> = BTreeMap::new();
    for case in &frame {
        let owner = assigner.owner(case).and_then(|index| ids.get(index));
        let reach = match owner {
            _ if !case.drawable => Reach::Undrawable,
            None => Reach::NoStratum,
            Some(id) if taken.get(id).is_some_and(|cases| cases.contains(&case.identity)) => Reach::Taken,
            Some(id) => Reach::Stratum(id.clone()),
        };
        let hit = match metric {
            Metric::AnyTurnPaper => Some(case.gar_hit),
            _ if reach == Reach::Undrawable => None,
            _ => sources
                .case(case.run.as_str(), case.category, case.identity.case())?
                .and_then(|source| gar::metric_hit(metric, case.category, &emissions(source))),
        };
        let cell = Cell { run: Some(case.run.to_string()), model: case.model.clone(), category: case.category };
        let (cases, hits, unknown) = counts.entry((cell, reach, case.verdict)).or_default();
        *cases += 1;
        *hits += u64::from(hit == Some(true));
        *unknown += u64::from(hit.is_none());
    }
    let group =
        |((cell, reach, verdict), (cases, hits, unknown))| FrameGroup { cell, reach, verdict, cases, hits, unknown };
    Ok(Frame::Known { groups: counts.into_iter().map(group).collect() })
}

/// The bound plan and the frame that a batch was drawn from, if it can still be had.
fn drawn_from(store: &Store, batch: &BatchInfo) -> Result<Option<(BoundPlan, Vec<FrameCase>)>> {
    let (Some((digest, name)), Some((frame_digest, size))) = (&batch.plan, &batch.frame) else { return Ok(None) };
    let Some(text) = store.plan_text(digest)? else { return Ok(None) };
    let plan = Plan::parse(name, &text)?;
    let bindings: BTreeMap<Role, RunName> = serde_json::from_str(&batch.bindings).unwrap_or_default();
    let mut runs = store.runs()?;
    runs.sort_by_key(|run| run.id);
    let mut names = Vec::new();
    for run in &runs {
        names.push(RunName::parse(&run.name).map_err(|error| Error::internal(error.to_string()))?);
    }
    // The roles that were bound then, and no others: a run of a role's name may have come since.
    let known: BTreeSet<RunName> = bindings.values().cloned().collect();
    let bound = strata::bind_known(&plan, &bindings, &known)?;
    let wanted = bound.frame_runs();
    let all = store.frame(wanted.as_ref(), bound.pairs())?;
    let is_it = |frame: &[FrameCase]| {
        frame.len() as u64 == *size && sample::frame_digest(frame).is_ok_and(|found| found == *frame_digest)
    };
    if is_it(&all) {
        return Ok(Some((bound, all)));
    }
    if wanted.is_some() {
        return Ok(None);
    }
    // A plan over all runs: those that were there at the draw.
    while names.pop().is_some() {
        let there: BTreeSet<&RunName> = names.iter().collect();
        let frame: Vec<FrameCase> = all.iter().filter(|case| there.contains(&case.run)).cloned().collect();
        if is_it(&frame) {
            return Ok(Some((bound, frame)));
        }
    }
    Ok(None)
}

/// Per stratum the cases that earlier batches took out and that this sample therefore says nothing about. Where the earlier
/// batches were drawn from the same strata of the same frame, both together are one random order, and the sample stands for
/// their cases as well.
fn taken(
    store: &Store,
    batch: &BatchInfo,
    drawn: &[StoredCase],
) -> Result<BTreeMap<StratumId, BTreeSet<CaseIdentity>>> {
    let excluded: Vec<crate::model::BatchName> = serde_json::from_str(&batch.excluded).unwrap_or_default();
    let mut gone = BTreeSet::new();
    for name in excluded {
        gone.extend(store.batch_identities(&store.batch(&name)?)?);
    }
    let mut found = BTreeMap::new();
    if gone.is_empty() {
        return Ok(found);
    }
    for case in drawn.iter().filter(|case| case.unconditional.is_none()) {
        let id = StratumId::parse(&case.stratum).map_err(|error| Error::internal(error.to_string()))?;
        found.entry(id).or_insert_with(|| gone.clone());
    }
    Ok(found)
}

/// The label to estimate: the one asked for, else B1b, else the rubric's first.
pub(in crate::cli) fn label(rubric: &Rubric, wanted: Option<&LabelId>) -> Result<LabelId> {
    let names = || rubric.labels.iter().map(|label| label.id.to_string()).collect::<Vec<_>>().join(", ");
    let found = match wanted {
        Some(wanted) => rubric.labels.iter().find(|label| label.id == *wanted).ok_or_else(|| {
            Error::not_found(format!("the rubric {} has no label {wanted}", rubric.id))
                .hint(format!("it has: {}", names()))
        })?,
        None => rubric
            .labels
            .iter()
            .find(|label| label.id.as_str() == "B1b")
            .or_else(|| rubric.labels.iter().find(|label| label.kind == crate::rubric::LabelKind::Binary))
            .ok_or_else(|| Error::data(format!("the rubric {} has no yes-or-no label", rubric.id)))?,
    };
    if found.kind != crate::rubric::LabelKind::Binary {
        return Err(Error::data(format!("{} is no yes-or-no label: it has named values and no rate", found.id))
            .hint("`dualrater report` prints the distribution of its values"));
    }
    Ok(found.id.clone())
}

/// A batch, its rubric and its ratings.
pub(in crate::cli) fn read(store: &Store, name: &crate::model::BatchName) -> Result<(BatchInfo, Rubric, Audit)> {
    let (batch, rubric) = Context::batch(store, name)?;
    let audit = store.audit(&batch, rubric.labels.iter().map(|label| label.id.clone()).collect())?;
    Ok((batch, rubric, audit))
}

/// Notes on the runs of a batch that change what its numbers mean.
pub(in crate::cli) fn run_notes(store: &Store, input: &Input) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let runs: BTreeSet<&str> = input.cases.iter().filter_map(|case| case.cell.run.as_deref()).collect();
    for name in runs {
        let silent = input.cases.iter().any(|case| {
            case.cell.run.as_deref() == Some(name)
                && case.cell.category.gold_action() != crate::model::ActionClass::ToolCall
        });
        if silent && !store.run_has_text(&store.run(name)?)? {
            notes.push(format!(
                "{name} saved calls only: asking and refusing cannot be seen there, by GAR or by a rater, so its rates for \
                 miss_func and miss_param mean nothing."
            ));
        }
    }
    if input.meaning == Meaning::AtTurnZero {
        notes.extend(input.meaning.refusal().map(|text| format!("{}: {text}.", input.label)));
    }
    Ok(notes)
}
