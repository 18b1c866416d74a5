//! What models were asked and what they answered: one row per reply, one per label, and the rating beside them, all in one
//! transaction, so that a stop at any moment leaves a reply stored whole or not at all.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::raters::rater_of;
use super::ratings::append_in;
use super::{Act, BatchInfo, NewRating, Store, StoreError};
use crate::model::{CaseIdentity, LabelId, RaterName, RatingValue};

/// What became of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyOutcome {
    /// Every asked label has a valid answer.
    Verdict,
    /// Not valid; the model is asked once more.
    Again,
    /// Not valid and not asked again: labels without a valid answer have no verdict.
    NoVerdict,
}

impl ReplyOutcome {
    /// As stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Again => "again",
            Self::NoVerdict => "no_verdict",
        }
    }
}

/// What a model was asked with.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Asked {
    /// The model as asked for.
    pub model: String,
    /// Parameters as a JSON object.
    pub parameters: String,
    /// Was a JSON schema sent?
    pub structured: bool,
    /// Digest of the messages.
    pub prompt_digest: String,
    /// Digest of what was shown of the case.
    pub case_digest: String,
}

/// An answer to one label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeAnswer {
    /// The label.
    pub label: LabelId,
    /// The value; `None`: no verdict.
    pub value: Option<RatingValue>,
    /// Why, in the model's words.
    pub rationale: String,
    /// Why there is no verdict.
    pub reason: Option<String>,
}

/// A reply to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReply {
    /// The case.
    pub case: CaseIdentity,
    /// The rater.
    pub rater: RaterName,
    /// The pass, from 1; pass 1 is the rating.
    pub pass: u32,
    /// 1, or 2 where the model was asked again.
    pub asking: u32,
    /// What became of it.
    pub outcome: ReplyOutcome,
    /// Why it is no whole verdict: a short stable reason.
    pub reason: Option<String>,
    /// The same in sentences.
    pub detail: Option<String>,
    /// What was asked with.
    pub asked: Asked,
    /// The model as the server names it.
    pub reported_model: Option<String>,
    /// Where it was asked; `None` for a batch file.
    pub endpoint: Option<String>,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// Tokens of the prompt.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the answer.
    pub completion_tokens: Option<u64>,
    /// Time of the request that was answered.
    pub milliseconds: Option<u64>,
    /// Requests until it was answered.
    pub requests: u32,
    /// Texts of the case that address the rater, as a JSON list.
    pub flags: String,
    /// The body as received.
    pub raw: String,
    /// Where it came from.
    pub source: String,
    /// One per asked label; empty where the model is asked again.
    pub answers: Vec<JudgeAnswer>,
    /// Ratings that follow by rule from the answers, beside them.
    pub derived: Vec<JudgeAnswer>,
}

/// How far one case and pass has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgeState {
    /// Answered, or asked twice.
    Done,
    /// The first reply was not valid; the second asking is open. Holds the raw reply.
    Again(String),
}

/// A request that was written to a batch file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRequest {
    /// The id by which its answer is known.
    pub custom_id: String,
    /// The case.
    pub case: CaseIdentity,
    /// The rater.
    pub rater: RaterName,
    /// The pass.
    pub pass: u32,
    /// 1 or 2.
    pub asking: u32,
    /// What was asked with.
    pub asked: Asked,
}

/// An answer of some pass, as self-consistency reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassAnswer {
    /// The rater.
    pub rater: RaterName,
    /// The case.
    pub case: CaseIdentity,
    /// The pass, from 1.
    pub pass: u32,
    /// The label.
    pub label: LabelId,
    /// The value; `None`: no verdict.
    pub value: Option<RatingValue>,
}

/// Sums over a rater's replies.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct JudgeTotals {
    /// Replies stored.
    pub replies: u64,
    /// Whole verdicts of pass 1.
    pub verdicts: u64,
    /// Cases of pass 1 with at least one label without verdict.
    pub no_verdicts: u64,
    /// Cases of pass 1 that hold text that addresses the rater.
    pub flagged: u64,
    /// Tokens of prompts, where the server told.
    pub prompt_tokens: u64,
    /// Tokens of answers.
    pub completion_tokens: u64,
    /// Reasons of no verdict of pass 1, per label counted.
    pub reasons: BTreeMap<String, u64>,
}

