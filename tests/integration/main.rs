//! One integration binary for all tests that cross a module border.
mod action;
mod agreement;
mod command_line;
mod exchange;
mod ingest;
mod kappa;
mod layers;
mod page;
mod reference_values;
mod report;
mod sampling;
mod shared;
mod strict;
mod v3;
