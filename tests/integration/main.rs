//! One integration binary for all tests that cross a module border.

mod exchange;
