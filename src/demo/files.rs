//! The demo's files, compiled in: the data set and the result and score files of six runs.

/// Pairs of a path below `demo/` and the file's text.
macro_rules! table {
    ($($path:literal),* $(,)?) => { &[$(($path, include_str!(concat!("../../demo/", $path)))),*] };
}

/// The result and score files of one run in all four categories.
macro_rules! run {
    ($run:literal) => {
        [run!($run, "base"), run!($run, "long_context"), run!($run, "miss_func"), run!($run, "miss_param")]
    };
    ($run:literal, $category:literal) => {
        [run!($run, $category, "result"), run!($run, $category, "score")]
    };
    ($run:literal, $category:literal, $kind:literal) => {
        (
            concat!("runs/", $run, "/", $kind, "/BFCL_v4_multi_turn_", $category, "_", $kind, ".json"),
            include_str!(concat!(
                "../../demo/runs/",
                $run,
                "/",
                $kind,
                "/BFCL_v4_multi_turn_",
                $category,
                "_",
                $kind,
                ".json"
            )),
        )
    };
}

/// A path relative to the demo's folder, with `/`, and the file's text.
pub type DemoFile = (&'static str, &'static str);

/// Questions, tool documents and ground truth, laid out as the benchmark lays out its own.
pub const DATASET: &[DemoFile] = table![
    "dataset/BFCL_v4_multi_turn_base.json",
    "dataset/BFCL_v4_multi_turn_long_context.json",
    "dataset/BFCL_v4_multi_turn_miss_func.json",
    "dataset/BFCL_v4_multi_turn_miss_param.json",
    "dataset/multi_turn_func_doc/bike_workshop.json",
    "dataset/multi_turn_func_doc/choir_planner.json",
    "dataset/multi_turn_func_doc/ferry_booking.json",
    "dataset/multi_turn_func_doc/library_desk.json",
    "dataset/multi_turn_func_doc/plant_robot.json",
    "dataset/multi_turn_func_doc/recipe_box.json",
    "dataset/possible_answer/BFCL_v4_multi_turn_base.json",
    "dataset/possible_answer/BFCL_v4_multi_turn_long_context.json",
    "dataset/possible_answer/BFCL_v4_multi_turn_miss_func.json",
    "dataset/possible_answer/BFCL_v4_multi_turn_miss_param.json",
];

/// Per run, per category: the result file and the score file. Runs are in the order of [`super::RUNS`].
pub const RUN_FILES: [[[DemoFile; 2]; 4]; 6] = [
    run!("masked-baseline"),
    run!("masked-probe"),
    run!("mixed-baseline"),
    run!("mixed-probe"),
    run!("calibrated-baseline"),
    run!("calibrated-probe"),
];
