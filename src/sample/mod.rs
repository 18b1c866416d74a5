//! The draw: a frame, a plan and a seed make a sample that anybody can repeat.
//!
//! Within a stratum cases are taken in order of (ticket, identity), where the ticket is SHA-256 of `seed:identity`
//! ([`crate::digest::ticket`]). So the order of the input, the borders of shards and the number of threads never matter,
//! a larger quota extends a smaller one, and a case never moves because another was added.

mod allocation;
mod draw;
mod extension;
mod frame;
mod outcome;
mod probability;
mod reach;
mod reservoir;
mod sampler;
mod sharing;
pub mod sql;
#[cfg(test)]
mod tests;

pub use allocation::{Allocation, AllocationError, PilotCount, Share, allocate, binary_sd};
pub use draw::{DrawError, EmptyStratum, Request, draw};
pub use extension::{Earlier, Extension, ExtensionError, Kept, KeptCase, extension};
pub use frame::{
    CellStratum, DuplicateIdentity, FrameCell, FrameDigest, FrameReport, NotSorted, Overlap, frame_digest, frame_report,
};
pub use outcome::{Draw, DrawnCase, ExcludedBatch, StratumDraw, Warning};
pub use reach::Finding;
pub use sampler::{Design, Exclusion, OtherDesign, Sampler};
pub use sharing::Sharing;
