//! `dualrater frame`: what a plan reaches of the ingested runs, and what an audit under it cannot say.

use std::collections::BTreeMap;

use serde::Serialize;

use super::draw::{self, Drawn, Setting, SharingArgs};
use super::{Context, Output, output};
use crate::error::{Error, Result};
use crate::model::{BatchName, CaseIdentity, RunName, Seed, Verdict};
use crate::sample::{self, FrameReport, Kept, Request, Sharing};
use crate::store::{FrameDefect, Store};

/// Defects that are shown; `--json` lists all.
const MOST_DEFECTS: usize = 10;

/// What a plan reaches of the runs, and what an audit cannot say
///
/// What a plan reaches of the ingested runs: per stratum N, n and the inclusion probability; per run, category and verdict
/// the cases that no stratum reaches, with what follows for the audit; overlaps between strata; duplicate and missing ids.
///
/// With --batch, the same for a batch as it stands. The digest that it prints pins the frame: publish it before a seed is
/// chosen where somebody could change the cases (see `draw --adversarial`).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The plan: a file, or one that is compiled in (mechanism, pilot, quickstart)
    #[arg(required_unless_present = "batch")]
    plan: Option<String>,
    /// A drawn batch
    #[arg(long, conflicts_with_all = ["plan", "bind", "exclude"])]
    batch: Option<BatchName>,
    /// Let a role of the plan stand for a run (may be repeated)
    #[arg(long, value_name = "ROLE=RUN")]
    bind: Vec<String>,
    /// Leave out the cases of an earlier batch (may be repeated)
    #[arg(long, value_name = "BATCH")]
    exclude: Vec<BatchName>,
    #[command(flatten)]
    sharing: SharingArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print one of the tables as CSV: strata, cells, overlaps or duplicates
    #[arg(long, value_name = "TABLE", value_enum, conflicts_with = "json")]
    csv: Option<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Strata,
    Cells,
    Overlaps,
    Duplicates,
}

/// A frame under a plan.
#[derive(Debug, Serialize)]
pub(super) struct FrameView {
    plan: String,
    plan_digest: String,
    frame_digest: String,
    /// The batch whose cases `n` counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<BatchName>,
    strata: Vec<StratumLine>,
    /// Per cell the cases drawn, in the order of `frame.cells`; without a batch or a draw nothing is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    cells_drawn: Option<Vec<u64>>,
    frame: FrameReport,
    duplicates: Vec<FrameDefect>,
}

#[derive(Debug, Clone, Serialize)]
struct StratumLine {
    stratum: String,
    title: String,
    #[serde(rename = "N")]
    population: u64,
    excluded: u64,
    quota: u64,
    n: u64,
    probability: Option<f64>,
    overlap: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    empty: Option<String>,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    let view = match &args.batch {
        Some(batch) => of_batch(&store, batch)?,
        None => of_plan(&store, args)?,
    };
    if args.json {
        return output.json(&view);
    }
    if let Some(part) = args.csv {
        output.raw(&view.csv(part)?);
        return Ok(());
    }
    view.show_strata(output);
    view.show(output);
    output.line(format!("plan {} · frame {}", view.plan_digest, view.frame_digest));
    Ok(())
}

fn of_plan(store: &Store, args: &Args) -> Result<FrameView> {
    let name = args.plan.as_deref().ok_or_else(|| Error::usage("name a plan or a batch"))?;
    let (plan, _) = draw::load_plan(name)?;
    let (mut sharing, pilot) = args.sharing.over(Sharing::of(&plan))?;
    let setting = Setting::open(store, &plan, &draw::bindings(&args.bind)?)?;
    let mut exclude = args.exclude.clone();
    if let Some(pilot) = pilot {
        sharing.pilot = pilot.count(store, &setting)?.counts;
        if !exclude.contains(&pilot.batch) {
            exclude.push(pilot.batch);
        }
    }
    // How many cases a stratum gets does not hang on the seed; which ones is not asked here.
    let seed = Seed::parse("any").map_err(|error| Error::internal(error.to_string()))?;
    let draw = sample::draw(
        &setting.frame,
        &Request {
            plan: &setting.bound,
            seed: &seed,
            sql_matches: &setting.sql_matches,
            exclusions: &setting.exclusions(store, &exclude)?,
            sharing: &sharing,
            kept: &Kept::new(),
            replacements: &BTreeMap::new(),
            allow_empty: true,
        },
    )?;
    let drawn = Drawn { draw, setting, sharing, pilot: None };
    Ok(FrameView { cells_drawn: None, ..of_draw(store, &drawn)? })
}

