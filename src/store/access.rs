//! Links with a secret by which raters, adjudicators and owners come to a batch's page. The secret itself is never stored.

use rusqlite::params;

use super::raters::rater_of;
use super::{BatchInfo, Store, StoreError};
use crate::model::{BatchName, RaterName};

/// What a link lets its holder do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Rate the batch.
    Rater,
    /// Rule on disagreements.
    Adjudicator,
    /// See how far everybody is.
    Owner,
}

impl Role {
    /// As stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rater => "rater",
            Self::Adjudicator => "adjudicator",
            Self::Owner => "owner",
        }
    }

    fn parse(text: &str) -> Result<Self, StoreError> {
        [Self::Rater, Self::Adjudicator, Self::Owner]
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or_else(|| StoreError::Damaged { what: format!("the role {text:?}") })
    }
}

/// A link that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessLink {
    /// Row id.
    pub id: i64,
    /// The batch.
    pub batch: BatchName,
    /// What it lets its holder do.
    pub role: Role,
    /// Whose it is; `None` for the owner.
    pub rater: Option<RaterName>,
    /// SHA-256 of the secret, in hex.
    pub digest: String,
    /// Does it still open the page?
    pub valid: bool,
}

impl Store {
    /// Notes a link by the digest of its secret. Earlier links of the same holder are revoked.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn add_access(
        &mut self,
        batch: &BatchInfo,
        role: Role,
        rater: Option<&RaterName>,
        digest: &str,
        now: &str,
    ) -> Result<(), StoreError> {
        self.revoke_access(batch, role, rater, now)?;
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO access_links (batch, role, rater, digest, made_at) VALUES (?,?,?,?,?)",
                params![batch.id, role.as_str(), rater.map(RaterName::as_str), digest, now],
            )?;
            Ok(())
        })
    }

    /// Revokes all links of a holder; returns how many were still valid.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn revoke_access(
        &mut self,
        batch: &BatchInfo,
        role: Role,
        rater: Option<&RaterName>,
        now: &str,
    ) -> Result<usize, StoreError> {
        self.write(|transaction| {
            Ok(transaction.execute(
                "UPDATE access_links SET revoked_at = ?4
                 WHERE batch = ?1 AND role = ?2 AND rater IS ?3 AND revoked_at IS NULL",
                params![batch.id, role.as_str(), rater.map(RaterName::as_str), now],
            )?)
        })
    }

    /// All links, oldest first.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn access_links(&self) -> Result<Vec<AccessLink>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT access_links.id, batches.name, role, rater, digest, revoked_at IS NULL
             FROM access_links JOIN batches ON batches.id = batch ORDER BY access_links.id",
        )?;
        let mut rows = statement.query([])?;
        let mut links = Vec::new();
        while let Some(row) = rows.next()? {
            let batch: String = row.get(1)?;
            links.push(AccessLink {
                id: row.get(0)?,
                batch: BatchName::parse(&batch).map_err(|error| StoreError::Damaged { what: error.to_string() })?,
                role: Role::parse(&row.get::<_, String>(2)?)?,
                rater: row.get::<_, Option<String>>(3)?.map(|name| rater_of(&name)).transpose()?,
                digest: row.get(4)?,
                valid: row.get(5)?,
            });
        }
        Ok(links)
    }
}
