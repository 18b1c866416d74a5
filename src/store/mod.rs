//! The one SQLite file: runs and cases as ingested, batches as drawn, ratings as given. Every SQL string of the program
//! lives here (and in `sample/sql.rs`). Rows are added, never changed.

mod access;
mod batches;
mod case_text;
mod emissions;
mod error;
mod frame;
mod new_run;
mod open;
mod own;
mod raters;
mod ratings;
mod reratings;
mod run_writer;
mod runs;

pub use access::{AccessLink, Role};
pub use batches::{BatchInfo, NewBatch, NewBatchCase, NewBatchStratum, StoredCase};
pub use emissions::CaseSource;
pub use error::StoreError;
pub use frame::FrameRow;
pub use new_run::{CaseFitRow, NewCase, NewEmission, NewFailure, NewFile};
pub use open::Store;
pub use own::{Draft, MarkKind, Marks, OwnEvent, OwnRows, OwnWriter};
pub use ratings::{Act, ChainReport, NewRating, StoredRating};
pub use reratings::Rerating;
pub use run_writer::RunWriter;
pub use runs::{FileKind, FileRow, RunRow};
