//! `dualrater` tells people whether they can believe an automatic benchmark number.
//!
//! Scored agent runs go in; a stratified sampler draws audit cases; two raters who cannot see each other answer
//! a rubric; out come agreement, adjudicated rates and how far both agree with the benchmark's automatic metric,
//! Gold Action Recall (GAR).
//!
//! The layers, from the top down (arrows point down only, `tests/integration/layers.rs` checks it):
//!
//! * `cli`: one file per command;
//! * edges (`ingest`, `store`, `rate`, `desk`, `serve`, `judge`, `demo`): files, SQLite, sockets, terminals;
//! * pure (`action`, `gar`, `rubric`, `strata`, `sample`, `agree`, `estimate`, `report`, `tau2`): values in, values out;
//! * base (`model`, `digest`, and the error types).

pub mod action;
pub mod agree;
pub mod cli;
pub mod demo;
pub mod desk;
pub mod digest;
pub mod error;
pub mod estimate;
pub mod exit;
pub mod gar;
pub mod ingest;
pub mod judge;
pub mod model;
pub mod rate;
pub mod report;
pub mod rubric;
pub mod sample;
pub mod serve;
pub mod store;
pub mod strata;
pub mod tau2;