impl Store {
    /// Stores replies with their answers and, for pass 1, the ratings; all or none. A reply that is stored already is
    /// passed over. Returns how many were new.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn record_replies(&mut self, batch: &BatchInfo, replies: &[NewReply], now: &str) -> Result<usize, StoreError> {
        let (id, rubric) = (batch.id, batch.rubric.0.clone());
        self.write(|transaction| {
            let mut new = 0;
            for reply in replies {
                if insert_reply(transaction, id, &rubric, reply, now)? {
                    new += 1;
                    let entries = if reply.pass == 1 { ratings(reply) } else { Vec::new() };
                    append_in(transaction, id, &rubric, &entries, now)?;
                }
            }
            Ok(new)
        })
    }

    /// Notes requests that are written to a batch file; the same again changes nothing.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn add_batch_requests(
        &mut self,
        batch: &BatchInfo,
        requests: &[BatchRequest],
        now: &str,
    ) -> Result<(), StoreError> {
        let id = batch.id;
        self.write(|transaction| {
            let mut insert = transaction.prepare(
                "INSERT INTO judge_requests (custom_id, batch, identity, rater, pass, asking, model, parameters, structured,
                 prompt_digest, case_digest, written_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
            )?;
            for request in requests {
                insert.execute(params![
                    request.custom_id,
                    id,
                    request.case.as_str(),
                    request.rater.as_str(),
                    request.pass,
                    request.asking,
                    request.asked.model,
                    request.asked.parameters,
                    request.asked.structured,
                    request.asked.prompt_digest,
                    request.asked.case_digest,
                    now,
                ])?;
            }
            Ok(())
        })
    }

    /// A request of a batch file by its id, with the name of its batch.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn batch_request(&self, custom_id: &str) -> Result<Option<(String, BatchRequest)>, StoreError> {
        type Columns = (String, String, String, u32, u32, Asked);
        let found: Option<Columns> = self
            .connection
            .prepare_cached(
                "SELECT batches.name, identity, rater, pass, asking, model, parameters, structured, prompt_digest, case_digest
                 FROM judge_requests JOIN batches ON batches.id = batch WHERE custom_id = ?",
            )?
            .query_row([custom_id], |row| {
                let asked = Asked {
                    model: row.get(5)?,
                    parameters: row.get(6)?,
                    structured: row.get(7)?,
                    prompt_digest: row.get(8)?,
                    case_digest: row.get(9)?,
                };
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, asked))
            })
            .optional()?;
        let Some((batch, case, rater, pass, asking, asked)) = found else { return Ok(None) };
        let custom_id = custom_id.to_owned();
        let (case, rater) = (identity(case)?, rater_of(&rater)?);
        Ok(Some((batch, BatchRequest { custom_id, case, rater, pass, asking, asked })))
    }
}

/// Inserts a reply with its answers; false where it is stored already.
fn insert_reply(
    transaction: &Transaction<'_>,
    batch: i64,
    rubric: &str,
    reply: &NewReply,
    now: &str,
) -> Result<bool, StoreError> {
    let asked = &reply.asked;
    let number = |value: Option<u64>| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
    let inserted = transaction
        .prepare_cached(
            "INSERT INTO judge_replies (batch, identity, rater, pass, asking, outcome, reason, detail, model, reported_model,
             endpoint, parameters, structured, prompt_digest, case_digest, rubric_digest, finish_reason, prompt_tokens,
             completion_tokens, milliseconds, requests, flags, raw, source, replied_at)
             VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            batch,
            reply.case.as_str(),
            reply.rater.as_str(),
            reply.pass,
            reply.asking,
            reply.outcome.as_str(),
            reply.reason,
            reply.detail,
            asked.model,
            reply.reported_model,
            reply.endpoint,
            asked.parameters,
            asked.structured,
            asked.prompt_digest,
            asked.case_digest,
            rubric,
            reply.finish_reason,
            number(reply.prompt_tokens),
            number(reply.completion_tokens),
            number(reply.milliseconds),
            reply.requests,
            reply.flags,
            reply.raw,
            reply.source,
            now,
        ])?;
    if inserted == 0 {
        return Ok(false);
    }
    let id = transaction.last_insert_rowid();
    let mut insert = transaction
        .prepare_cached("INSERT INTO judge_answers (reply, label, value, rationale, reason) VALUES (?,?,?,?,?)")?;
    for answer in &reply.answers {
        let value = answer.value.as_ref().map(RatingValue::as_str);
        insert.execute(params![id, answer.label.as_str(), value, answer.rationale, answer.reason])?;
    }
    Ok(true)
}

/// The ratings that a reply of pass 1 gives.
fn ratings(reply: &NewReply) -> Vec<NewRating> {
    let rating = |answer: &JudgeAnswer| {
        Some(NewRating {
            act: Act::Rating,
            case: reply.case.clone(),
            label: answer.label.clone(),
            rater: reply.rater.clone(),
            value: answer.value.clone()?,
            correct: None,
            rationale: answer.rationale.clone(),
            case_digest: Some(reply.asked.case_digest.clone()),
            source: reply.source.clone(),
        })
    };
    reply.answers.iter().chain(&reply.derived).filter_map(rating).collect()
}

pub(super) fn identity(text: String) -> Result<CaseIdentity, StoreError> {
    CaseIdentity::try_from(text).map_err(|error| StoreError::Damaged { what: error.to_string() })
}

pub(super) fn label(text: &str) -> Result<LabelId, StoreError> {
    LabelId::parse(text).map_err(|error| StoreError::Damaged { what: error.to_string() })
}
