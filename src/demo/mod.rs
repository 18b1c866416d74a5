//! The demo: a small benchmark of our own with known truth, compiled in, and simulated raters with known error rates.
//!
//! The files have BFCL's names and layout, so the demo goes through the same import as a user's files; all their content
//! was written for this project. `demo/README.md` says how they are made; `scripts/make-demo.py` makes them.
//! Truth comes from what the script let the models do and never from the cue classifier, so comparing the two tests it.

mod files;
mod rater;
#[cfg(test)]
mod tests;
mod truth;

use std::sync::LazyLock;

pub use files::{DATASET, DemoFile, RUN_FILES};
pub use rater::{Rates, SimulatedRater, adjudicate};
pub use truth::{CrosstabRow, DemoCase, LABELS, Truth, expected_crosstab};

/// The plan of the main sample (seven strata, quotas 6, 5, 5, 4, 4, 4, 3).
pub const PLAN: &str = include_str!("../../demo/strata-demo.toml");

/// The plan of the pilot (one case per stratum), drawn first and excluded from the main sample.
pub const PILOT_PLAN: &str = include_str!("../../demo/strata-demo-pilot.toml");

/// A run of the demo, as it is to be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemoRun {
    /// The run's name, `<model>-<condition>`; [`Truth`] knows its cases under this name.
    pub name: &'static str,
    /// The scripted model.
    pub model: &'static str,
    /// `baseline` or `probe`.
    pub condition: &'static str,
    /// The folder of its result files, below the demo's folder.
    pub results: &'static str,
    /// The folder of its score files.
    pub scores: &'static str,
    /// The role that the demo's plans bind it to, if any.
    pub role: Option<&'static str>,
}

macro_rules! demo_run {
    ($model:literal, $condition:literal, $role:expr) => {
        DemoRun {
            name: concat!($model, "-", $condition),
            model: $model,
            condition: $condition,
            results: concat!("runs/", $model, "-", $condition, "/result"),
            scores: concat!("runs/", $model, "-", $condition, "/score"),
            role: $role,
        }
    };
}

/// The six runs: three scripted models in two conditions.
pub const RUNS: [DemoRun; 6] = [
    demo_run!("masked", "baseline", Some("xlam")),
    demo_run!("masked", "probe", None),
    demo_run!("mixed", "baseline", Some("qwen")),
    demo_run!("mixed", "probe", Some("qwen_sri")),
    demo_run!("calibrated", "baseline", Some("gptoss")),
    demo_run!("calibrated", "probe", Some("gptoss_sri")),
];

/// The folder of the data set, below the demo's folder.
pub const DATASET_FOLDER: &str = "dataset";

/// All files to be written out for an import: path relative to the demo's folder (with `/`) and text.
pub fn files() -> &'static [DemoFile] {
    static ALL: LazyLock<Vec<DemoFile>> =
        LazyLock::new(|| DATASET.iter().chain(RUN_FILES.as_flattened().as_flattened()).copied().collect());
    &ALL
}
