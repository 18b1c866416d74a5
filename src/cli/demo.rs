//! `dualrater demo`: the whole way of the data with compiled-in runs, two simulated raters and an adjudicator.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::desk::{Desk, rating_entries, ruling_entries};
use super::draw::{DrawRequest, draw, keep};
use super::{Context, Output, agree as agree_command, clock, gar as gar_command, output};
use crate::action::RuleSet;
use crate::agree::{self, Options};
use crate::demo::{self, SimulatedRater, Truth};
use crate::error::{Error, Place, Result};
use crate::gar;
use crate::ingest::bfcl::{ImportRequest, import};
use crate::model::{BatchName, RaterKind, RaterName, RunName};
use crate::rate::adjudication::{AdjudicationExpectation, ExpectedItem, RulingRow, check_rulings};
use crate::rate::{AnswerRow, Meta, RaterCase, SheetWriter, check_import, read_csv};
use crate::rubric::{Applicability, Rubric};
use crate::store::Store;
use crate::strata::Plan;

/// Walk the whole way with compiled-in data: runs, sample, two simulated raters, adjudicator, report
///
/// Walk the whole way with compiled-in data: six scripted runs of a small benchmark, GAR, a pilot and a main sample over
/// seven strata, two simulated raters with known error rates, an adjudicator, and the report.
///
/// Leaves audits.db, report/ and demo-data/ (the run files and the filled sheets) in this folder. Nothing leaves the machine.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder of the report
    #[arg(long, default_value = "report")]
    out: PathBuf,
    /// Folder for the demo's run files and sheets
    #[arg(long, default_value = "demo-data")]
    data: PathBuf,
}

const PILOT: &str = "demo-pilot";
const MAIN: &str = "demo";

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let name = batch_name(MAIN)?;
    if context.db.exists() {
        let store = context.store()?;
        if store.batches()?.iter().any(|batch| batch.name == name) {
            output.line(format!("The demo is in {} already.", context.db.display()));
            return look(&store, args, context, output);
        }
        return Err(Error::conflict("the database holds other work; the demo will not mix with it")
            .at(Place::file(&context.db))
            .hint("run the demo in an empty folder, or name another file: dualrater --db demo.db demo"));
    }
    let mut store = context.store_or_new()?;
    output.line("1. Six scripted runs: three models, with and without a probe (dualrater ingest bfcl)");
    bring_in(&mut store, &args.data)?;
    show_gar(&store, output)?;
    output.line("");
    output.line("2. A pilot of 7 cases, then the main sample over seven strata (dualrater draw)");
    draw_both(&mut store)?;
    for stratum in store.batch_strata(&store.batch(&name)?)? {
        let population = stratum.population.map_or("–".to_owned(), |count| count.to_string());
        output.line(format!("   {} {:<58} {:>2} of {population:>2}", stratum.id, stratum.title, stratum.drawn));
    }
    output.line("");
    output.line("3. Two simulated raters fill in their sheets (dualrater export, dualrater import)");
    for rater in SimulatedRater::pair().map_err(|error| Error::internal(error.to_string()))? {
        let count = rate(&mut store, &rater, &args.data)?;
        output.line(format!("   {}: {count} answers", rater.name));
    }
    show_agreement(&store, output)?;
    output.line("");
    output.line("4. An adjudicator rules on the disagreements and spot-checks six agreements (dualrater adjudicate)");
    let rulings = adjudicate(&mut store)?;
    output.line(format!("   {rulings} rulings and checks"));
    output.line("");
    look(&store, args, context, output)
}

fn batch_name(text: &str) -> Result<BatchName> {
    BatchName::parse(text).map_err(|error| Error::internal(error.to_string()))
}

/// Writes the demo's files and imports them like anybody's.
fn bring_in(store: &mut Store, folder: &Path) -> Result<()> {
    for (name, text) in demo::files() {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|source| Error::io("make", parent, &source))?;
        }
        std::fs::write(&path, text).map_err(|source| Error::io("write", &path, &source))?;
    }
    let now = clock::now();
    for run in demo::RUNS {
        let name = RunName::parse(run.name).map_err(|error| Error::internal(error.to_string()))?;
        let request = ImportRequest {
            run: &name,
            model: run.model,
            condition: run.condition,
            results: Some(&folder.join(run.results)),
            scores: Some(&folder.join(run.scores)),
            dataset: Some(&folder.join(demo::DATASET_FOLDER)),
            failures_only: false,
            skip_bad_lines: false,
            now: &now,
        };
        import(store, &request, &mut |_| {})?;
    }
    Ok(())
}

