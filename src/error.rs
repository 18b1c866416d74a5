//! The program's one error type: what kind of trouble, what happened, where, and what to do about it.
//!
//! The kind decides the exit code ([`crate::exit`]); the hint is printed on its own line after the message.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::exit;

/// A result with the program's error.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of trouble an error is; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Input that cannot be used.
    Data,
    /// A wrong command line.
    Usage,
    /// Something named does not exist.
    NotFound,
    /// Contradicts what is stored.
    Conflict,
    /// A check that was asked for failed.
    CheckFailed,
    /// A defect of this program.
    Internal,
    /// The operating system refused.
    Io,
    /// The database stayed busy.
    Busy,
    /// Stopped by the user.
    Interrupted,
}

impl Kind {
    /// The documented exit code of this kind.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Data => exit::DATA,
            Self::Usage => exit::USAGE,
            Self::NotFound => exit::NOT_FOUND,
            Self::Conflict => exit::CONFLICT,
            Self::CheckFailed => exit::CHECK_FAILED,
            Self::Internal => exit::INTERNAL,
            Self::Io => exit::IO,
            Self::Busy => exit::BUSY,
            Self::Interrupted => exit::INTERRUPTED,
        }
    }
}

/// Where in a file the trouble is; lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The file as the user named it.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The column (in bytes), from 1.
    pub column: Option<u64>,
}

impl Place {
    /// A whole file.
    #[must_use]
    pub fn file(file: &Path) -> Self {
        Self { file: file.to_path_buf(), line: None, column: None }
    }

    /// A line of a file.
    #[must_use]
    pub fn line(file: &Path, line: u64) -> Self {
        Self { file: file.to_path_buf(), line: Some(line), column: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        Ok(())
    }
}

/// An error with its kind, message, place and hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    detail: Box<Detail>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Detail {
    kind: Kind,
    message: String,
    place: Option<Place>,
    hint: Option<String>,
}

impl Error {
    /// A new error of a kind.
    #[must_use]
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { detail: Box::new(Detail { kind, message: message.into(), place: None, hint: None }) }
    }

    /// Input that cannot be used.
    #[must_use]
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(Kind::Data, message)
    }

    /// A wrong command line.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// Something named does not exist.
    #[must_use]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, message)
    }

    /// Contradicts what is stored.
    #[must_use]
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(Kind::Conflict, message)
    }

    /// A defect of this program.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, message)
    }

    /// A failed operation on a file: `what` completes "cannot …" (for example "read").
    #[must_use]
    pub fn io(what: &str, path: &Path, source: &std::io::Error) -> Self {
        let kind = if source.kind() == std::io::ErrorKind::NotFound { Kind::NotFound } else { Kind::Io };
        Self::new(kind, format!("cannot {what}: {source}")).at(Place::file(path))
    }

    /// The same error with a place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.detail.place = Some(place);
        self
    }

    /// The same error with a place, unless it has one already.
    #[must_use]
    pub fn at_if_missing(mut self, place: Place) -> Self {
        self.detail.place.get_or_insert(place);
        self
    }

    /// The same error with a hint: what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.detail.hint = Some(hint.into());
        self
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.detail.kind
    }

    /// What happened, without place and hint.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.detail.message
    }

    /// Where it happened.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.detail.place.as_ref()
    }

    /// What the user can do.
    #[must_use]
    pub fn hint_text(&self) -> Option<&str> {
        self.detail.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.detail.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.detail.message)
    }
}

impl std::error::Error for Error {}
