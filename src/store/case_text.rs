//! The text of a case: everything that a rubric may show, read from the run, its second condition and the data set.

use rusqlite::{OptionalExtension as _, params};

use super::runs::{category_of, json_list};
use super::{BatchInfo, FileKind, Store, StoreError, StoredCase};
use crate::model::{CaseText, Category, ConditionText, GroundTruth, Transition, TurnText, Verdict};

/// The user's words per turn, and the ground truth if there is an answer file.
type DatasetWords = (Vec<String>, Option<GroundTruth>);

type CaseColumns = (i64, i64, Option<String>, String, Option<String>, Option<String>, Option<i64>, Option<String>);

impl Store {
    /// The text of a case of a drawn batch.
    ///
    /// # Errors
    /// An imported batch (its cases have no text here), or a damaged database.
    pub fn case_text(&self, batch: &BatchInfo, case: &StoredCase) -> Result<CaseText, StoreError> {
        if batch.imported {
            return Err(StoreError::Conflict {
                message: format!("batch {} was made elsewhere; its cases have no text here", batch.name),
                hint: "draw a batch from ingested runs to rate cases".into(),
            });
        }
        let category = category_of(&case.category)?;
        if Category::TAU2.contains(&category) {
            return self.tau2_case_text(case);
        }
        let (baseline, columns) = self.condition_text(case.identity.run(), case.identity.case())?;
        let (_, _, raw_id, ..) = &columns;
        let logged: Option<Vec<String>> =
            columns.5.as_deref().map(|json| json_list(json, "a case's logged words")).transpose()?;
        let mut reason = None;
        let entry = self.joined_entry(columns.0, category, raw_id.as_deref())?;
        if entry.is_none() {
            reason = Some(match self.fit_of(columns.0)? {
                None => "no data set was given for this run".to_owned(),
                Some((_, status, why)) => why.unwrap_or(status),
            });
        }
        let (user_turns, ground_truth) = match entry {
            Some((words, truth)) => {
                if truth.is_none() {
                    reason = Some("the data set has no answers for this category".to_owned());
                }
                (Some(words), truth)
            }
            None => (logged, None),
        };
        let second = case
            .second_run
            .as_deref()
            .map(|run| self.condition_text(run, case.identity.case()).map(|found| found.0))
            .transpose()?;
        Ok(CaseText {
            case: case.identity.clone(),
            category,
            stratum: case.stratum.clone(),
            transition: case.transition.as_deref().and_then(Transition::parse),
            user_turns,
            ground_truth,
            ground_truth_reason: reason,
            baseline,
            second,
            sections: self.chat_sections(columns.0)?,
        })
    }

    fn condition_text(&self, run: &str, case_id: &str) -> Result<(ConditionText, CaseColumns), StoreError> {
        let run = self.run(run)?;
        let columns: CaseColumns = self
            .connection
            .prepare_cached(
                "SELECT id, turns, raw_id, category, defect, user_turns, log_return_turn, error
                 FROM cases WHERE run = ? AND case_id = ?",
            )?
            .query_row(params![run.id, case_id], |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                    row.get(5)?,
                    row.get(6)?,
                    row.get(7)?,
                ))
            })
            .optional()?
            .ok_or_else(|| StoreError::Damaged {
                what: format!("a batch case {case_id} that run {} lacks", run.name),
            })?;
        let category = category_of(&columns.3)?;
        let turns = self
            .saved_turns(columns.0, columns.1)?
            .into_iter()
            .map(|emissions| TurnText { emissions, classes: Vec::new() })
            .collect();
        let failure: Option<(Option<String>, Option<String>, Option<String>)> = self
            .connection
            .prepare_cached(
                "SELECT error_type, error_message, detail FROM failures WHERE run = ? AND category = ? AND raw_id = ?",
            )?
            .query_row(params![run.id, columns.3, columns.2], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let scored = self.file(&run, category, FileKind::Score)?.is_some() && columns.4.is_none();
        let logged: Option<String> = self
            .connection
            .prepare_cached("SELECT verdict FROM chat_cases WHERE case_row = ?")?
            .query_row([columns.0], |row| row.get(0))
            .optional()?
            .flatten();
        let logged = logged.as_deref().and_then(Verdict::parse);
        let verdict = logged.or(scored.then_some(if failure.is_some() { Verdict::Fail } else { Verdict::Pass }));
        let (error_type, message, detail) = failure.unwrap_or_default();
        let error_detail = match (message, detail) {
            (Some(message), Some(detail)) => Some(format!("{message}\n{detail}")),
            (message, detail) => message.or(detail),
        };
        let text = ConditionText {
            text_not_saved: !self.run_has_text(&run)?,
            events: self.events_of(&run, case_id)?,
            run: run.name,
            model: run.model,
            condition: run.condition,
            turns,
            error: columns.7.clone(),
            verdict,
            error_type,
            error_detail,
        };
        Ok((text, columns))
    }

    /// The data set's entry of a case, where the case fits the data set: the user's words, and the ground truth if there
    /// is an answer file.
    pub(super) fn joined_entry(
        &self,
        case_row: i64,
        category: Category,
        raw_id: Option<&str>,
    ) -> Result<Option<DatasetWords>, StoreError> {
        match self.fit_of(case_row)? {
            Some((dataset, status, _)) if status == "verified" || status == "unverifiable" => {
                self.dataset_entry(&dataset, category.as_str(), raw_id)
            }
            _ => Ok(None),
        }
    }

    fn fit_of(&self, case_row: i64) -> Result<Option<(String, String, Option<String>)>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT dataset, status, reason FROM case_fits WHERE case_row = ?")?
            .query_row([case_row], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?)
    }

    fn dataset_entry(
        &self,
        dataset: &str,
        category: &str,
        raw_id: Option<&str>,
    ) -> Result<Option<DatasetWords>, StoreError> {
        let found: Option<(String, Option<String>, String, Option<u32>)> = self
            .connection
            .prepare_cached(
                "SELECT user_turns, ground_truth, held_out, return_turn FROM dataset_entries
                 WHERE dataset = ? AND category = ? AND entry_id = ?",
            )?
            .query_row(params![dataset, category, raw_id], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()?;
        let Some((words, truth, held_out, return_turn)) = found else { return Ok(None) };
        let held_out_tools: Vec<String> = json_list(&held_out, "held-out tools")?;
        let truth = match truth {
            None => None,
            Some(json) => Some(GroundTruth { calls: json_list(&json, "ground truth")?, held_out_tools, return_turn }),
        };
        Ok(Some((json_list(&words, "a data set's questions")?, truth)))
    }
}