/// The frame of a draw that was just made.
pub(super) fn of_draw(store: &Store, drawn: &Drawn) -> Result<FrameView> {
    let draw = &drawn.draw;
    let strata = draw.strata.iter().map(|s| StratumLine {
        stratum: s.id.to_string(),
        title: s.title.clone(),
        population: s.population,
        excluded: s.excluded,
        quota: s.quota,
        n: s.n,
        probability: s.inclusion_probability,
        overlap: s.overlap,
        empty: s.empty_reason.clone(),
    });
    Ok(FrameView {
        plan: draw.plan.clone(),
        plan_digest: draw.plan_digest.clone(),
        frame_digest: draw.frame_digest.clone(),
        batch: None,
        strata: strata.collect(),
        cells_drawn: Some(cells_drawn(&drawn.setting, &draw.frame, draw.cases.iter().map(|drawn| &drawn.case))),
        frame: draw.frame.clone(),
        duplicates: duplicates(store, &drawn.setting)?,
    })
}

/// The frame of a batch as it stands.
pub(super) fn of_batch(store: &Store, name: &BatchName) -> Result<FrameView> {
    let batch = store.batch(name)?;
    let setting = Setting::of_batch(store, &batch)?;
    if let Some((digest, _)) = batch.frame.as_ref().filter(|(digest, _)| *digest != setting.frame_digest) {
        return Err(Error::conflict(format!(
            "the frame changed since batch {name} was drawn (digest {digest} is now {})",
            setting.frame_digest
        ))
        .hint("runs or verdicts were added since; `dualrater batches` shows the strata as they were drawn"));
    }
    let frame = sample::frame_report(&setting.frame, &setting.assigner()?);
    let cases = store.batch_cases(&batch)?;
    let probability: BTreeMap<&str, f64> =
        cases.iter().filter_map(|case| Some((case.stratum.as_str(), case.probability?))).collect();
    let strata = store.batch_strata(&batch)?.into_iter().map(|s| StratumLine {
        probability: probability.get(s.id.as_str()).copied(),
        stratum: s.id,
        title: s.title,
        population: s.population.unwrap_or(0),
        excluded: s.excluded,
        quota: s.quota.unwrap_or(0),
        n: s.drawn,
        overlap: s.overlap,
        empty: None,
    });
    let (plan_digest, plan) = batch.plan.clone().unwrap_or_default();
    Ok(FrameView {
        plan,
        plan_digest,
        frame_digest: setting.frame_digest.clone(),
        batch: Some(name.clone()),
        strata: strata.collect(),
        cells_drawn: Some(cells_drawn(&setting, &frame, cases.iter().map(|case| &case.identity))),
        duplicates: duplicates(store, &setting)?,
        frame,
    })
}

fn cells_drawn<'a>(setting: &Setting, report: &FrameReport, cases: impl Iterator<Item = &'a CaseIdentity>) -> Vec<u64> {
    let frame: BTreeMap<_, _> = setting.frame.iter().map(|case| (&case.identity, case)).collect();
    let mut counts: BTreeMap<(&RunName, _, _), u64> = BTreeMap::new();
    for case in cases.filter_map(|case| frame.get(case)) {
        *counts.entry((&case.run, case.category, case.verdict)).or_default() += 1;
    }
    let of = |cell: &sample::FrameCell| counts.get(&(&cell.run, cell.category, cell.verdict)).copied().unwrap_or(0);
    report.cells.iter().map(of).collect()
}

fn duplicates(store: &Store, setting: &Setting) -> Result<Vec<FrameDefect>> {
    Ok(store.frame_defects(setting.bound.frame_runs().as_ref())?)
}

fn verdict(verdict: Option<Verdict>) -> &'static str {
    verdict.map_or("unscored", Verdict::as_str)
}

impl FrameView {
    fn show_strata(&self, output: &mut Output) {
        let rows: Vec<Vec<String>> = self
            .strata
            .iter()
            .map(|s| {
                vec![
                    s.stratum.clone(),
                    s.title.clone(),
                    s.population.to_string(),
                    s.excluded.to_string(),
                    s.quota.to_string(),
                    s.n.to_string(),
                    output::number(s.probability, 4),
                ]
            })
            .collect();
        output.table(&["stratum", "title", "N", "taken", "quota", "n", "p"], &rows, &[2, 3, 4, 5, 6]);
        for stratum in &self.strata {
            if let Some(reason) = &stratum.empty {
                output.line(format!("stratum {} is empty: {reason}", stratum.stratum));
            }
        }
    }

