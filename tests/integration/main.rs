//! One integration binary for all tests that cross a module border.
mod action;
mod agreement;
mod command_line;
mod estimation;
mod exchange;
mod ingest;
mod judge;
mod kappa;
mod layers;
mod reference_values;
mod report;
mod rounds;
mod sampling;
mod shared;
mod strict;
mod tau2;
mod v3;
