//! The units of τ² in the frame: simulations, database writes and tasks.

use rusqlite::OptionalExtension as _;

use crate::model::{CaseIdentity, Category, RunName, Verdict};
use crate::store::runs::category_of;
use crate::store::{RunRow, Store, StoreError};
use crate::strata::FrameCase;

/// One unit.
struct Unit {
    case_id: String,
    category: String,
    verdict: Option<String>,
    gar_hit: bool,
    defect: bool,
}

const UNITS: &str = "
    SELECT 1, ordinal, 0, case_id, category, verdict, gar_hit, defect IS NOT NULL FROM tau2_simulations WHERE run = ?1
    UNION ALL
    SELECT 2, w.simulation, w.ordinal, w.case_id, 'tau2_write', w.passed, 0, s.defect IS NOT NULL
    FROM tau2_writes AS w JOIN tau2_simulations AS s ON s.run = w.run AND s.ordinal = w.simulation WHERE w.run = ?1
    UNION ALL
    SELECT 3, ordinal, 0, case_id, 'tau2_task', NULL, 0, 0 FROM tau2_tasks WHERE run = ?1
    ORDER BY 1, 2, 3";

impl Store {
    /// The units of a τ² run; none for a run of another benchmark. `later` gives the verdicts of a second run.
    pub(in crate::store) fn tau2_frame(
        &self,
        run: &RunRow,
        name: &RunName,
        second: Option<&RunRow>,
    ) -> Result<Vec<FrameCase>, StoreError> {
        let later: std::collections::BTreeMap<String, Verdict> = match second {
            None => std::collections::BTreeMap::new(),
            Some(second) => self
                .units(second)?
                .into_iter()
                .filter_map(|unit| Some((unit.case_id, Verdict::parse(unit.verdict.as_deref()?)?)))
                .collect(),
        };
        let mut frame = Vec::new();
        for unit in self.units(run)? {
            let identity = CaseIdentity::new(name, &unit.case_id)
                .map_err(|error| StoreError::Damaged { what: format!("a case that cannot be named: {error}") })?;
            let verdict = unit.verdict.as_deref().and_then(Verdict::parse);
            let category = category_of(&unit.category)?;
            // A write of another run is another write, whatever its number.
            let to = later.get(&unit.case_id).copied().filter(|_| category != Category::Tau2Write);
            frame.push(FrameCase {
                identity,
                run: name.clone(),
                model: run.model.clone(),
                condition: run.condition.clone(),
                category,
                verdict,
                transition: verdict.zip(to).map(|(from, to)| crate::model::Transition { from, to }),
                gar_hit: unit.gar_hit,
                error_record: false,
                drawable: !unit.defect,
            });
        }
        Ok(frame)
    }

    fn units(&self, run: &RunRow) -> Result<Vec<Unit>, StoreError> {
        let mut statement = self.connection.prepare_cached(UNITS)?;
        let rows = statement.query_map([run.id], |row| {
            Ok(Unit {
                case_id: row.get(3)?,
                category: row.get(4)?,
                verdict: row.get(5)?,
                gar_hit: row.get(6)?,
                defect: row.get(7)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Does a τ² simulation show its gold action? `None`: it is no simulation, or its task or score is not known.
    pub(in crate::store) fn tau2_gar_hit(&self, run: &RunRow, case_id: &str) -> Result<Option<bool>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT gar_hit FROM tau2_simulations
                 WHERE run = ? AND case_id = ? AND verdict IS NOT NULL AND category <> 'tau2_unknown'",
            )?
            .query_row((run.id, case_id), |row| row.get(0))
            .optional()?)
    }
}
