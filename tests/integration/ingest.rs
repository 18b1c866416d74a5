//! Dirty run files: kept, counted and reported; what cannot be read is refused whole, with its place.

use std::fs;
use std::path::{Path, PathBuf};

use dualrater::error::{Kind, Result};
use dualrater::ingest::bfcl::{FileOutcome, ImportReport, ImportRequest, import};
use dualrater::model::{Category, RunName, Verdict};
use dualrater::store::{FileKind, FrameRow, Store};

#[derive(Default, Clone, Copy)]
struct Wish<'a> {
    results: Option<&'a Path>,
    scores: Option<&'a Path>,
    dataset: Option<&'a Path>,
    failures_only: bool,
    skip_bad_lines: bool,
}

struct Bench {
    folder: tempfile::TempDir,
    store: Store,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("temp dir");
        let store = Store::open(&folder.path().join("a.db")).expect("store");
        Self { folder, store }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("mkdir");
        fs::write(&path, content).expect("write");
        path
    }

    fn import(&mut self, wish: Wish<'_>) -> Result<ImportReport> {
        let request = ImportRequest {
            run: &RunName::parse("r").expect("valid"),
            model: "m",
            condition: "baseline",
            results: wish.results,
            scores: wish.scores,
            dataset: wish.dataset,
            failures_only: wish.failures_only,
            skip_bad_lines: wish.skip_bad_lines,
            now: "2026-01-01T00:00:00Z",
        };
        import(&mut self.store, &request, &mut |_| {})
    }

    fn results(&mut self, path: &Path) -> Result<ImportReport> {
        self.import(Wish { results: Some(path), ..Wish::default() })
    }

    fn both(&mut self, results: &Path, scores: &Path) -> Result<ImportReport> {
        self.import(Wish { results: Some(results), scores: Some(scores), ..Wish::default() })
    }

    fn cases(&self) -> Vec<FrameRow> {
        let run = self.store.run("r").expect("run");
        self.store.frame_rows(&run, Category::Base).expect("rows")
    }

    fn has_results(&self) -> bool {
        self.store
            .run("r")
            .is_ok_and(|run| self.store.file(&run, Category::Base, FileKind::Result).expect("read").is_some())
    }
}

const RESULT: &str = "BFCL_v4_multi_turn_base_result.json";
const SCORE: &str = "BFCL_v4_multi_turn_base_score.json";

fn line(id: u32) -> String {
    format!("{{\"id\": \"multi_turn_base_{id}\", \"result\": [[\"[ls()]\", \"Done.\"]]}}")
}

fn score(correct: u32, total: u32, failed: &[u32]) -> String {
    let accuracy = f64::from(correct) / f64::from(total);
    let mut text = format!("{{\"accuracy\": {accuracy}, \"correct_count\": {correct}, \"total_count\": {total}}}\n");
    for id in failed {
        text.push_str(&format!(
            "{{\"id\": \"multi_turn_base_{id}\", \"valid\": false, \"error\": {{\"error_type\": \"t\", \"error_message\": [\"m\"]}}, \"model_result\": []}}\n"
        ));
    }
    text
}

#[test]
fn duplicate_missing_and_unordered_ids_are_kept_and_told_apart() {
    let mut bench = Bench::new();
    let content = [
        line(5),
        line(3),
        line(5),
        line(5),
        "{\"result\": [[\"hello\"]]}".to_owned(),
        "{\"id\": \"bad\\u0007id\", \"result\": []}".to_owned(),
    ]
    .join("\n");
    let path = bench.write(RESULT, content);
    let report = bench.results(&path).expect("imported");
    let ids: Vec<String> = bench.cases().into_iter().map(|case| case.case_id).collect();
    assert_eq!(
        ids,
        [
            "multi_turn_base_5",
            "multi_turn_base_3",
            "multi_turn_base_5#dup2",
            "multi_turn_base_5#dup3",
            "line-5",
            "line-6"
        ]
    );
    let defects: Vec<bool> = bench.cases().into_iter().map(|case| case.defect).collect();
    assert_eq!(defects, [false, false, true, true, true, true]);
    let odd = &report.files[0].oddities;
    for (kind, count) in
        [("duplicate id", 2), ("missing id", 1), ("id that cannot name a case", 1), ("ids out of order", 1)]
    {
        assert_eq!(odd.count(kind), count, "{kind}");
    }
}

