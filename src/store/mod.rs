//! The one SQLite file: runs and cases as ingested, batches as drawn, ratings as given. Every SQL string of the program
//! lives here (and in `sample/sql.rs`). Rows are added, never changed.

mod access;
mod batches;
mod case_text;
mod chat;
mod emissions;
mod error;
mod event_logs;
mod frame;
mod judgement_reads;
mod judgements;
mod new_run;
mod nonresponse;
mod open;
mod own;
mod raters;
mod ratings;
mod reratings;
mod rounds;
mod run_writer;
mod runs;
mod tau2;

pub use access::{AccessLink, Role};
pub use batches::{BatchInfo, NewBatch, NewBatchCase, NewBatchStratum, StoredCase};
pub use emissions::CaseSource;
pub use error::StoreError;
pub use event_logs::NewEventLog;
pub use frame::{FrameDefect, FrameRow};
pub use judgements::{Asked, BatchRequest, JudgeAnswer, JudgeState, JudgeTotals, NewReply, PassAnswer, ReplyOutcome};
pub use new_run::{CaseFitRow, NewCase, NewEmission, NewFailure, NewFile};
pub use nonresponse::UnusableCase;
pub use open::Store;
pub use own::{Draft, MarkKind, Marks, OwnEvent, OwnRows, OwnWriter};
pub use ratings::{Act, ChainReport, NewRating, StoredRating};
pub use reratings::Rerating;
pub use rounds::{FirstRound, LaterCase, NewRound, RoundInfo, RoundKind, RoundStratum};
pub use run_writer::RunWriter;
pub use runs::{FileKind, FileRow, RunRow};
pub use tau2::{NewTau2Run, StoredVerdict, Tau2RunRow, Tau2Writer, VerdictSet};
