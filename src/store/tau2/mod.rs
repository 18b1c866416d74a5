//! τ² in the database: writing a run, reading it back for counts, for the frame and for raters; finished judgments.

mod case_text;
mod frame;
mod reads;
mod verdicts;
mod writer;

pub use reads::Tau2RunRow;
pub use verdicts::{StoredVerdict, VerdictSet};
pub use writer::{NewTau2Run, Tau2Writer};
