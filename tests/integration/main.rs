//! One integration binary for all tests that cross a module border.
mod action;
mod agreement;
mod reference_values;
mod sampling;
mod strict;
