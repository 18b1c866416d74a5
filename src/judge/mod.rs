//! Model raters: asks a chat endpoint for each case, reads the reply like a person's answer, and says what to store. The
//! only module that opens outgoing connections. It reads no clock (time comes in as a function) and no database.
//!
//! [`Judge`] holds what all cases share; [`run`] works through jobs on a bounded number of threads; [`request_line`] and
//! [`read_batch_line`] are the same by way of a batch file.

mod ask;
mod backoff;
mod batch_file;
mod client;
mod endpoint;
mod pool;
mod reply;
mod request;
mod verdict;

pub use ask::{Failure, FailureKind, Job, Judge, Judged, Limits};
pub use batch_file::{BatchAnswer, custom_id, read_batch_line, request_line};
pub use client::{Client, ClientError};
pub use endpoint::{ApiKey, Endpoint, EndpointError};
pub use pool::run;
pub use request::{Parameters, Request, SchemaForm};
