//! What one rater said and noted in one batch, and nothing else: every statement here names batch and rater, so whatever
//! is built on [`OwnRows`] cannot reach another rater's answers, a ruling or a class.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::ratings::append_in;
use super::{BatchInfo, NewRating, Store, StoreError};
use crate::model::{CaseIdentity, LabelId, RaterName, Rating, RatingValue};

/// One rater's own rows of one batch.
pub struct OwnRows<'c> {
    connection: &'c Connection,
    batch: i64,
    rater: RaterName,
}

/// The same, inside a transaction that may write.
pub struct OwnWriter<'c> {
    rows: OwnRows<'c>,
    rubric: String,
}

/// An answer that is no rating yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Draft {
    /// The value as chosen; blank: none.
    pub value: String,
    /// The rationale as typed.
    pub rationale: String,
}

/// A rater's marks on a case.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Marks {
    /// To look at again, with a note that may be empty.
    pub flag: Option<String>,
    /// The rater knew the case before.
    pub known: bool,
}

/// The two kinds of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// To look at again.
    Flag,
    /// Known before.
    Known,
}

impl MarkKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Known => "known",
        }
    }
}

/// One rating event of this rater.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnEvent {
    /// The case.
    pub case: CaseIdentity,
    /// The label.
    pub label: LabelId,
    /// The value; `None`: taken back.
    pub value: Option<RatingValue>,
    /// The rationale.
    pub rationale: String,
    /// Where it came from.
    pub source: String,
}

impl Store {
    /// What a rater said and noted in a batch.
    #[must_use]
    pub fn own<'s>(&'s self, batch: &BatchInfo, rater: &RaterName) -> OwnRows<'s> {
        OwnRows { connection: &self.connection, batch: batch.id, rater: rater.clone() }
    }

    /// Runs `work` on a rater's own rows in one immediate transaction; an error rolls everything back.
    ///
    /// # Errors
    /// Whatever `work` returns, or the database's own trouble.
    pub fn write_own<T, E: From<StoreError>>(
        &mut self,
        batch: &BatchInfo,
        rater: &RaterName,
        work: impl FnOnce(&OwnWriter<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let (id, rubric, rater) = (batch.id, batch.rubric.0.clone(), rater.clone());
        self.write(|transaction| {
            work(&OwnWriter { rows: OwnRows { connection: transaction, batch: id, rater }, rubric })
        })
    }
}

impl OwnRows<'_> {
    /// Whose rows these are.
    #[must_use]
    pub fn rater(&self) -> &RaterName {
        &self.rater
    }

    /// The latest answers per case.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn ratings(&self) -> Result<BTreeMap<CaseIdentity, BTreeMap<LabelId, Rating>>, StoreError> {
        Ok(self.latest(self.events()?))
    }

    fn latest(&self, events: Vec<OwnEvent>) -> BTreeMap<CaseIdentity, BTreeMap<LabelId, Rating>> {
        let mut found: BTreeMap<CaseIdentity, BTreeMap<LabelId, Rating>> = BTreeMap::new();
        for event in events {
            let case = found.entry(event.case).or_default();
            match event.value {
                None => {
                    case.remove(&event.label);
                }
                Some(value) => {
                    let (rater, rationale) = (self.rater.clone(), event.rationale);
                    case.insert(event.label.clone(), Rating { rater, label: event.label, value, rationale });
                }
            }
        }
        found
    }

    /// The latest answers to one case.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn ratings_of(&self, case: &CaseIdentity) -> Result<BTreeMap<LabelId, Rating>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT identity, label, value, rationale, source FROM ratings
             WHERE batch = ? AND rater = ? AND act = 'rating' AND identity = ? ORDER BY id",
        )?;
        let events = read_events(statement.query(params![self.batch, self.rater.as_str(), case.as_str()])?)?;
        Ok(self.latest(events).remove(case).unwrap_or_default())
    }

    /// Every answer ever given, oldest first.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn events(&self) -> Result<Vec<OwnEvent>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT identity, label, value, rationale, source FROM ratings
             WHERE batch = ? AND rater = ? AND act = 'rating' ORDER BY id",
        )?;
        read_events(statement.query(params![self.batch, self.rater.as_str()])?)
    }

    /// Drafts per case.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn drafts(&self) -> Result<BTreeMap<CaseIdentity, BTreeMap<LabelId, Draft>>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT identity, label, value, rationale FROM drafts WHERE batch = ? AND rater = ?")?;
        let mut rows = statement.query(params![self.batch, self.rater.as_str()])?;
        let mut drafts: BTreeMap<CaseIdentity, BTreeMap<LabelId, Draft>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let case = drafts.entry(identity_of(&row.get::<_, String>(0)?)?).or_default();
            let draft = Draft { value: row.get(2)?, rationale: row.get(3)? };
            case.insert(label_of(&row.get::<_, String>(1)?)?, draft);
        }
        Ok(drafts)
    }

    /// Marks per case; cases without any are left out.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn marks(&self) -> Result<BTreeMap<CaseIdentity, Marks>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT identity, kind, is_set, note FROM case_marks WHERE batch = ? AND rater = ? ORDER BY id",
        )?;
        let mut rows = statement.query(params![self.batch, self.rater.as_str()])?;
        let mut marks: BTreeMap<CaseIdentity, Marks> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let case = marks.entry(identity_of(&row.get::<_, String>(0)?)?).or_default();
            let (kind, is_set, note): (String, bool, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
            if kind == MarkKind::Flag.as_str() {
                case.flag = is_set.then_some(note);
            } else {
                case.known = is_set;
            }
        }
        marks.retain(|_, marks| *marks != Marks::default());
        Ok(marks)
    }

    /// Seconds before the rater's eyes per case.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn seconds(&self) -> Result<BTreeMap<CaseIdentity, u64>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT identity, sum(seconds) FROM case_visits WHERE batch = ? AND rater = ? GROUP BY identity",
        )?;
        let mut rows = statement.query(params![self.batch, self.rater.as_str()])?;
        let mut seconds = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let total: i64 = row.get(1)?;
            seconds.insert(identity_of(&row.get::<_, String>(0)?)?, u64::try_from(total).unwrap_or(0));
        }
        Ok(seconds)
    }
}

