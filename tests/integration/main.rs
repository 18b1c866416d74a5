//! One integration binary for all tests that cross a module border.
mod action;
mod agreement;
mod exchange;
mod layers;
mod reference_values;
mod sampling;
