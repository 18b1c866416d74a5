//! Rounds of a batch: its draw, what enlarged it, what replaced unusable cases, and how many ratings were known each time.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::batches::insert_cases;
use super::{BatchInfo, NewBatchCase, Store, StoreError};
use crate::model::{BatchName, CaseIdentity};

/// What a round is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundKind {
    /// The draw that made the batch.
    Draw,
    /// A draw that enlarged it.
    Extension,
    /// The next tickets in place of unusable cases.
    Replacement,
}

impl RoundKind {
    /// As stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draw => "draw",
            Self::Extension => "extension",
            Self::Replacement => "replacement",
        }
    }

    fn parse(text: &str) -> Result<Self, StoreError> {
        [Self::Draw, Self::Extension, Self::Replacement]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| StoreError::Damaged { what: format!("a round of kind {text:?}") })
    }
}

/// What is noted of a batch's first draw beside the batch itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstRound<'a> {
    /// Digest of what decided ownership.
    pub assignment: &'a str,
    /// Does every round take a seed of its own?
    pub adversarial: bool,
    /// How the sample was shared out, as JSON.
    pub allocation: &'a str,
}

/// A round that enlarges a batch.
pub struct NewRound<'a> {
    /// Extension or replacement.
    pub kind: RoundKind,
    /// Its seed.
    pub seed: &'a str,
    /// Does every round take a seed of its own?
    pub adversarial: bool,
    /// Digest of what decides ownership.
    pub assignment: &'a str,
    /// How the sample was shared out, as JSON.
    pub allocation: &'a str,
    /// The command line.
    pub command: &'a str,
    /// Now (UTC, RFC 3339).
    pub now: &'a str,
    /// Every stratum as the round leaves it.
    pub strata: Vec<RoundStratum>,
    /// The new cases, each with the unusable case that it stands for, if any.
    pub cases: Vec<(NewBatchCase, Option<CaseIdentity>)>,
}

/// A stratum as a round left it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct RoundStratum {
    /// Short name.
    pub id: String,
    /// Cases wanted.
    pub quota: Option<u64>,
    /// Cases beyond the quota, in place of unusable ones.
    pub replacements: u64,
    /// Cases drawn in all rounds so far.
    pub drawn: u64,
    /// Wanted and not there.
    pub shortfall: u64,
    /// Inclusion probability given earlier batches.
    pub probability: Option<f64>,
    /// Unconditional inclusion probability.
    pub unconditional: Option<f64>,
    /// Why it is unknown.
    pub unconditional_reason: Option<String>,
}

/// A stored round.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct RoundInfo {
    /// Its number, from 1.
    pub round: u64,
    /// What it is.
    pub kind: RoundKind,
    /// Its seed.
    pub seed: Option<String>,
    /// Does every round take a seed of its own?
    pub adversarial: bool,
    /// Digest of what decided ownership; `None`: not noted.
    pub assignment: Option<String>,
    /// How the sample was shared out.
    pub allocation: serde_json::Value,
    /// Cases that came in.
    pub added: u64,
    /// Answers of people and models to the batch's cases at that moment.
    pub ratings_known: u64,
    /// Such answers to cases of the same frame in other batches; `None`: not noted.
    pub ratings_elsewhere: Option<u64>,
    /// Last link of the ratings at that moment; `None`: not noted.
    pub chain_head: Option<String>,
    /// The command line.
    pub command: String,
    /// When (UTC).
    pub made_at: String,
    /// The strata as it left them.
    pub strata: Vec<RoundStratum>,
}

/// A case that came in after the first round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaterCase {
    /// Its round.
    pub round: u64,
    /// The unusable case in whose place it was drawn.
    pub replaces: Option<CaseIdentity>,
}

