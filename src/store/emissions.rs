//! The saved emissions of a run's cases with their ground truth: what the gold-turn counts and the rule set `strict` read.

use rusqlite::params;

use super::{RunRow, Store, StoreError};
use crate::model::{Category, GroundTruth};

/// A case with its emissions as saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseSource {
    /// The identity's part after the run.
    pub case_id: String,
    /// Turn → step → one JSON value; `None`: an inference error, or nothing, stands in place of a result.
    pub turns: Option<Vec<Vec<String>>>,
    /// The ground truth; `None`: no data set was given, or the case does not fit it.
    pub truth: Option<GroundTruth>,
}

impl Store {
    /// The cases of one run and category in file order.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn case_sources(&self, run: &RunRow, category: Category) -> Result<Vec<CaseSource>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT cases.id, case_id, raw_id, shape, turns FROM cases WHERE run = ? AND category = ? ORDER BY ordinal",
        )?;
        let mut rows = statement.query(params![run.id, category.as_str()])?;
        let mut cases = Vec::new();
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let shape: String = row.get(3)?;
            let count: i64 = row.get(4)?;
            let raw_id: Option<String> = row.get(2)?;
            let turns = if shape == "turns" { Some(self.saved_turns(id, count)?) } else { None };
            let truth = self.joined_entry(id, category, raw_id.as_deref())?.and_then(|entry| entry.1);
            cases.push(CaseSource { case_id: row.get(1)?, turns, truth });
        }
        Ok(cases)
    }

    /// How many emissions of a run have another class than `class_of` gives them.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn emissions_with(
        &self,
        run: &RunRow,
        class_of: impl Fn(&str) -> Option<&'static str>,
    ) -> Result<u64, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT raw, class FROM emissions JOIN cases ON cases.id = case_row WHERE run = ?")?;
        let mut rows = statement.query([run.id])?;
        let mut changed = 0;
        while let Some(row) = rows.next()? {
            let raw: String = row.get(0)?;
            let class: Option<String> = row.get(1)?;
            changed += u64::from(class.as_deref() != class_of(&raw));
        }
        Ok(changed)
    }

    /// The emissions of a case, turn by turn.
    pub(super) fn saved_turns(&self, case_row: i64, count: i64) -> Result<Vec<Vec<String>>, StoreError> {
        let mut turns = vec![Vec::new(); usize::try_from(count).unwrap_or(0)];
        let mut statement =
            self.connection.prepare_cached("SELECT turn, raw FROM emissions WHERE case_row = ? ORDER BY turn, step")?;
        let mut rows = statement.query([case_row])?;
        while let Some(row) = rows.next()? {
            let turn: i64 = row.get(0)?;
            if let Some(turn) = usize::try_from(turn).ok().and_then(|turn| turns.get_mut(turn)) {
                turn.push(row.get(1)?);
            }
        }
        Ok(turns)
    }
}