    /// The cells, what follows from them, and damaged ids.
    pub(super) fn show(&self, output: &mut Output) {
        output.line("");
        let drawn = self.cells_drawn.as_deref().unwrap_or_default();
        let rows: Vec<Vec<String>> = self
            .frame
            .cells
            .iter()
            .enumerate()
            .map(|(place, cell)| {
                let strata: Vec<String> =
                    cell.strata.iter().map(|found| format!("{} {}", found.stratum, found.cases)).collect();
                vec![
                    cell.run.to_string(),
                    cell.category.to_string(),
                    verdict(cell.verdict).to_owned(),
                    cell.drawable.to_string(),
                    strata.join(", "),
                    cell.unreached().to_string(),
                    drawn.get(place).map_or("–".to_owned(), ToString::to_string),
                ]
            })
            .collect();
        output.table(&["run", "category", "verdict", "N", "strata", "unreached", "n"], &rows, &[3, 5, 6]);
        output.line(format!(
            "{} cases = {} in strata + {} that no stratum reaches + {} that can never be drawn",
            self.frame.cases,
            self.frame.cases - self.frame.unreached - self.frame.undrawable,
            self.frame.unreached,
            self.frame.undrawable
        ));
        for finding in &self.frame.findings {
            output.line(format!("· {}", finding.text));
        }
        for defect in self.duplicates.iter().take(MOST_DEFECTS) {
            output.line(format!(
                "  {} {}: {} (line {} of {})",
                defect.run,
                defect.case,
                defect.defect.replace('_', " "),
                defect.line,
                defect.file
            ));
        }
        if self.duplicates.len() > MOST_DEFECTS {
            output.line(format!("  … and {} more (--json lists all)", self.duplicates.len() - MOST_DEFECTS));
        }
    }

    fn csv(&self, part: Part) -> Result<String> {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        match part {
            Part::Strata => csv_text(
                ["stratum", "title", "N", "excluded", "quota", "n", "probability", "overlap"],
                self.strata.iter().map(|s| {
                    [
                        s.stratum.clone(),
                        s.title.clone(),
                        s.population.to_string(),
                        s.excluded.to_string(),
                        s.quota.to_string(),
                        s.n.to_string(),
                        number(s.probability),
                        s.overlap.to_string(),
                    ]
                }),
            ),
            Part::Cells => csv_text(
                ["run", "model", "category", "verdict", "N", "in_strata", "unreached", "undrawable", "n", "strata"],
                self.frame.cells.iter().enumerate().map(|(place, cell)| {
                    let drawn = self.cells_drawn.as_ref().and_then(|counts| counts.get(place));
                    let strata: Vec<String> =
                        cell.strata.iter().map(|found| format!("{}:{}", found.stratum, found.cases)).collect();
                    [
                        cell.run.to_string(),
                        cell.model.clone(),
                        cell.category.to_string(),
                        verdict(cell.verdict).to_owned(),
                        cell.drawable.to_string(),
                        cell.owned.to_string(),
                        cell.unreached().to_string(),
                        cell.undrawable.to_string(),
                        drawn.map_or(String::new(), ToString::to_string),
                        strata.join(" "),
                    ]
                }),
            ),
            Part::Overlaps => csv_text(
                ["owner", "also", "cases"],
                self.frame
                    .overlaps
                    .iter()
                    .map(|overlap| [overlap.owner.to_string(), overlap.also.to_string(), overlap.cases.to_string()]),
            ),
            Part::Duplicates => csv_text(
                ["run", "category", "case", "id", "defect", "file", "line"],
                self.duplicates.iter().map(|found| {
                    [
                        found.run.clone(),
                        found.category.clone(),
                        found.case.clone(),
                        found.id.clone().unwrap_or_default(),
                        found.defect.clone(),
                        found.file.clone(),
                        found.line.to_string(),
                    ]
                }),
            ),
        }
    }
}

fn csv_text<const COLUMNS: usize>(
    header: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
) -> Result<String> {
    let failed = |error: csv::Error| Error::internal(error.to_string());
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).map_err(failed)?;
    for row in rows {
        writer.write_record(row.iter().map(|text| output::inert(text))).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| Error::internal(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| Error::internal(error.to_string()))
}