fn show_gar(store: &Store, output: &mut Output) -> Result<()> {
    let baselines: Vec<String> =
        demo::RUNS.iter().filter(|run| run.condition == "baseline").map(|run| run.name.to_owned()).collect();
    let cells = gar_command::cells(store, &baselines)?;
    let rows: Vec<Vec<String>> = cells
        .iter()
        .map(|cell| gar::cell(cell, RuleSet::Paper))
        .map(|row| {
            vec![
                row.run,
                row.category.to_string(),
                row.n.to_string(),
                output::percent(row.gar_pct),
                output::percent(row.acc.map(|acc| acc * 100.0)),
                format!("{:+.1} {}", row.delta_pp.unwrap_or(0.0), output::interval(row.delta_ci95, 1)),
                row.diagnosis.map_or("–".to_owned(), |diagnosis| diagnosis.as_str().replace('_', " ")),
            ]
        })
        .collect();
    output.table(&["run", "category", "n", "GAR %", "Acc %", "Δ pp", "diagnosis"], &rows, &[2, 3, 4, 5]);
    Ok(())
}

fn draw_both(store: &mut Store) -> Result<()> {
    let (rubric, rubric_text) = super::rubric::load("mechanism-v2")?;
    let (pilot, main) = (batch_name(PILOT)?, batch_name(MAIN)?);
    let earlier = [pilot.clone()];
    for (batch, file, text, exclude) in [
        (&pilot, "strata-demo-pilot.toml", demo::PILOT_PLAN, &[][..]),
        (&main, "strata-demo.toml", demo::PLAN, &earlier[..]),
    ] {
        draw_plan(store, batch, (file, text), exclude, (&rubric, &rubric_text))?;
    }
    Ok(())
}

fn draw_plan(
    store: &mut Store,
    batch: &BatchName,
    (file, text): (&str, &str),
    exclude: &[BatchName],
    (rubric, rubric_text): (&Rubric, &str),
) -> Result<()> {
    let plan = Plan::parse(file, text)?;
    let seed = plan.seed.clone().ok_or_else(|| Error::internal("the demo's plan has no seed"))?;
    let request = DrawRequest {
        batch,
        plan: &plan,
        plan_text: text,
        seed: &seed,
        bindings: BTreeMap::new(),
        exclude,
        rubric,
        rubric_text,
        sharing: crate::sample::Sharing::of(&plan),
        pilot: None,
        frame: None,
        adversarial: false,
        allow_empty: false,
        command: Context::command_line(),
        now: clock::now(),
    };
    let drawn = draw(store, &request)?;
    keep(store, &request, &drawn)
}

/// Lets a simulated rater fill in a real sheet, and imports it through the ordinary checks.
fn rate(store: &mut Store, rater: &SimulatedRater, folder: &Path) -> Result<usize> {
    let name = batch_name(MAIN)?;
    let desk = Desk::open(store, &name)?;
    store.register_rater(&desk.batch, &rater.name, RaterKind::Simulated, None, &clock::now())?;
    let cases = desk.rater_cases(store, &rater.name)?;
    let sheet = fill_sheet(&desk, rater, &cases)?;
    let sheets = folder.join("sheets");
    std::fs::create_dir_all(&sheets).map_err(|source| Error::io("make", &sheets, &source))?;
    let path = sheets.join(format!("{}.csv", rater.name));
    std::fs::write(&path, &sheet).map_err(|source| Error::io("write", &path, &source))?;
    let file = read_csv(sheet.as_slice()).map_err(|source| Error::io("read", &path, &source))?;
    store_answers(store, &desk, &rater.name, file.rows, &path)
}

fn store_answers(
    store: &mut Store,
    desk: &Desk,
    rater: &RaterName,
    rows: Vec<AnswerRow>,
    path: &Path,
) -> Result<usize> {
    let expected = desk.expectation(store, rater, false)?;
    let outcome = check_import(&expected, rows);
    if let Some(problem) = outcome.problems.first() {
        return Err(Error::internal(format!("a simulated answer was refused: {problem:?}")).at(Place::file(path)));
    }
    let entries = rating_entries(&outcome, &expected, &path.display().to_string());
    store.append(&desk.batch, &entries, &clock::now())?;
    Ok(entries.len())
}

