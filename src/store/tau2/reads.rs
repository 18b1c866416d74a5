//! Reads τ² runs back as the values that counts are made of.

use rusqlite::{OptionalExtension as _, Row};

use crate::store::{RunRow, Store, StoreError};
use crate::tau2::{Domain, RunFacts, SimulationFacts, Task, message_labels};

/// The record of a τ² run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tau2RunRow {
    /// Path at import.
    pub path: String,
    /// SHA-256 of the bytes.
    pub sha256: String,
    /// Schema generation.
    pub generation: String,
    /// Domain.
    pub domain: Domain,
    /// Layout.
    pub layout: String,
    /// Where the tasks come from.
    pub tasks_from: String,
    /// Tasks in the run file.
    pub tasks_embedded: usize,
    /// JSON of the header's parts.
    pub header: String,
    /// JSON of the oddities.
    pub oddities: String,
    /// Simulations.
    pub simulations: u64,
    /// Those with a score.
    pub scored: u64,
}

fn record(row: &Row<'_>) -> rusqlite::Result<(Tau2RunRow, String)> {
    let domain: String = row.get(3)?;
    let known = Domain::parse(&domain).unwrap_or(Domain::Airline);
    let tasks: i64 = row.get(6)?;
    Ok((
        Tau2RunRow {
            path: row.get(0)?,
            sha256: row.get(1)?,
            generation: row.get(2)?,
            domain: known,
            layout: row.get(4)?,
            tasks_from: row.get(5)?,
            tasks_embedded: usize::try_from(tasks).unwrap_or(0),
            header: row.get(7)?,
            oddities: row.get(8)?,
            simulations: row.get::<_, i64>(9)? as u64,
            scored: row.get::<_, i64>(10)? as u64,
        },
        domain,
    ))
}

pub(super) fn value<T: serde::de::DeserializeOwned>(json: &str, what: &str) -> Result<T, StoreError> {
    serde_json::from_str(json)
        .map_err(|error| StoreError::Damaged { what: format!("{what} that cannot be read: {error}") })
}

impl Store {
    /// The τ² record of a run; `None`: it is a run of another benchmark.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn tau2_run(&self, run: &RunRow) -> Result<Option<Tau2RunRow>, StoreError> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT path, sha256, generation, domain, layout, tasks_from, tasks_embedded, header, oddities,
                 (SELECT count(*) FROM tau2_simulations AS s WHERE s.run = tau2_runs.run),
                 (SELECT count(*) FROM tau2_simulations AS s WHERE s.run = tau2_runs.run AND s.verdict IS NOT NULL)
                 FROM tau2_runs WHERE run = ?",
            )?
            .query_row([run.id], record)
            .optional()?;
        match found {
            Some((_, domain)) if Domain::parse(&domain).is_none() => {
                Err(StoreError::Damaged { what: format!("the domain {domain:?}") })
            }
            found => Ok(found.map(|(record, _)| record)),
        }
    }

    /// A τ² run as counts read it; `None`: it is a run of another benchmark.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn tau2_facts(&self, run: &RunRow) -> Result<Option<RunFacts>, StoreError> {
        let Some(record) = self.tau2_run(run)? else { return Ok(None) };
        let mut simulations: Vec<SimulationFacts> = Vec::new();
        let mut statement =
            self.connection.prepare_cached("SELECT facts FROM tau2_simulations WHERE run = ? ORDER BY ordinal")?;
        let mut rows = statement.query([run.id])?;
        while let Some(row) = rows.next()? {
            let json: String = row.get(0)?;
            simulations.push(value(&json, "a simulation")?);
        }
        Ok(Some(RunFacts {
            run: run.name.clone(),
            domain: record.domain,
            layout: record.layout,
            tasks_from: record.tasks_from,
            tasks_embedded: record.tasks_embedded,
            tasks: self.tau2_tasks(run)?,
            simulations,
        }))
    }

    /// The tasks of a τ² run.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn tau2_tasks(&self, run: &RunRow) -> Result<Vec<Task>, StoreError> {
        let mut statement =
            self.connection.prepare_cached("SELECT task FROM tau2_tasks WHERE run = ? ORDER BY ordinal")?;
        let mut rows = statement.query([run.id])?;
        let mut tasks = Vec::new();
        while let Some(row) = rows.next()? {
            let json: String = row.get(0)?;
            tasks.push(value(&json, "a task")?);
        }
        Ok(tasks)
    }

    /// How many messages of the agents of a run have other labels than the detector gives them.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn tau2_changed_labels(&self, run: &RunRow) -> Result<u64, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT content, calls IS NOT NULL, labels FROM tau2_messages WHERE run = ? AND role = 'assistant'",
        )?;
        let mut rows = statement.query([run.id])?;
        let mut changed = 0;
        while let Some(row) = rows.next()? {
            let content: Option<String> = row.get(0)?;
            let stored: i64 = row.get(2)?;
            changed += u64::from(i64::from(message_labels(content.as_deref(), row.get(1)?).bits()) != stored);
        }
        Ok(changed)
    }
}
