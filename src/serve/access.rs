//! Secrets of links: made here, kept by their holder, known to the store by digest only.

use subtle::ConstantTimeEq as _;

use crate::digest::sha256_hex;
use crate::error::{Error, Result};
use crate::model::{BatchName, RaterName};
use crate::store::{AccessLink, Role};

/// A secret: 32 random bytes as 64 hex digits. Neither printed by `Debug` nor compared directly.
#[derive(Clone)]
pub struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// A new secret.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn new() -> Result<Self> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| Error::internal(format!("no randomness: {error}")))?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// A secret as it came in a link or a cookie; `None` if it cannot be one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        (text.len() == 64 && text.chars().all(hex)).then(|| Self(text.to_owned()))
    }

    /// As it stands in a link.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the store keeps of it.
    #[must_use]
    pub fn digest(&self) -> String {
        sha256_hex(self.0.as_bytes())
    }
}

/// Somebody who came with a valid link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visitor {
    /// The link's row.
    pub link: i64,
    pub batch: BatchName,
    pub role: Role,
    /// `None` for the owner.
    pub rater: Option<RaterName>,
}

/// The visitor of a secret. Looks at every link whatever it finds, and compares digests in constant time.
pub(super) fn visitor(links: &[AccessLink], secret: &Secret) -> Option<Visitor> {
    let digest = secret.digest();
    let mut found = None;
    for link in links {
        let same = bool::from(link.digest.as_bytes().ct_eq(digest.as_bytes()));
        if same && link.valid {
            found = Some(link);
        }
    }
    found.map(|link| Visitor { link: link.id, batch: link.batch.clone(), role: link.role, rater: link.rater.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(id: i64, secret: &Secret, valid: bool) -> AccessLink {
        AccessLink {
            id,
            batch: BatchName::parse("b").expect("valid"),
            role: Role::Owner,
            rater: None,
            digest: secret.digest(),
            valid,
        }
    }

    #[test]
    fn secrets_are_long_different_and_not_shown() {
        let (one, two) = (Secret::new().expect("random"), Secret::new().expect("random"));
        assert_eq!(one.reveal().len(), 64);
        assert_ne!(one.reveal(), two.reveal());
        assert!(!format!("{one:?}").contains(one.reveal()));
        assert!(Secret::parse(one.reveal()).is_some());
        for bad in ["", "abc", &"g".repeat(64), &"A".repeat(64), &"a".repeat(65), "../../etc/passwd"] {
            assert!(Secret::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_revoked_or_foreign_secret_opens_nothing() {
        let (one, two, three) =
            (Secret::new().expect("random"), Secret::new().expect("random"), Secret::new().expect("random"));
        let links = [link(1, &one, true), link(2, &two, false)];
        assert_eq!(visitor(&links, &one).map(|visitor| visitor.link), Some(1));
        assert_eq!(visitor(&links, &two), None);
        assert_eq!(visitor(&links, &three), None);
    }
}