/// The rater's sheet as exported, with values and rationales filled in.
fn fill_sheet(desk: &Desk, rater: &SimulatedRater, cases: &[RaterCase]) -> Result<Vec<u8>> {
    let broken = |error: &dyn std::fmt::Display| Error::internal(format!("the demo's sheet: {error}"));
    let truth = Truth::load().map_err(|error| broken(&error))?;
    let meta = Meta::new(&desk.batch.name, &desk.rubric, &rater.name);
    let mut writer = SheetWriter::new(Vec::new(), meta, &desk.rubric, false).map_err(|error| broken(&error))?;
    for case in cases {
        let answers = truth.case(&case.view.case).map(|known| rater.answers(known)).unwrap_or_default();
        let mut filled = case.clone();
        for form in filled.labels.iter_mut().filter(|form| form.applies != Applicability::NotApplicable) {
            if let Some(answer) = answers.get(&form.label) {
                form.value = Some(answer.value.clone());
                form.rationale.clone_from(&answer.rationale);
            }
        }
        writer.case(&filled).map_err(|error| broken(&error))?;
    }
    writer.finish().map_err(|error| broken(&error))
}

fn show_agreement(store: &Store, output: &mut Output) -> Result<()> {
    let desk = Desk::open(store, &batch_name(MAIN)?)?;
    let (a, b) = agree_command::pair_of_record(&desk.audit)?;
    let rows = agree::label_agreements(&desk.audit, (&a, &b), &Options::default())
        .map_err(|error| Error::internal(error.to_string()))?;
    let table: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.label.to_string(),
                row.n.to_string(),
                output::number(row.po, 3),
                output::number(row.kappa, 3),
                output::interval(row.ci95_bootstrap.low.zip(row.ci95_bootstrap.high).map(|(low, high)| [low, high]), 2),
                row.reason.map_or(String::new(), |reason| reason.code().replace('_', " ")),
            ]
        })
        .collect();
    output.table(&["label", "n", "agreement", "kappa", "bootstrap CI", "note"], &table, &[1, 2, 3, 4]);
    Ok(())
}

/// The simulated adjudicator rules with the constructed truth, through the ordinary checks.
fn adjudicate(store: &mut Store) -> Result<usize> {
    const SPOT_CHECKS: usize = 6;
    let adjudicator = RaterName::parse("adjudicator").map_err(|error| Error::internal(error.to_string()))?;
    let name = batch_name(MAIN)?;
    let batch = store.batch(&name)?;
    store.register_rater(&batch, &adjudicator, RaterKind::Adjudicator, None, &clock::now())?;
    let desk = Desk::open(store, &name)?;
    rule(store, &desk, &adjudicator, SPOT_CHECKS)
}

fn rule(store: &mut Store, desk: &Desk, adjudicator: &RaterName, spot_checks: usize) -> Result<usize> {
    let truth = Truth::load().map_err(|error| Error::internal(error.to_string()))?;
    let (rated, _) = super::adjudicate::rated_cases(desk, store)?;
    let plan = super::adjudicate::planned(desk, adjudicator, spot_checks, &rated)?;
    let rows = plan
        .items
        .iter()
        .enumerate()
        .filter_map(|(number, item)| {
            let ruling = demo::adjudicate(truth.case(&item.case)?, &item.label)?;
            Some(RulingRow {
                line: number as u64 + 2,
                batch: desk.batch.name.to_string(),
                rubric_digest: desk.rubric.digest(),
                adjudicator: adjudicator.to_string(),
                case: item.case.to_string(),
                label: item.label.to_string(),
                item_digest: item.digest(),
                value: ruling.value.as_str().to_owned(),
                note: ruling.note,
            })
        })
        .collect();
    let expected = AdjudicationExpectation {
        batch: desk.batch.name.clone(),
        adjudicator: adjudicator.clone(),
        rubric: &desk.rubric,
        cases: rated.iter().map(|case| (case.case.clone(), case.clone())).collect(),
        items: plan.items.iter().map(|item| ExpectedItem { item: item.clone(), existing: None }).collect(),
        by_rule: plan.by_rule.iter().map(|item| ExpectedItem { item: item.clone(), existing: None }).collect(),
        revise: false,
    };
    let outcome = check_rulings(&expected, rows);
    if let Some(problem) = outcome.problems.first() {
        return Err(Error::internal(format!("a simulated ruling was refused: {problem:?}")));
    }
    let entries = ruling_entries(&outcome, &expected, "dualrater demo");
    store.append(&desk.batch, &entries, &clock::now())?;
    Ok(entries.len())
}

