//! Writes one τ² run inside one transaction. Messages come first, as the file streams; what depends on tasks and domain
//! follows at the end.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension as _, Transaction, params};

use crate::model::{CaseIdentity, Category, RunName, Verdict};
use crate::store::StoreError;
use crate::tau2::{Message, Row, RunFacts, RunReading};

/// The record of a run file.
pub struct NewTau2Run<'a> {
    /// Path as given.
    pub path: &'a str,
    /// SHA-256 of the bytes read.
    pub sha256: &'a str,
    /// Bytes read.
    pub bytes: u64,
    /// Schema generation.
    pub generation: &'a str,
    /// SHA-256 of the task file that stood in.
    pub tasks_sha256: Option<&'a str>,
    /// JSON of the parts of the header that are kept.
    pub header: &'a str,
    /// The policy.
    pub policy: Option<&'a str>,
    /// The cue table behind the labels.
    pub rules_digest: &'a str,
    /// JSON of the oddities.
    pub oddities: &'a str,
    /// Model.
    pub model: &'a str,
    /// Condition.
    pub condition: &'a str,
    /// Now (UTC, RFC 3339).
    pub now: &'a str,
}

/// Writes a run.
pub struct Tau2Writer<'t> {
    transaction: &'t Transaction<'t>,
    run: i64,
    name: RunName,
}