#[test]
fn bom_crlf_lone_surrogates_nan_and_split_errors_are_survived() {
    let mut bench = Bench::new();
    let content = [
        format!("\u{feff}{}\r", line(0)),
        "{\"id\": \"multi_turn_base_1\", \"latency\": NaN, \"result\": [[\"half \\ud83d smile?\"]]}\r".to_owned(),
        "{\"id\": \"multi_turn_base_2\", \"result\": [\"E\", \"r\", \"r\", \"o\", \"r\", \":\", \" \", \"?\"]}\r"
            .to_owned(),
    ]
    .join("\n");
    let path = bench.write(RESULT, content);
    let report = bench.results(&path).expect("imported");
    let odd = &report.files[0].oddities;
    assert_eq!(odd.count("byte order mark"), 1);
    assert_eq!(odd.count("line ends in CRLF"), 3);
    assert_eq!(odd.count("lone surrogates replaced"), 1);
    assert_eq!(odd.count("error text split into one character per turn"), 1);
    assert_eq!(bench.cases().len(), 3);
}

#[test]
fn a_truncated_last_line_is_refused_with_its_place_and_leaves_nothing() {
    let mut bench = Bench::new();
    let path = bench.write(RESULT, format!("{}\n{{\"id\": \"multi_turn_base_1\", \"result\": [[\"ab", line(0)));
    let error = bench.results(&path).expect_err("truncated");
    let place = error.place().expect("place");
    assert_eq!((error.kind(), place.line), (Kind::Data, Some(2)));
    assert!(place.column.is_some_and(|column| column > 40), "{place}");
    assert!(!bench.has_results(), "nothing of the file is stored");

    let wish = Wish { results: Some(&path), skip_bad_lines: true, ..Wish::default() };
    let report = bench.import(wish).expect("skipped");
    assert_eq!((bench.cases().len(), report.skipped.len(), report.skipped[0].line), (1, 1, 2));
}

#[test]
fn the_same_bytes_change_nothing_and_changed_bytes_are_refused() {
    let mut bench = Bench::new();
    let path = bench.write(RESULT, line(0));
    assert_eq!(bench.results(&path).expect("first").files[0].outcome, FileOutcome::Added);
    assert_eq!(bench.results(&path).expect("again").files[0].outcome, FileOutcome::Unchanged);
    bench.write(RESULT, line(1));
    let error = bench.results(&path).expect_err("changed");
    assert_eq!(error.kind(), Kind::Conflict);
    assert!(error.hint_text().is_some_and(|hint| hint.contains("--run")), "{error}");
    assert_eq!(bench.cases()[0].case_id, "multi_turn_base_0");
}

#[test]
fn a_late_score_file_is_an_addition() {
    let mut bench = Bench::new();
    let results = bench.write(RESULT, [line(0), line(1)].join("\n"));
    bench.results(&results).expect("results");
    assert!(bench.cases().iter().all(|case| case.verdict.is_none()), "unscored, never a fail");
    let scores = bench.write(SCORE, score(1, 2, &[1]));
    bench.import(Wish { scores: Some(&scores), ..Wish::default() }).expect("scores");
    let verdicts: Vec<_> = bench.cases().into_iter().map(|case| case.verdict).collect();
    assert_eq!(verdicts, [Some(Verdict::Pass), Some(Verdict::Fail)]);
}

#[test]
fn counts_that_do_not_close_name_both_numbers() {
    for (text, numbers) in
        [(score(1, 2, &[]), ["1", "0"]), (score(4, 5, &[1]), ["5", "2"]), (score(3, 2, &[]), ["3", "2"])]
    {
        let mut bench = Bench::new();
        let results = bench.write(RESULT, [line(0), line(1)].join("\n"));
        let scores = bench.write(SCORE, text);
        let error = bench.both(&results, &scores).expect_err("does not close");
        assert!(numbers.iter().all(|number| error.message().contains(number)), "{error}");
        assert!(
            !bench.has_results(),
            "a failed import leaves nothing behind, the results of the same command included"
        );
    }
}

#[test]
fn json_five_thousand_brackets_deep_is_kept_without_a_class() {
    let mut bench = Bench::new();
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let path = bench.write(RESULT, format!("{{\"id\": \"multi_turn_base_0\", \"result\": [[{deep}]]}}\n{}", line(1)));
    let report = bench.results(&path).expect("kept");
    assert_eq!(report.files[0].oddities.count("emission nested too deeply to be classified"), 1);
    assert_eq!(bench.cases()[0].classes, [None]);
    assert_eq!(bench.cases().len(), 2);
}

