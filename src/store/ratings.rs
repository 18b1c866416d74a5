//! Ratings, rulings and spot checks: appended to one hash chain, read back as an [`Audit`], verified link by link.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::raters::rater_of;
use super::runs::category_of;
use super::{BatchInfo, Store, StoreError};
use crate::digest::{CHAIN_START, chain_next};
use crate::model::{
    ActionClass, Adjudication, Audit, AuditCase, AuditStratum, CaseIdentity, Category, LabelId, RaterName, Rating,
    RatingValue, SpotCheck, StratumId, Transition, Verdict,
};

/// What an entry of the chain is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// A rater's answer.
    Rating,
    /// The adjudicator's ruling on a disagreement.
    Ruling,
    /// The adjudicator's check of an agreement.
    SpotCheck,
}

impl Act {
    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rating => "rating",
            Self::Ruling => "ruling",
            Self::SpotCheck => "spot_check",
        }
    }
}

/// An entry to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRating {
    /// What it is.
    pub act: Act,
    /// The case.
    pub case: CaseIdentity,
    /// The question.
    pub label: LabelId,
    /// Who.
    pub rater: RaterName,
    /// The answer.
    pub value: RatingValue,
    /// Spot checks: was the agreed value correct?
    pub correct: Option<bool>,
    /// Why.
    pub rationale: String,
    /// Digest of what the rater was shown; `None` for audits made elsewhere.
    pub case_digest: Option<String>,
    /// Where it came from: a file with its digest, or a command.
    pub source: String,
}

/// A stored entry.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct StoredRating {
    /// Place in the chain, from 1.
    pub id: i64,
    /// The batch's name.
    pub batch: String,
    /// What it is, as stored.
    pub act: String,
    /// The entry.
    pub case: String,
    /// Question.
    pub label: String,
    /// Who.
    pub rater: String,
    /// Answer.
    pub value: String,
    /// Spot checks: was the agreed value correct?
    pub correct: Option<bool>,
    /// Why.
    pub rationale: String,
    /// When (UTC).
    pub rated_at: String,
    /// Its link.
    pub link: String,
}

/// What a check of the chain found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ChainReport {
    /// Entries checked.
    pub entries: u64,
    /// The link of the last entry.
    pub head: String,
    /// The first entry whose link does not follow from what is stored.
    pub first_broken: Option<i64>,
}

