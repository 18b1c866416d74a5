//! The frame: every case of the runs that a plan draws from, with what a plan may know about it; and the guarded
//! evaluation of a plan's SQL conditions.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, params};

use super::{FileKind, RunRow, Store, StoreError};
use crate::model::{ActionClass, Audit, CaseIdentity, Category, RunName, StratumId, Transition, Verdict};
use crate::strata::FrameCase;

/// A case with its classes: what the GAR table reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameRow {
    /// The identity's part after the run.
    pub case_id: String,
    /// Duplicate, missing or unusable id.
    pub defect: bool,
    /// An inference error, or nothing, stands in place of a result.
    pub error_record: bool,
    /// The grader's verdict; `None`: unscored.
    pub verdict: Option<Verdict>,
    /// Class of every emission of every turn, in file order.
    pub classes: Vec<Option<ActionClass>>,
    /// An emission with text that is no call was seen.
    pub text_seen: bool,
}

/// A record that can never be drawn.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct FrameDefect {
    /// The run.
    pub run: String,
    /// The category.
    pub category: String,
    /// The identity's part after the run that it got here.
    pub case: String,
    /// The id as the file has it; `None` where there is none.
    pub id: Option<String>,
    /// `duplicate_id`, `missing_id` or `unusable_id`.
    pub defect: String,
    /// The file.
    pub file: String,
    /// The line in it.
    pub line: u64,
}

/// Functions that a condition may call: deterministic, without side effects.
const ALLOWED_FUNCTIONS: [&str; 26] = [
    "abs",
    "coalesce",
    "concat",
    "format",
    "glob",
    "hex",
    "ifnull",
    "iif",
    "instr",
    "json_array_length",
    "json_extract",
    "length",
    "like",
    "lower",
    "ltrim",
    "max",
    "min",
    "nullif",
    "printf",
    "replace",
    "round",
    "rtrim",
    "substr",
    "substring",
    "trim",
    "upper",
];

/// SQLite's virtual machine steps between two looks at the budget, and the budget in such looks.
const STEPS_PER_LOOK: i32 = 10_000;
const LOOKS: u32 = 50_000;

