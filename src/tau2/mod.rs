//! τ²-bench: its tasks and their classes, its messages and their labels, its database writes, and what a run's
//! simulations say about Gold Action Recall. Values in, values out; files are read by `ingest`, rows kept by `store`.

mod ask_labels;
mod audit;
mod confirm;
mod content;
mod detector;
mod domain;
mod evidence;
mod gar_rows;
mod masking;
mod shape;
mod simulation;
mod tasks;

pub use ask_labels::{AskLabel, PublishedAsk, published_ask_labels};
pub use audit::{AskSubset, ClassCounts, RunAudit, ask_subset, audit};
pub use confirm::{ConfirmRecord, ConfirmRow, confirm_table, consent_record};
pub use content::{ContentMatch, TaskIdCheck};
pub use detector::{MessageLabels, message_labels};
pub use domain::Domain;
pub use evidence::{Row, RunFacts, RunReading};
pub use gar_rows::{Tau2GarRow, gar_rows};
pub use masking::{Masking, masking};
pub use shape::ShapeError;
pub use simulation::{Check, Message, SimulationFacts, ToolCall, WriteCall, read_message, read_simulation};
pub use tasks::{Action, Task, TaskSet, read_task};