impl Store {
    /// The rounds of a batch, oldest first; none for an audit made elsewhere or a batch that re-rates another.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn rounds(&self, batch: &BatchInfo) -> Result<Vec<RoundInfo>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT round, kind, seed, adversarial, assignment, allocation, added, ratings_known, ratings_elsewhere, chain_head,
                    command, made_at FROM batch_rounds WHERE batch = ? ORDER BY round",
        )?;
        let mut rows = statement.query([batch.id])?;
        let mut rounds = Vec::new();
        while let Some(row) = rows.next()? {
            let round = row.get::<_, i64>(0)? as u64;
            let allocation: String = row.get(5)?;
            rounds.push(RoundInfo {
                round,
                kind: RoundKind::parse(&row.get::<_, String>(1)?)?,
                seed: row.get(2)?,
                adversarial: row.get(3)?,
                assignment: row.get(4)?,
                allocation: serde_json::from_str(&allocation)
                    .map_err(|error| StoreError::Damaged { what: format!("an allocation that is no JSON: {error}") })?,
                added: row.get::<_, i64>(6)? as u64,
                ratings_known: row.get::<_, i64>(7)? as u64,
                ratings_elsewhere: row.get::<_, Option<i64>>(8)?.map(|count| count as u64),
                chain_head: row.get(9)?,
                command: row.get(10)?,
                made_at: row.get(11)?,
                strata: self.round_strata(batch, round)?,
            });
        }
        Ok(rounds)
    }

    fn round_strata(&self, batch: &BatchInfo, round: u64) -> Result<Vec<RoundStratum>, StoreError> {
        // The first round's numbers stand with the batch; a case's probability is its stratum's.
        let mut statement = self.connection.prepare(if round == 1 {
            "SELECT stratum, quota, 0, drawn, shortfall, min(probability), min(unconditional), min(unconditional_reason)
             FROM (SELECT s.stratum, s.ordinal, s.quota, s.drawn, s.shortfall, c.probability, c.unconditional,
                          c.unconditional_reason
                   FROM batch_strata s LEFT JOIN batch_cases c ON c.batch = s.batch AND c.stratum = s.stratum
                        AND c.identity NOT IN (SELECT identity FROM round_cases WHERE batch = s.batch)
                   WHERE s.batch = ?1 AND ?2 = 1)
             GROUP BY ordinal ORDER BY ordinal"
        } else {
            "SELECT r.stratum, r.quota, replacements, r.drawn, r.shortfall, probability, unconditional, unconditional_reason
             FROM round_strata r JOIN batch_strata s ON s.batch = r.batch AND s.stratum = r.stratum
             WHERE r.batch = ?1 AND round = ?2 ORDER BY ordinal"
        })?;
        let rows = statement.query_map(params![batch.id, round as i64], |row| {
            Ok(RoundStratum {
                id: row.get(0)?,
                quota: row.get::<_, Option<i64>>(1)?.map(|count| count as u64),
                replacements: row.get::<_, i64>(2)? as u64,
                drawn: row.get::<_, i64>(3)? as u64,
                shortfall: row.get::<_, i64>(4)? as u64,
                probability: row.get(5)?,
                unconditional: row.get(6)?,
                unconditional_reason: row.get(7)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The cases that came in after the first round.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn later_cases(&self, batch: &BatchInfo) -> Result<BTreeMap<CaseIdentity, LaterCase>, StoreError> {
        let mut statement =
            self.connection.prepare("SELECT identity, round, replaces FROM round_cases WHERE batch = ?")?;
        let mut rows = statement.query([batch.id])?;
        let mut found = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let replaces: Option<String> = row.get(2)?;
            let later = LaterCase {
                round: row.get::<_, i64>(1)? as u64,
                replaces: replaces.map(|text| identity(&text)).transpose()?,
            };
            found.insert(identity(&row.get::<_, String>(0)?)?, later);
        }
        Ok(found)
    }

    /// The batches that were drawn with this one excluded: its next tickets may be theirs.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn excluded_by(&self, batch: &BatchInfo) -> Result<Vec<BatchName>, StoreError> {
        let mut names = Vec::new();
        for other in self.batches()? {
            let excluded: Vec<String> = serde_json::from_str(&other.excluded).unwrap_or_default();
            if excluded.iter().any(|name| name == batch.name.as_str()) {
                names.push(other.name);
            }
        }
        Ok(names)
    }

    /// Stores a round; returns it as stored. `after` is the number of the round that the caller saw last.
    ///
    /// # Errors
    /// Another round came in between; the database's own trouble.
    pub fn add_round(&mut self, batch: &BatchInfo, after: u64, round: &NewRound<'_>) -> Result<RoundInfo, StoreError> {
        let number = after + 1;
        self.write(|transaction| {
            let last: i64 = transaction.query_row(
                "SELECT coalesce(max(round), 0) FROM batch_rounds WHERE batch = ?",
                [batch.id],
                |row| row.get(0),
            )?;
            if last as u64 != after {
                return Err(StoreError::Conflict {
                    message: format!("batch {} was enlarged by somebody else meanwhile", batch.name),
                    hint: "look at it with `dualrater batches NAME` and try again".into(),
                });
            }
            insert_round(transaction, batch.id, number, round)
        })?;
        self.rounds(batch)?
            .pop()
            .ok_or_else(|| StoreError::Damaged { what: "no round of a batch that was just enlarged".into() })
    }
}

fn identity(text: &str) -> Result<CaseIdentity, StoreError> {
    CaseIdentity::parse(text)
        .map_err(|error| StoreError::Damaged { what: format!("a case that cannot be named: {error}") })
}

/// Answers of people and models to the cases of a batch: what a person who enlarges it may have looked at. Computed
/// answers follow from the runs and are no news.
fn ratings_known(connection: &Connection, batch: i64) -> Result<i64, StoreError> {
    Ok(connection.query_row(
        "SELECT count(*) FROM (SELECT DISTINCT identity, label, rater FROM ratings JOIN raters ON raters.name = rater
         WHERE batch = ? AND act = 'rating' AND kind <> 'mechanical')",
        [batch],
        |row| row.get(0),
    )?)
}

fn ratings_elsewhere(connection: &Connection, batch: i64) -> Result<i64, StoreError> {
    Ok(connection.query_row(
        "SELECT count(*) FROM (SELECT DISTINCT batch, identity, label, rater FROM ratings
             JOIN raters ON raters.name = rater JOIN batches ON batches.id = batch
             WHERE batch <> ?1 AND act = 'rating' AND raters.kind <> 'mechanical'
               AND frame_digest = (SELECT frame_digest FROM batches WHERE id = ?1))",
        [batch],
        |row| row.get(0),
    )?)
}

