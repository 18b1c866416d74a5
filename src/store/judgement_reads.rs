//! What was asked and answered, read back: how far a rater has come, answers of all passes, what has no verdict, sums.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, params};

use super::judgements::{identity, label};
use super::raters::rater_of;
use super::{BatchInfo, JudgeState, JudgeTotals, PassAnswer, Store, StoreError};
use crate::model::{CaseIdentity, NoVerdict, RaterName, RatingValue};

impl Store {
    /// How far every case and pass of a rater has come; those not asked yet are not in it.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn judge_states(
        &self,
        batch: &BatchInfo,
        rater: &RaterName,
    ) -> Result<BTreeMap<(CaseIdentity, u32), JudgeState>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT identity, pass, outcome, CASE outcome WHEN 'again' THEN raw ELSE '' END FROM judge_replies
             WHERE batch = ? AND rater = ? ORDER BY asking",
        )?;
        let mut rows = statement.query(params![batch.id, rater.as_str()])?;
        let mut states = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let outcome: String = row.get(2)?;
            let state = if outcome == "again" { JudgeState::Again(row.get(3)?) } else { JudgeState::Done };
            states.insert((identity(row.get(0)?)?, row.get(1)?), state);
        }
        Ok(states)
    }

    /// With which model and parameters a rater was asked first in this batch.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn judge_parameters(
        &self,
        batch: &BatchInfo,
        rater: &RaterName,
    ) -> Result<Option<(String, String)>, StoreError> {
        let of = |table: &str, order: &str| {
            let sql =
                format!("SELECT model, parameters FROM {table} WHERE batch = ? AND rater = ? ORDER BY {order} LIMIT 1");
            self.connection
                .query_row(&sql, params![batch.id, rater.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        };
        let stored = of("judge_replies", "id")?;
        Ok(if stored.is_some() { stored } else { of("judge_requests", "written_at, custom_id")? })
    }

    /// Every answer of every pass of a batch's models, in order of storing.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn pass_answers(&self, batch: &BatchInfo) -> Result<Vec<PassAnswer>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT rater, identity, pass, label, value FROM judge_answers
             JOIN judge_replies ON judge_replies.id = reply WHERE batch = ? ORDER BY reply, label",
        )?;
        let mut rows = statement.query([batch.id])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let value: Option<String> = row.get(4)?;
            found.push(PassAnswer {
                rater: rater_of(&row.get::<_, String>(0)?)?,
                case: identity(row.get(1)?)?,
                pass: row.get(2)?,
                label: label(&row.get::<_, String>(3)?)?,
                value: value.map(RatingValue::from),
            });
        }
        Ok(found)
    }

    /// Where pass 1 of a model gave no verdict, in order (case, rater, label).
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub(super) fn no_verdicts(&self, batch: &BatchInfo) -> Result<Vec<NoVerdict>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT identity, rater, label, judge_answers.reason FROM judge_answers
             JOIN judge_replies ON judge_replies.id = reply
             WHERE batch = ? AND pass = 1 AND value IS NULL ORDER BY identity, rater, label",
        )?;
        let mut rows = statement.query([batch.id])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(NoVerdict {
                case: identity(row.get(0)?)?,
                rater: rater_of(&row.get::<_, String>(1)?)?,
                label: label(&row.get::<_, String>(2)?)?,
                reason: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
            });
        }
        Ok(found)
    }

    /// Sums over a rater's replies.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn judge_totals(&self, batch: &BatchInfo, rater: &RaterName) -> Result<JudgeTotals, StoreError> {
        let values = params![batch.id, rater.as_str()];
        let mut totals = self.connection.query_row(
            "SELECT count(*), count(*) FILTER (WHERE pass = 1 AND outcome = 'verdict'),
                    count(*) FILTER (WHERE pass = 1 AND outcome = 'no_verdict'),
                    coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0),
                    count(DISTINCT identity) FILTER (WHERE pass = 1 AND flags <> '[]')
             FROM judge_replies WHERE batch = ? AND rater = ?",
            values,
            |row| {
                let count = |column: usize| row.get::<_, i64>(column).map(|count| count as u64);
                Ok(JudgeTotals {
                    replies: count(0)?,
                    verdicts: count(1)?,
                    no_verdicts: count(2)?,
                    prompt_tokens: count(3)?,
                    completion_tokens: count(4)?,
                    flagged: count(5)?,
                    reasons: BTreeMap::new(),
                })
            },
        )?;
        let mut statement = self.connection.prepare(
            "SELECT coalesce(judge_answers.reason, ''), count(*) FROM judge_answers
             JOIN judge_replies ON judge_replies.id = reply
             WHERE batch = ? AND rater = ? AND pass = 1 AND value IS NULL GROUP BY 1 ORDER BY 1",
        )?;
        let rows = statement.query_map(values, |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?;
        totals.reasons = rows.collect::<Result<_, _>>()?;
        Ok(totals)
    }
}
