//! Roles: the names under which a plan speaks of runs, so that one plan fits everybody's run names.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A role of a plan, such as `xlam` or `qwen_sri`: letters, digits, `_` and `-`, at most 64 bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Role(String);

/// Why a text is not a role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a role: use 1 to 64 letters, digits, `_` or `-`")]
pub struct RoleError {
    /// The text.
    pub text: String,
}

impl Role {
    /// Checks a text and makes it a role.
    ///
    /// # Errors
    /// Empty, longer than 64 bytes, or with a character other than ASCII letters, digits, `_` and `-`.
    pub fn parse(text: &str) -> Result<Self, RoleError> {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        if text.is_empty() || text.len() > 64 || !text.bytes().all(fits) {
            return Err(RoleError { text: text.to_owned() });
        }
        Ok(Self(text.to_owned()))
    }

    /// The role as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl std::str::FromStr for Role {
    type Err = RoleError;
    fn from_str(text: &str) -> Result<Self, RoleError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Role {
    type Error = RoleError;
    fn try_from(text: String) -> Result<Self, RoleError> {
        Self::parse(&text)
    }
}

impl From<Role> for String {
    fn from(role: Role) -> Self {
        role.0
    }
}