fn chain_head(connection: &Connection) -> Result<String, StoreError> {
    Ok(connection
        .query_row("SELECT link FROM ratings ORDER BY id DESC LIMIT 1", [], |row| row.get(0))
        .optional()?
        .unwrap_or_else(|| crate::digest::CHAIN_START.to_owned()))
}

/// What a round's own row holds.
struct Row<'a> {
    number: u64,
    kind: RoundKind,
    seed: Option<&'a str>,
    adversarial: bool,
    assignment: &'a str,
    allocation: &'a str,
    added: usize,
    command: &'a str,
    now: &'a str,
}

fn insert_row(transaction: &Transaction<'_>, batch: i64, row: &Row<'_>) -> Result<(), StoreError> {
    transaction.execute(
        "INSERT INTO batch_rounds (batch, round, kind, seed, adversarial, assignment, allocation, added, ratings_known,
         ratings_elsewhere, chain_head, command, made_at, program) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        params![
            batch,
            row.number as i64,
            row.kind.as_str(),
            row.seed,
            row.adversarial,
            row.assignment,
            row.allocation,
            row.added as i64,
            ratings_known(transaction, batch)?,
            ratings_elsewhere(transaction, batch)?,
            chain_head(transaction)?,
            row.command,
            row.now,
            env!("CARGO_PKG_VERSION"),
        ],
    )?;
    Ok(())
}

/// The row of the draw that makes a batch.
pub(super) fn insert_first(
    transaction: &Transaction<'_>,
    batch: i64,
    first: &FirstRound<'_>,
    (seed, added): (Option<&str>, usize),
    (command, now): (&str, &str),
) -> Result<(), StoreError> {
    let FirstRound { assignment, adversarial, allocation } = *first;
    let kind = RoundKind::Draw;
    insert_row(
        transaction,
        batch,
        &Row { number: 1, kind, seed, adversarial, assignment, allocation, added, command, now },
    )
}

fn insert_round(
    transaction: &Transaction<'_>,
    batch: i64,
    number: u64,
    round: &NewRound<'_>,
) -> Result<(), StoreError> {
    let row = Row {
        number,
        kind: round.kind,
        seed: Some(round.seed),
        adversarial: round.adversarial,
        assignment: round.assignment,
        allocation: round.allocation,
        added: round.cases.len(),
        command: round.command,
        now: round.now,
    };
    insert_row(transaction, batch, &row)?;
    for stratum in &round.strata {
        transaction.execute(
            "INSERT INTO round_strata (batch, round, stratum, quota, replacements, drawn, shortfall, probability, unconditional,
             unconditional_reason) VALUES (?,?,?,?,?,?,?,?,?,?)",
            params![
                batch,
                number as i64,
                stratum.id,
                stratum.quota.unwrap_or(0) as i64,
                stratum.replacements as i64,
                stratum.drawn as i64,
                stratum.shortfall as i64,
                stratum.probability,
                stratum.unconditional,
                stratum.unconditional_reason,
            ],
        )?;
    }
    let position: i64 = transaction.query_row(
        "SELECT coalesce(max(position) + 1, 0) FROM batch_cases WHERE batch = ?",
        [batch],
        |row| row.get(0),
    )?;
    insert_cases(transaction, batch, position, round.cases.iter().map(|(case, _)| case))?;
    for (case, replaces) in &round.cases {
        transaction.execute(
            "INSERT INTO round_cases (batch, identity, round, replaces) VALUES (?,?,?,?)",
            params![batch, case.identity.as_str(), number as i64, replaces.as_ref().map(CaseIdentity::as_str)],
        )?;
    }
    Ok(())
}
