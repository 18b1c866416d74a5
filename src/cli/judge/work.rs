//! What is left to ask for: cases in the rater's order, pass by pass, without those that are answered.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Write;

use crate::cli::clock;
use crate::cli::desk::Desk;
use crate::error::{Error, Result};
use crate::judge::{Job, Parameters, SchemaForm, request_line};
use crate::model::{CaseIdentity, RaterName};
use crate::rate::{self, ExpectedCase, Meta};
use crate::store::{BatchRequest, JudgeState, Store, StoredCase};

/// The jobs of one run. Case texts are read one at a time, so that a batch of any size takes the same memory.
pub struct Work {
    open: VecDeque<(CaseIdentity, u32, Option<String>)>,
    facts: BTreeMap<CaseIdentity, ExpectedCase>,
    stored: BTreeMap<CaseIdentity, StoredCase>,
    total: usize,
    /// Cases and passes that were answered before.
    pub done: u64,
    /// Cases that this rater answered in another way (a sheet), so that no model is asked for them.
    pub answered_otherwise: u64,
    /// Left out because of the limit.
    pub beyond_limit: u64,
}

impl Work {
    /// Plans the jobs of a rater: pass 1 of every case first, then pass 2, and so on.
    pub fn plan(store: &Store, desk: &Desk, rater: &RaterName, passes: u32, limit: Option<usize>) -> Result<Self> {
        let states = store.judge_states(&desk.batch, rater)?;
        let judged: BTreeSet<&CaseIdentity> = states.keys().map(|(case, _)| case).collect();
        let rated = desk.audit.cases.iter().filter(|case| case.ratings.contains_key(rater));
        let otherwise: BTreeSet<&CaseIdentity> =
            rated.map(|case| &case.case).filter(|case| !judged.contains(case)).collect();
        let mut order: Vec<CaseIdentity> = desk.cases.iter().map(|case| case.identity.clone()).collect();
        rate::rater_order(&crate::desk::seed(&desk.batch)?, rater, &mut order)
            .map_err(|error| Error::internal(error.to_string()))?;
        let mut open = VecDeque::new();
        let mut done = 0;
        for pass in 1..=passes {
            let wanted = |case: &&CaseIdentity| !otherwise.contains(case) && !desk.unusable.contains_key(case);
            for case in order.iter().filter(wanted) {
                match states.get(&(case.clone(), pass)) {
                    Some(JudgeState::Done) => done += 1,
                    Some(JudgeState::Again(raw)) => open.push_back((case.clone(), pass, Some(raw.clone()))),
                    None => open.push_back((case.clone(), pass, None)),
                }
            }
        }
        let all = open.len();
        open.truncate(limit.unwrap_or(usize::MAX));
        Ok(Self {
            beyond_limit: (all - open.len()) as u64,
            total: open.len(),
            facts: desk.expectation(store, rater, false)?.cases,
            stored: desk.cases.iter().map(|case| (case.identity.clone(), case.clone())).collect(),
            answered_otherwise: otherwise.len() as u64,
            open,
            done,
        })
    }

    /// Jobs in all.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The next job.
    pub fn next_job(&mut self, store: &Store, desk: &Desk) -> Result<Option<Job>> {
        let Some((case, pass, first_reply)) = self.open.pop_front() else { return Ok(None) };
        self.job(store, desk, &case, pass, first_reply).map(Some)
    }

    /// The job of a case and pass.
    pub fn job(
        &self,
        store: &Store,
        desk: &Desk,
        case: &CaseIdentity,
        pass: u32,
        first_reply: Option<String>,
    ) -> Result<Job> {
        if let Some(reason) = desk.unusable.get(case) {
            return Err(Error::conflict(format!("{case} was declared unusable: {reason}")));
        }
        let lacks = || Error::internal(format!("batch {} lacks the case {case}", desk.batch.name));
        let (stored, facts) = self.stored.get(case).zip(self.facts.get(case)).ok_or_else(lacks)?;
        let text = store.case_text(&desk.batch, stored)?;
        // Nobody's earlier answers are in a prompt, not even the model's own.
        let shown = rate::rater_case(&desk.rubric, &text, &BTreeMap::new());
        Ok(Job { case: shown, facts: facts.clone(), pass, first_reply })
    }
}

/// Refuses to go on under other parameters than those that the rater's answers were made with.
pub fn check_same_parameters(
    store: &Store,
    desk: &Desk,
    rater: &RaterName,
    model: &str,
    parameters: &Parameters,
) -> Result<()> {
    let hint = "one rater is one model with one set of parameters: take another name with --rater";
    if let Some(known) = store.rater_models(&desk.batch)?.get(rater.as_str()).filter(|known| *known != model) {
        return Err(Error::conflict(format!("{rater} is the model {known}, not {model}")).hint(hint));
    }
    let written = parameters.written();
    match store.judge_parameters(&desk.batch, rater)? {
        Some((known, _)) if known != model => {
            Err(Error::conflict(format!("{rater} was asked as {known}, not {model}")).hint(hint))
        }
        Some((_, known)) if known != written => {
            Err(Error::conflict(format!("{rater} was asked with {known}, not with {written}")).hint(hint))
        }
        _ => Ok(()),
    }
}

/// Writes what is left to ask for as a batch file; returns what to note of it.
pub fn write_batch_file(
    out: &mut dyn Write,
    store: &Store,
    desk: &Desk,
    rater: &RaterName,
    (model, parameters, form): (&str, &Parameters, SchemaForm),
    work: &mut Work,
) -> Result<Vec<BatchRequest>> {
    let meta = Meta::new(&desk.batch.name, &desk.rubric, rater);
    let mut noted = Vec::new();
    while let Some(job) = work.next_job(store, desk)? {
        let (line, request) = request_line(&meta, &desk.rubric, &job, model, parameters, form);
        writeln!(out, "{line}")
            .map_err(|source| Error::new(crate::error::Kind::Io, format!("cannot write the batch file: {source}")))?;
        noted.push(request);
    }
    Ok(noted)
}

/// Notes the requests of a batch file in the database.
pub fn note_requests(store: &mut Store, desk: &Desk, noted: &[BatchRequest]) -> Result<()> {
    Ok(store.add_batch_requests(&desk.batch, noted, &clock::now())?)
}
