//! Reads runs of τ²-bench: one results file of any schema generation, or the directory layout through its results.json.
//! Simulations are streamed one at a time; parts of the header that can hold secrets are never kept.

mod header;
mod import;
mod stream;
mod task_file;
mod warnings;

pub use import::{Tau2Report, Tau2Request, import};
pub use task_file::{TaskFile, read_task_file};