impl<'t> Tau2Writer<'t> {
    /// Makes the run; `None` where the same bytes (with the same task file) are stored under this name already. The model
    /// is known only at the end of the file, so it is set by [`Tau2Writer::finish`].
    ///
    /// # Errors
    /// The name is taken by another run or by other bytes.
    pub fn open(
        transaction: &'t Transaction<'t>,
        name: &RunName,
        sha256: &str,
        tasks_sha256: Option<&str>,
        now: &str,
    ) -> Result<Option<Self>, StoreError> {
        let known: Option<(String, Option<String>, Option<String>)> = transaction
            .query_row(
                "SELECT benchmark, sha256, tasks_sha256 FROM runs LEFT JOIN tau2_runs ON tau2_runs.run = runs.id
                 WHERE name = ?",
                [name.as_str()],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?;
        if let Some((benchmark, stored, tasks)) = known {
            if stored.as_deref() == Some(sha256) && (tasks.as_deref() == tasks_sha256 || tasks.is_none()) {
                return Ok(None);
            }
            let what = if stored.is_none() { benchmark } else { "other bytes or other tasks".to_owned() };
            return Err(StoreError::Conflict {
                message: format!("run {name} is stored with {what}"),
                hint: "a run is never changed: give this file another name".into(),
            });
        }
        transaction.execute(
            "INSERT INTO runs (name, model, condition, benchmark, created_at) VALUES (?, '', '', 'tau2', ?)",
            params![name.as_str(), now],
        )?;
        Ok(Some(Self { transaction, run: transaction.last_insert_rowid(), name: name.clone() }))
    }

    /// Stores the messages of a simulation.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn add_messages(&self, simulation: usize, messages: &[Message]) -> Result<(), StoreError> {
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO tau2_messages (run, simulation, position, role, content, calls, failed, labels)
             VALUES (?,?,?,?,?,?,?,?)",
        )?;
        for (position, message) in messages.iter().enumerate() {
            let calls = if message.calls.is_empty() { None } else { serde_json::to_string(&message.calls).ok() };
            statement.execute(params![
                self.run,
                simulation as i64,
                position as i64,
                message.role,
                message.content,
                calls,
                message.role == "tool" && message.failed(),
                message.labels.bits(),
            ])?;
        }
        Ok(())
    }

    /// Stores everything else.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn finish(self, facts: &RunFacts, run: &NewTau2Run<'_>) -> Result<(), StoreError> {
        self.transaction.execute(
            "UPDATE runs SET model = ?, condition = ? WHERE id = ?",
            params![run.model, run.condition, self.run],
        )?;
        self.transaction.execute(
            "INSERT INTO tau2_runs (run, path, sha256, bytes, domain, layout, generation, tasks_from, tasks_sha256,
             tasks_embedded, header, policy, rules_digest, oddities, imported_at, program)
             VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            params![
                self.run,
                run.path,
                run.sha256,
                run.bytes as i64,
                facts.domain.as_str(),
                facts.layout,
                run.generation,
                facts.tasks_from,
                run.tasks_sha256,
                facts.tasks_embedded as i64,
                run.header,
                run.policy,
                run.rules_digest,
                run.oddities,
                run.now,
                env!("CARGO_PKG_VERSION"),
            ],
        )?;
        let mut taken = BTreeSet::new();
        for (ordinal, task) in facts.tasks.iter().enumerate() {
            let (case_id, _) = self.unused(&mut taken, &format!("task:{}", task.id), &format!("task-{ordinal}"));
            self.transaction
                .prepare_cached(
                    "INSERT INTO tau2_tasks (run, ordinal, task_id, case_id, refuse, ask, writes, task) VALUES (?,?,?,?,?,?,?,?)",
                )?
                .execute(params![
                    self.run,
                    ordinal as i64,
                    task.id,
                    case_id,
                    task.refuse(),
                    task.ask(),
                    task.has_write(facts.domain),
                    json(task),
                ])?;
        }
        let mut trials: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
        for row in facts.rows(RunReading::Usual) {
            let next = row.facts.task.as_ref().map(|task| {
                let next = trials.entry(task.clone()).or_insert(0);
                *next += 1;
                *next - 1
            });
            self.add_simulation(facts, row, &mut taken, next.unwrap_or(0))?;
        }
        Ok(())
    }

    fn add_simulation(
        &self,
        run: &RunFacts,
        row: Row<'_>,
        taken: &mut BTreeSet<String>,
        next_trial: u64,
    ) -> Result<(), StoreError> {
        let facts = row.facts;
        let spare = format!("simulation-{}", facts.ordinal);
        let wanted = match (&facts.task, &facts.id) {
            (Some(task), _) => format!("{task}#{}", facts.trial.unwrap_or(next_trial)),
            (None, Some(id)) => format!("sim:{id}"),
            (None, None) => spare.clone(),
        };
        let (case_id, copy) = self.unused(taken, &wanted, &spare);
        let category = match row.task {
            None => Category::Tau2Unknown,
            Some(task) if task.refuse() => Category::Tau2Refuse,
            Some(_) => Category::Tau2ToolCall,
        };
        let hit = match category {
            Category::Tau2ToolCall => row.tool_call_hit(),
            Category::Tau2Refuse => row.refuse_hit(),
            _ => false,
        };
        let verdict = facts.scored().then(|| verdict_text(facts.passes()));
        let task = row.task.and_then(|task| run.tasks.iter().position(|known| std::ptr::eq(known, task)));
        let writes: Vec<_> = row.writes().collect();
        self.transaction
            .prepare_cached(
                "INSERT INTO tau2_simulations (run, ordinal, case_id, defect, category, task, task_id, trial, termination,
                 verdict, gar_hit, early, messages, writes, facts) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,
                 (SELECT count(*) FROM tau2_messages AS m WHERE m.run = ?1 AND m.simulation = ?2),?,?)",
            )?
            .execute(params![
                self.run,
                facts.ordinal as i64,
                case_id,
                copy.then_some("duplicate_id"),
                category.as_str(),
                task.map(|task| task as i64),
                facts.task,
                facts.trial.and_then(|trial| i64::try_from(trial).ok()),
                facts.termination,
                verdict,
                facts.scored() && hit,
                facts.early,
                writes.len() as i64,
                json(facts),
            ])?;
        for (index, write) in writes.into_iter().enumerate() {
            let (id, _) = self.unused(taken, &format!("{case_id}/w{}", index + 1), &format!("{spare}/w{}", index + 1));
            self.transaction
                .prepare_cached(
                    "INSERT INTO tau2_writes (run, simulation, ordinal, case_id, message, call, tool, failed, passed)
                     VALUES (?,?,?,?,?,?,?,?,?)",
                )?
                .execute(params![
                    self.run,
                    facts.ordinal as i64,
                    index as i64 + 1,
                    id,
                    write.message as i64,
                    write.call as i64,
                    write.tool,
                    write.failed(),
                    facts.passes_loosely().map(verdict_text),
                ])?;
        }
        Ok(())
    }

    /// A case id that is not taken: the wanted one, or `…#dup2`; the spare one where the wanted one is no name. Also
    /// whether it was taken.
    fn unused(&self, taken: &mut BTreeSet<String>, wanted: &str, spare: &str) -> (String, bool) {
        let base = if CaseIdentity::new(&self.name, wanted).is_ok() { wanted } else { spare };
        let mut id = base.to_owned();
        let mut copy = 1_u32;
        while !taken.insert(id.clone()) {
            copy += 1;
            id = format!("{base}#dup{copy}");
        }
        (id, copy > 1)
    }
}

fn verdict_text(passes: bool) -> &'static str {
    if passes { Verdict::Pass.as_str() } else { Verdict::Fail.as_str() }
}

/// Facts and tasks are texts, numbers and JSON values, which cannot fail to be written.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
