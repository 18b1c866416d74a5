//! One integration binary for all tests that cross a module border.
mod agreement;
mod reference_values;
mod sampling;
