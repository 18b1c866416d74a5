//! BFCL multi-turn run files (v3 and v4): results, scores and the data set, streamed into the store.
//!
//! What is imported is keyed by (run, category, result or score): the same bytes again change nothing, a new category
//! or a late score file is an addition, changed bytes of one key are an error. One transaction a file.

mod dataset;
mod discover;
mod fit;
mod import;
mod join;
mod log;
mod request;
mod result_line;
mod results;
mod score_file;
mod scores;

pub use dataset::{Dataset, DatasetEntry};
pub use discover::{FileSet, discover};
pub use fit::{Fit, FitStatus, fit};
pub use import::import;
pub use log::{RunLog, read_log};
pub use request::{FileOutcome, FileReport, ImportReport, ImportRequest, SkippedLine};
pub use result_line::{LineError, ResultRecord, Shape, read_result_line};
pub use score_file::{Failure, ScoreHeader, read_failure, read_header};
