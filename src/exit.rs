//! Exit codes of the program. They are part of the contract with scripts: extend, never renumber.

/// Everything asked for was done.
pub const OK: u8 = 0;
/// The input holds something that cannot be used: a bad line, a wrong value, counts that do not close.
pub const DATA: u8 = 1;
/// The command line is wrong (also used by the argument parser).
pub const USAGE: u8 = 2;
/// A run, batch, rater, case or file that was named does not exist.
pub const NOT_FOUND: u8 = 3;
/// What is to be stored contradicts what is stored already; nothing was changed.
pub const CONFLICT: u8 = 4;
/// A check that was asked for failed (`verify`).
pub const CHECK_FAILED: u8 = 5;
/// A defect of this program.
pub const INTERNAL: u8 = 70;
/// The operating system refused: a file, a disk, a terminal.
pub const IO: u8 = 74;
/// The database is busy and stayed busy; try again.
pub const BUSY: u8 = 75;
/// The user stopped it; what was done is stored.
pub const INTERRUPTED: u8 = 130;