#[test]
fn a_folder_or_dead_link_with_a_result_files_name_is_named() {
    let mut bench = Bench::new();
    let folder = bench.folder.path().join("runs");
    bench.write("runs/BFCL_v4_multi_turn_base_result.json", line(0));
    std::fs::create_dir(folder.join("BFCL_v4_multi_turn_miss_func_result.json")).expect("mkdir");
    let error = bench.results(&folder).expect_err("a folder");
    assert!(error.to_string().contains("miss_func"), "{error}");
}

#[test]
fn a_failure_that_the_results_lack_is_refused() {
    let mut bench = Bench::new();
    let results = bench.write(RESULT, [line(0), line(1)].join("\n"));
    let scores = bench.write(SCORE, score(1, 2, &[9]));
    let error = bench.both(&results, &scores).expect_err("foreign failure");
    assert!(error.message().contains("multi_turn_base_9"), "{error}");
    assert_eq!(error.place().and_then(|place| place.line), Some(2));
}

#[test]
fn failures_only_files_have_verdicts_but_no_accuracy() {
    let mut bench = Bench::new();
    let results = bench.write("BFCL_v4_multi_turn_base_result.failed_only.json", [line(0), line(1)].join("\n"));
    let scores = bench.write(SCORE, score(3, 5, &[0, 1]));
    let wish = Wish { results: Some(&results), scores: Some(&scores), failures_only: true, ..Wish::default() };
    bench.import(wish).expect("imported");
    assert!(bench.cases().iter().all(|case| case.verdict == Some(Verdict::Fail)));
    let wish = Wish { results: Some(&results), ..Wish::default() };
    assert_eq!(bench.import(wish).expect_err("without the option").kind(), Kind::Conflict);
}

#[test]
fn a_data_set_that_does_not_fit_is_not_joined() {
    let mut bench = Bench::new();
    let log = |words: &str| {
        format!(
            ", \"inference_log\": [{{\"begin_of_turn_query\": [{{\"role\": \"user\", \"content\": \"{words}\"}}]}}]"
        )
    };
    let with_log = |id: u32, words: &str| line(id).replace("]]}", &format!("]]{}}}", log(words)));
    let results = bench.write(RESULT, [with_log(0, "Go"), with_log(1, "Other words"), line(2), line(7)].join("\n"));
    let question = |id: u32| {
        format!("{{\"id\": \"multi_turn_base_{id}\", \"question\": [[{{\"role\": \"user\", \"content\": \"Go\"}}]]}}")
    };
    let dataset = bench.folder.path().join("data");
    bench.write("data/BFCL_v4_multi_turn_base.json", [question(0), question(1), question(2)].join("\n"));
    bench.write(
        "data/possible_answer/BFCL_v4_multi_turn_base.json",
        "{\"id\": \"multi_turn_base_0\", \"ground_truth\": [[\"ls()\"]]}",
    );
    let wish = Wish { results: Some(&results), dataset: Some(&dataset), ..Wish::default() };
    let report = bench.import(wish).expect("imported");
    assert_eq!(report.fits, [1, 1, 1, 1], "verified, unverifiable, mismatch, absent");
    let unjoined: Vec<&str> = report.unjoined.iter().map(|(case, _)| case.as_str()).collect();
    assert_eq!(unjoined, ["multi_turn_base_1", "multi_turn_base_7"]);
}

#[test]
fn real_files_with_every_oddity_of_the_public_runs_are_taken_whole() {
    let Some(shared) = crate::shared::folder() else { return };
    let mut bench = Bench::new();
    let run = shared.join("runs/bfcl/openai_gpt-oss-20b");
    let report = bench.both(&run.join("result"), &run.join("score")).expect("imported");
    // Counted by the people who collected the files, see their SOURCES page: failed inferences per category.
    let errors: Vec<u64> = report
        .files
        .iter()
        .filter(|file| file.kind == "result")
        .map(|file| file.oddities.count("result is a text (inference error)"))
        .collect();
    assert_eq!(errors, [5, 18, 7]);
    let empty: u64 = report
        .files
        .iter()
        .map(|file| file.oddities.count("empty step (a text answer that was not saved, or no call)"))
        .sum();
    assert_eq!(empty, 697 + 831 + 875);
    assert!(report.files.iter().all(|file| file.kind != "result" || file.records == 200));
}
