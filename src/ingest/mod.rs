//! Readers of what other programs left behind: run files and audits made elsewhere. Dirty input is kept, counted and
//! reported; what cannot be read is an error with file, line and column, and nothing of that file is stored.

pub mod bfcl;
pub mod labels;
mod lines;
mod oddities;

pub use labels::{ImportedAudit, RaterNames, read_labels};
pub use lines::{LineReader, SourceLine, file_digest, parse_object};
pub use oddities::{Oddities, Oddity};