impl<'c> std::ops::Deref for OwnWriter<'c> {
    type Target = OwnRows<'c>;
    fn deref(&self) -> &OwnRows<'c> {
        &self.rows
    }
}

impl OwnWriter<'_> {
    /// Appends rating events to the chain; returns its head.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn append(&self, entries: &[NewRating], now: &str) -> Result<String, StoreError> {
        append_in(self.rows.connection, self.rows.batch, &self.rubric, entries, now)
    }

    /// Keeps a draft; a blank one is removed.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn set_draft(&self, case: &CaseIdentity, label: &LabelId, draft: &Draft, now: &str) -> Result<(), StoreError> {
        if draft.value.is_empty() && draft.rationale.is_empty() {
            return self.clear_draft(case, label);
        }
        self.rows
            .connection
            .prepare_cached(
                "INSERT INTO drafts (batch, rater, identity, label, value, rationale, saved_at) VALUES (?,?,?,?,?,?,?)
                 ON CONFLICT DO UPDATE SET value = excluded.value, rationale = excluded.rationale, saved_at = excluded.saved_at",
            )?
            .execute(params![
                self.rows.batch,
                self.rows.rater.as_str(),
                case.as_str(),
                label.as_str(),
                draft.value,
                draft.rationale,
                now
            ])?;
        Ok(())
    }

    /// Removes a draft.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn clear_draft(&self, case: &CaseIdentity, label: &LabelId) -> Result<(), StoreError> {
        self.rows
            .connection
            .prepare_cached("DELETE FROM drafts WHERE batch = ? AND rater = ? AND identity = ? AND label = ?")?
            .execute(params![self.rows.batch, self.rows.rater.as_str(), case.as_str(), label.as_str()])?;
        Ok(())
    }

    /// Sets or takes away a mark; the same again adds nothing.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn mark(&self, case: &CaseIdentity, kind: MarkKind, note: Option<&str>, now: &str) -> Result<(), StoreError> {
        let marks = self.rows.marks()?.remove(case).unwrap_or_default();
        let same = match kind {
            MarkKind::Flag => marks.flag.as_deref() == note,
            MarkKind::Known => marks.known == note.is_some(),
        };
        if same {
            return Ok(());
        }
        self.rows
            .connection
            .prepare_cached(
                "INSERT INTO case_marks (batch, rater, identity, kind, is_set, note, at) VALUES (?,?,?,?,?,?,?)",
            )?
            .execute(params![
                self.rows.batch,
                self.rows.rater.as_str(),
                case.as_str(),
                kind.as_str(),
                note.is_some(),
                note.unwrap_or_default(),
                now
            ])?;
        Ok(())
    }

    /// Notes how long a visit to a case has lasted so far; it never shrinks.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn visit(&self, case: &CaseIdentity, visit: &str, seconds: u32, now: &str) -> Result<(), StoreError> {
        self.rows
            .connection
            .prepare_cached(
                "INSERT INTO case_visits (batch, rater, identity, visit, seconds, at) VALUES (?,?,?,?,?,?)
                 ON CONFLICT DO UPDATE SET seconds = max(seconds, excluded.seconds), at = excluded.at",
            )?
            .execute(params![self.rows.batch, self.rows.rater.as_str(), case.as_str(), visit, seconds, now])?;
        Ok(())
    }
}

fn read_events(mut rows: rusqlite::Rows<'_>) -> Result<Vec<OwnEvent>, StoreError> {
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let value: String = row.get(2)?;
        events.push(OwnEvent {
            case: identity_of(&row.get::<_, String>(0)?)?,
            label: label_of(&row.get::<_, String>(1)?)?,
            value: (value != RatingValue::TAKEN_BACK).then(|| RatingValue::from(value)),
            rationale: row.get(3)?,
            source: row.get(4)?,
        });
    }
    Ok(events)
}

fn identity_of(text: &str) -> Result<CaseIdentity, StoreError> {
    CaseIdentity::parse(text).map_err(|error| StoreError::Damaged { what: error.to_string() })
}

fn label_of(text: &str) -> Result<LabelId, StoreError> {
    LabelId::parse(text).map_err(|error| StoreError::Damaged { what: error.to_string() })
}