/// Writes the report and says what to look at.
fn look(store: &Store, args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    super::report::write(store, &batch_name(MAIN)?, &args.out, Options::default())?;
    output.line(format!("5. The report: {} (dualrater report)", args.out.join("index.html").display()));
    output.line("");
    output.line("What to look at:");
    output.line(
        "   masked-baseline passes most miss_func and miss_param cases without ever declining or asking: masking.",
    );
    output.line(
        "   In the report, \"Agreement with GAR\" shows the cases where the metric's cues and the raters differ,",
    );
    output.line("   for example a courtesy question that GAR counts as asking.");
    output.line(
        "   The raters' error rates are known (2 to 8 % on B1a to B4), so you can see how kappa answers to them.",
    );
    output.line("");
    let db = context.db.display();
    output.line(format!("Try: dualrater --db {db} gar --run masked-baseline"));
    output.line(format!("     dualrater --db {db} agree --batch {MAIN}"));
    output.line(format!("     dualrater --db {db} export --batch {MAIN} --rater you --as csv --out my-sheet.csv"));
    output.line(format!("     dualrater --db {db} verify"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::expected_crosstab;

    /// Every drawable case of the three baseline runs, rated by the simulated pair and adjudicated: the finals of B1b
    /// against GAR give exactly the table that the script of the demo was written to give.
    #[test]
    fn the_cross_table_of_b1b_against_gar_is_the_constructed_one() {
        let folder = tempfile::tempdir().expect("temp dir");
        let mut store = Store::open(&folder.path().join("a.db")).expect("store");
        bring_in(&mut store, folder.path()).expect("runs");
        let everything: String = ["masked-baseline", "mixed-baseline", "calibrated-baseline"]
            .iter()
            .enumerate()
            .map(|(number, run)| {
                format!(
                    "[[stratum]]\nid = \"S{number}\"\ntitle = \"{run}\"\nquota = 96\nfilter = {{ run = \"r{number}\" }}\n"
                )
            })
            .collect();
        let plan = format!(
            "id = \"all\"\ntitle = \"all\"\nseed = \"all-1\"\n[roles]\nr0 = \"a\"\nr1 = \"b\"\nr2 = \"c\"\n[runs]\n\
             r0 = \"masked-baseline\"\nr1 = \"mixed-baseline\"\nr2 = \"calibrated-baseline\"\n{everything}"
        );
        let (rubric, rubric_text) = super::super::rubric::load("mechanism-v2").expect("bundled");
        let name = batch_name(MAIN).expect("valid");
        draw_plan(&mut store, &name, ("all.toml", &plan), &[], (&rubric, &rubric_text)).expect("drawn");
        for rater in SimulatedRater::pair().expect("raters") {
            rate(&mut store, &rater, folder.path()).expect("rated");
        }
        adjudicate(&mut store).expect("adjudicated");

        let desk = Desk::open(&store, &name).expect("desk");
        assert_eq!(desk.audit.cases.len(), 288);
        let (a, b) = desk.audit.pair.clone().expect("pair");
        let label = crate::model::LabelId::parse("B1b").expect("valid");
        let mut counted: BTreeMap<(String, crate::model::Category), [u32; 4]> = BTreeMap::new();
        for case in &desk.audit.cases {
            let value = case.final_value((&a, &b), &label).expect("final");
            let cell = counted.entry((case.case.run().to_owned(), case.category)).or_default();
            cell[usize::from(value.is_one()) * 2 + usize::from(case.gar_hit.expect("joined"))] += 1;
        }
        let mut compared = 0;
        for row in expected_crosstab().expect("constructed") {
            if let Some(found) = counted.get(&(row.run.to_string(), row.category)) {
                assert_eq!(
                    *found,
                    [row.b1b0_gar0, row.b1b0_gar1, row.b1b1_gar0, row.b1b1_gar1],
                    "{} {}",
                    row.run,
                    row.category
                );
                compared += 1;
            }
        }
        assert_eq!(compared, 12);
    }
}
