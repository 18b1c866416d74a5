//! Digests: the one hash of the product (SHA-256), sampling tickets, and the hash chain of ratings.

mod canonical;
mod chain;
mod ticket;

pub use canonical::{Canonical, sha256_hex};
pub use chain::{CHAIN_START, chain_next};
pub use ticket::ticket;