impl Store {
    /// Appends entries to the chain, all or none.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn append(&mut self, batch: &BatchInfo, entries: &[NewRating], now: &str) -> Result<String, StoreError> {
        let (id, rubric) = (batch.id, batch.rubric.0.clone());
        self.write(|transaction| {
            let mut link = chain_head(transaction)?;
            let mut insert = transaction.prepare(
                "INSERT INTO ratings (batch, act, identity, label, rater, value, correct, rationale, rubric_digest, case_digest,
                 source, rated_at, previous, link) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            )?;
            for entry in entries {
                let batch_text = id.to_string();
                let correct = entry.correct.map(|correct| if correct { "1" } else { "0" });
                let next = chain_next(
                    &link,
                    &[
                        Some(batch_text.as_str()),
                        Some(entry.act.as_str()),
                        Some(entry.case.as_str()),
                        Some(entry.label.as_str()),
                        Some(entry.rater.as_str()),
                        Some(entry.value.as_str()),
                        correct,
                        Some(entry.rationale.as_str()),
                        Some(rubric.as_str()),
                        entry.case_digest.as_deref(),
                        Some(entry.source.as_str()),
                        Some(now),
                    ],
                );
                insert.execute(params![
                    id,
                    entry.act.as_str(),
                    entry.case.as_str(),
                    entry.label.as_str(),
                    entry.rater.as_str(),
                    entry.value.as_str(),
                    entry.correct,
                    entry.rationale,
                    rubric,
                    entry.case_digest,
                    entry.source,
                    now,
                    link,
                    next,
                ])?;
                link = next;
            }
            Ok(link)
        })
    }

    /// The link of the last entry: print it, so that a copy outside the database can prove the rest.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn chain_head(&self) -> Result<String, StoreError> {
        chain_head(&self.connection)
    }

    /// Re-computes every link.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn verify_chain(&self) -> Result<ChainReport, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT id, batch, act, identity, label, rater, value, correct, rationale, rubric_digest, case_digest, source,
                    rated_at, previous, link FROM ratings ORDER BY id",
        )?;
        let mut rows = statement.query([])?;
        let mut report = ChainReport { entries: 0, head: CHAIN_START.to_owned(), first_broken: None };
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let batch: i64 = row.get(1)?;
            let correct: Option<bool> = row.get(7)?;
            let text = |column: usize| row.get::<_, Option<String>>(column);
            let fields = [text(2)?, text(3)?, text(4)?, text(5)?, text(6)?];
            let rest = [text(8)?, text(9)?, text(10)?, text(11)?, text(12)?];
            let batch = batch.to_string();
            let mut all = vec![Some(batch.as_str())];
            all.extend(fields.iter().map(Option::as_deref));
            all.push(correct.map(|correct| if correct { "1" } else { "0" }));
            all.extend(rest.iter().map(Option::as_deref));
            let previous: String = row.get(13)?;
            let link: String = row.get(14)?;
            let sound = previous == report.head && link == chain_next(&previous, &all);
            if !sound && report.first_broken.is_none() {
                report.first_broken = Some(id);
            }
            report.entries += 1;
            report.head = link;
        }
        Ok(report)
    }

    /// Is this link in the chain? With it, a head that was printed earlier proves that everything up to it still stands.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn chain_holds(&self, head: &str) -> Result<bool, StoreError> {
        Ok(head == CHAIN_START || self.connection.prepare("SELECT 1 FROM ratings WHERE link = ?")?.exists([head])?)
    }

    /// Per case of a batch the digests of what its raters were shown.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn shown_digests(&self, batch: &BatchInfo) -> Result<BTreeMap<CaseIdentity, Vec<String>>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT DISTINCT identity, case_digest FROM ratings WHERE batch = ? AND case_digest IS NOT NULL",
        )?;
        let mut rows = statement.query([batch.id])?;
        let mut digests: BTreeMap<CaseIdentity, Vec<String>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let identity: String = row.get(0)?;
            let identity =
                CaseIdentity::parse(&identity).map_err(|error| StoreError::Damaged { what: error.to_string() })?;
            digests.entry(identity).or_default().push(row.get(1)?);
        }
        Ok(digests)
    }

    /// Every entry about a case (in all batches), oldest first.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn history(&self, case: &CaseIdentity) -> Result<Vec<StoredRating>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT ratings.id, batches.name, act, identity, label, rater, value, correct, rationale, rated_at, link
             FROM ratings JOIN batches ON batches.id = batch WHERE identity = ? ORDER BY ratings.id",
        )?;
        let rows = statement.query_map([case.as_str()], |row| {
            Ok(StoredRating {
                id: row.get(0)?,
                batch: row.get(1)?,
                act: row.get(2)?,
                case: row.get(3)?,
                label: row.get(4)?,
                rater: row.get(5)?,
                value: row.get(6)?,
                correct: row.get(7)?,
                rationale: row.get(8)?,
                rated_at: row.get(9)?,
                link: row.get(10)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The audit as one value: the latest rating of every rater, rulings, spot checks, and the automatic metric where a run
    /// is joined. `labels`: the rubric's labels in order.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn audit(&self, batch: &BatchInfo, labels: Vec<LabelId>) -> Result<Audit, StoreError> {
        let damaged = |error: crate::model::IdError| StoreError::Damaged { what: error.to_string() };
        let mut cases = Vec::new();
        let mut places = BTreeMap::new();
        for stored in self.batch_cases(batch)? {
            let gar_hit = self.gar_hit_of(batch, &stored)?;
            places.insert(stored.identity.clone(), cases.len());
            cases.push(AuditCase {
                category: category_of(&stored.category)?,
                stratum: StratumId::parse(&stored.stratum).map_err(damaged)?,
                transition: stored.transition.as_deref().and_then(Transition::parse),
                verdict: stored.verdict.as_deref().and_then(Verdict::parse),
                gar_hit,
                case: stored.identity,
                model: stored.model,
                ratings: BTreeMap::new(),
                adjudications: BTreeMap::new(),
                spot_checks: None,
            });
        }
        let mut statement = self.connection.prepare(
            "SELECT act, identity, label, rater, value, correct, rationale FROM ratings WHERE batch = ? ORDER BY id",
        )?;
        let mut rows = statement.query([batch.id])?;
        while let Some(row) = rows.next()? {
            let act: String = row.get(0)?;
            let identity: String = row.get(1)?;
            let identity = CaseIdentity::parse(&identity).map_err(damaged)?;
            let Some(case) = places.get(&identity).and_then(|place| cases.get_mut(*place)) else { continue };
            let label = LabelId::parse(&row.get::<_, String>(2)?).map_err(damaged)?;
            let rater = rater_of(&row.get::<_, String>(3)?)?;
            let value = RatingValue::from(row.get::<_, String>(4)?);
            let rationale: String = row.get(6)?;
            match act.as_str() {
                "rating" => {
                    let rating = Rating { rater: rater.clone(), label: label.clone(), value, rationale };
                    case.ratings.entry(rater).or_default().insert(label, rating);
                }
                "ruling" => {
                    case.adjudications.insert(label, Adjudication { value, note: rationale });
                }
                _ => {
                    let correct = row.get::<_, Option<bool>>(5)?.unwrap_or(true);
                    let check = SpotCheck { correct, value, note: rationale };
                    case.spot_checks.get_or_insert_default().insert(label, check);
                }
            }
        }
        let mut strata = Vec::new();
        for stratum in self.batch_strata(batch)? {
            strata.push(AuditStratum {
                id: StratumId::parse(&stratum.id).map_err(damaged)?,
                title: stratum.title,
                population: stratum.population,
                drawn: stratum.drawn,
                quota: stratum.quota,
            });
        }
        Ok(Audit {
            batch: batch.name.clone(),
            strata,
            raters: self.batch_raters(batch)?,
            pair: self.pair_of_record(batch)?,
            labels,
            cases,
        })
    }

    /// The any-turn GAR hit of a case: from its own run, or from the run that its model is joined to.
    fn gar_hit_of(&self, batch: &BatchInfo, case: &super::StoredCase) -> Result<Option<bool>, StoreError> {
        let run = if batch.imported {
            match self.joined_run(batch, &case.model)? {
                Some(run) => run,
                None => return Ok(None),
            }
        } else {
            case.identity.run().to_owned()
        };
        let category = category_of(&case.category)?;
        if Category::TAU2.contains(&category) {
            return self.tau2_gar_hit(&self.run(&run)?, case.identity.case());
        }
        let gold = category.gold_action();
        // A conversation that asks for nothing known has no metric.
        if gold == ActionClass::Other {
            return Ok(None);
        }
        Ok(self
            .connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM emissions WHERE case_row = cases.id AND class = ?3)
                 FROM cases JOIN runs ON runs.id = cases.run WHERE runs.name = ?1 AND case_id = ?2",
            )?
            .query_row(params![run, case.identity.case(), gold.as_str()], |row| row.get(0))
            .optional()?)
    }
}

fn chain_head(connection: &Connection) -> Result<String, StoreError> {
    Ok(connection
        .query_row("SELECT link FROM ratings ORDER BY id DESC LIMIT 1", [], |row| row.get(0))
        .optional()?
        .unwrap_or_else(|| CHAIN_START.to_owned()))
}