impl Store {
    /// All cases of one run and category in file order, with classes and verdicts.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn frame_rows(&self, run: &RunRow, category: Category) -> Result<Vec<FrameRow>, StoreError> {
        let scored = self.file(run, category, FileKind::Score)?.is_some();
        let mut statement = self.connection.prepare_cached(
            "SELECT cases.id, case_id, defect IS NOT NULL, shape <> 'turns',
                    EXISTS (SELECT 1 FROM failures WHERE failures.run = cases.run AND failures.category = cases.category
                            AND failures.raw_id = cases.raw_id),
                    (SELECT chat_cases.verdict FROM chat_cases WHERE case_row = cases.id)
             FROM cases WHERE run = ? AND category = ? ORDER BY ordinal",
        )?;
        let mut rows = statement.query(params![run.id, category.as_str()])?;
        let mut emissions = self.connection.prepare_cached(
            "SELECT class, substr(raw, 1, 1) = '\"' AND raw <> '\"\"' FROM emissions WHERE case_row = ? ORDER BY turn, step",
        )?;
        let mut cases = Vec::new();
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let (defect, failed): (bool, bool) = (row.get(2)?, row.get(4)?);
            let logged: Option<String> = row.get(5)?;
            let logged = logged.as_deref().and_then(Verdict::parse).filter(|_| !defect);
            let verdict = logged.or((scored && !defect).then_some(if failed { Verdict::Fail } else { Verdict::Pass }));
            let mut case = FrameRow {
                case_id: row.get(1)?,
                defect,
                error_record: row.get(3)?,
                verdict,
                classes: Vec::new(),
                text_seen: false,
            };
            let mut found = emissions.query([id])?;
            while let Some(emission) = found.next()? {
                let class = match emission.get_ref(0)?.as_str_or_null().map_err(rusqlite::Error::from)? {
                    None => None,
                    Some(text) => Some(
                        ActionClass::parse(text)
                            .ok_or_else(|| StoreError::Damaged { what: format!("the action class {text:?}") })?,
                    ),
                };
                let is_text: bool = emission.get(1)?;
                case.text_seen |= is_text && class.is_some() && class != Some(ActionClass::ToolCall);
                case.classes.push(class);
            }
            cases.push(case);
        }
        Ok(cases)
    }

    /// The frame of some runs (`None`: of all), with transitions to the second runs of `pairs`.
    ///
    /// # Errors
    /// An unknown run, or the database's own trouble.
    pub fn frame(
        &self,
        runs: Option<&BTreeSet<RunName>>,
        pairs: &BTreeMap<RunName, RunName>,
    ) -> Result<Vec<FrameCase>, StoreError> {
        let mut frame = Vec::new();
        for run in self.runs()? {
            let name = RunName::parse(&run.name)
                .map_err(|error| StoreError::Damaged { what: format!("a run that cannot be named: {error}") })?;
            if runs.is_some_and(|wanted| !wanted.contains(&name)) {
                continue;
            }
            let second = pairs.get(&name).map(|second| self.run(second.as_str())).transpose()?;
            frame.extend(self.tau2_frame(&run, &name, second.as_ref())?);
            for category in Category::ALL.into_iter().chain(Category::CHAT) {
                let later: BTreeMap<String, Verdict> = match &second {
                    None => BTreeMap::new(),
                    Some(second) => self
                        .frame_rows(second, category)?
                        .into_iter()
                        .filter_map(|row| Some((row.case_id, row.verdict?)))
                        .collect(),
                };
                let gold = category.gold_action();
                for row in self.frame_rows(&run, category)? {
                    let identity = CaseIdentity::new(&name, &row.case_id).map_err(|error| StoreError::Damaged {
                        what: format!("a case that cannot be named: {error}"),
                    })?;
                    let to = later.get(&row.case_id).copied();
                    frame.push(FrameCase {
                        identity,
                        run: name.clone(),
                        model: run.model.clone(),
                        condition: run.condition.clone(),
                        category,
                        verdict: row.verdict,
                        transition: row.verdict.zip(to).map(|(from, to)| Transition { from, to }),
                        // `other` is never a gold action.
                        gar_hit: gold != ActionClass::Other && row.classes.contains(&Some(gold)),
                        error_record: row.error_record,
                        drawable: !row.defect,
                    });
                }
            }
        }
        Ok(frame)
    }

    /// The records of some runs (`None`: of all) that can never be drawn, by run, category and place.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn frame_defects(&self, runs: Option<&BTreeSet<RunName>>) -> Result<Vec<FrameDefect>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT runs.name, cases.category, case_id, raw_id, defect, path, line
             FROM cases JOIN runs ON runs.id = cases.run JOIN run_files ON run_files.id = cases.file
             WHERE defect IS NOT NULL ORDER BY runs.name, cases.category, ordinal",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(FrameDefect {
                run: row.get(0)?,
                category: row.get(1)?,
                case: row.get(2)?,
                id: row.get(3)?,
                defect: row.get(4)?,
                file: row.get(5)?,
                line: row.get::<_, i64>(6)? as u64,
            })
        })?;
        let mut found: Vec<FrameDefect> = rows.collect::<Result<_, _>>()?;
        found.retain(|defect| runs.is_none_or(|runs| runs.iter().any(|run| run.as_str() == defect.run)));
        Ok(found)
    }

    /// Of an audited model's cases that a run has too with a verdict: how many have another verdict there, and of how many.
    ///
    /// # Errors
    /// An unknown run, or the database's own trouble.
    pub fn joined_verdicts(&self, audit: &Audit, model: &str, run: &str) -> Result<(u64, u64), StoreError> {
        let run = self.run(run)?;
        let mut verdicts = BTreeMap::new();
        for category in Category::ALL {
            for row in self.frame_rows(&run, category)? {
                verdicts.insert(row.case_id, row.verdict);
            }
        }
        let (mut differ, mut compared) = (0, 0);
        for case in audit.cases.iter().filter(|case| case.model == model) {
            let there = verdicts.get(case.case.case()).copied().flatten();
            if let (Some(here), Some(there)) = (case.verdict, there) {
                compared += 1;
                differ += u64::from(here != there);
            }
        }
        Ok((differ, compared))
    }

    /// The cases that meet a SQL condition over the view `frame`. The condition can only read that view, call
    /// deterministic functions, and run a bounded number of steps.
    ///
    /// # Errors
    /// A condition that SQLite or the guard refuses.
    pub fn cases_where(&self, stratum: &StratumId, condition: &str) -> Result<BTreeSet<CaseIdentity>, StoreError> {
        let refused = |message: String| StoreError::Condition { stratum: stratum.to_string(), message };
        // A second, read-only connection: the guard stays on it and cannot hinder the first.
        let mut guarded = self.reader()?;
        guarded.authorizer(Some(authorize))?;
        let mut looks = 0;
        guarded.progress_handler(
            STEPS_PER_LOOK,
            Some(move || {
                looks += 1;
                looks > LOOKS
            }),
        )?;
        let sql = format!("SELECT identity FROM frame WHERE ({condition}\n) ORDER BY identity");
        let mut statement = guarded.prepare(&sql).map_err(|error| refused(error.to_string()))?;
        let mut rows = statement.query([]).map_err(|error| refused(error.to_string()))?;
        let mut found = BTreeSet::new();
        while let Some(row) = rows.next().map_err(|error| refused(error.to_string()))? {
            let identity: String = row.get(0)?;
            found.insert(
                CaseIdentity::parse(&identity)
                    .map_err(|error| StoreError::Damaged { what: format!("a case that cannot be named: {error}") })?,
            );
        }
        Ok(found)
    }

    fn reader(&self) -> Result<Connection, StoreError> {
        let connection = Connection::open_with_flags(self.path(), rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        Ok(connection)
    }
}

/// Reads of the view and of the tables behind it, allowed functions; nothing else.
fn authorize(context: AuthContext<'_>) -> Authorization {
    const TABLES: [&str; 12] = [
        "frame",
        "cases",
        "runs",
        "run_files",
        "failures",
        "emissions",
        "chat_cases",
        "tau2_runs",
        "tau2_tasks",
        "tau2_simulations",
        "tau2_messages",
        "tau2_writes",
    ];
    match context.action {
        AuthAction::Select => Authorization::Allow,
        // The tables behind the view may only be read through it.
        AuthAction::Read { table_name, .. }
            if TABLES.contains(&table_name) && (table_name == "frame" || context.accessor == Some("frame")) =>
        {
            Authorization::Allow
        }
        AuthAction::Function { function_name }
            if ALLOWED_FUNCTIONS.contains(&function_name.to_ascii_lowercase().as_str()) =>
        {
            Authorization::Allow
        }
        // The view itself counts emissions.
        AuthAction::Function { function_name: "count" } if context.accessor == Some("frame") => Authorization::Allow,
        _ => Authorization::Deny,
    }
}
