//! `dualrater gar`: Gold Action Recall beside accuracy.

use std::path::PathBuf;

use super::{Context, Output, explain, families, output};
use crate::action::{RuleSet, StrictRules};
use crate::error::{Error, Result};
use crate::gar::{self, CaseFacts, CellInput, GarRow, GoldTurnCase, RepeatRow, TurnFacts};
use crate::model::{ActionClass, Category};
use crate::store::{CaseSource, FileKind, Store};

/// Gold Action Recall beside accuracy, per run and category
///
/// Gold Action Recall (share of cases that emit the kind of action that their category calls for) beside accuracy (share
/// that pass), their difference with a paired interval, and what it means.
///
/// Δ = GAR − Acc in percentage points. An interval wholly below 0 is masking (cases pass without the gold action), wholly
/// above 0 an execution gap (the gold action, then failure); else there is no clear gap. A case hits if any emission of any
/// turn has the gold class, as the published study counts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this run (may be repeated)
    #[arg(long)]
    run: Vec<String>,
    /// The rule set: as published, ours (docs/rules.md), or both
    #[arg(long, default_value = "paper", value_parser = ["paper", "strict", "both"])]
    rules: String,
    /// Switch rules of `strict`: `-offer,-url` is all but two, `none,think-block` one alone
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    switch: Option<String>,
    /// τ²-bench: the rated batch of ASK candidates that says which of them are valid (subset `adjudicated`)
    #[arg(long, value_name = "BATCH")]
    ask_labels: Option<crate::model::BatchName>,
    /// Print JSON: an array of rows, with hit and miss ids
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Compare families of models: a TOML file with `[families] name = ["model", …]`. With --json, prints an object with
    /// `rows` and `families` in place of the array
    #[arg(long, value_name = "FILE", conflicts_with = "csv")]
    families: Option<PathBuf>,
    /// Print CSV
    #[arg(long)]
    csv: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    let switches = explain::switches(args.switch.as_deref())?;
    let cells = cells(&store, &args.run)?;
    let mut rows: Vec<GarRow> = Vec::new();
    for cell in &cells {
        let sources = store.case_sources(&store.run(&cell.run)?, cell.category)?;
        if args.rules != "strict" {
            rows.push(paper_row(cell, &sources));
        }
        if args.rules != "paper" {
            rows.push(strict_row(cell, &sources, &switches));
        }
    }
    // One block a run and rule set.
    rows.sort_by(|a, b| (&a.run, a.rules).cmp(&(&b.run, b.rules)));
    let compared = match &args.families {
        None => None,
        Some(file) => {
            let family_of = families::read(file)?;
            families::tell_unknown(&family_of, &rows);
            Some(gar::families(&rows, &family_of))
        }
    };
    let rule_sets: &[RuleSet] = match args.rules.as_str() {
        "paper" => &[RuleSet::Paper],
        "strict" => &[RuleSet::Strict],
        _ => &[RuleSet::Paper, RuleSet::Strict],
    };
    let tau2 = super::tau2::gar::rows(&store, &args.run, rule_sets, args.ask_labels.as_ref())?;
    if args.json {
        return match &compared {
            None if !tau2.is_empty() => {
                // τ² runs have rows of their own shape in the same array.
                let values = rows.iter().map(serde_json::to_value).chain(tau2.iter().map(serde_json::to_value));
                let values: Vec<serde_json::Value> = values
                    .collect::<std::result::Result<_, _>>()
                    .map_err(|error| Error::internal(error.to_string()))?;
                output.json(&values)
            }
            None => output.json(&rows),
            Some(families) => output.json(&serde_json::json!({ "rows": rows, "families": families })),
        };
    }
    if args.csv {
        return csv(&rows, &tau2, output);
    }
    if rows.is_empty() && tau2.is_empty() {
        output.line("no runs with a gold action; `dualrater ingest --help` says how to bring one in");
        return Ok(());
    }
    let repeats = if args.rules == "strict" { Vec::new() } else { gar::repeats(&cells, RuleSet::Paper) };
    show(&rows, &repeats, output);
    super::tau2::gar::show(&tau2, output);
    if let Some(compared) = &compared {
        families::show(compared, output);
    }
    Ok(())
}

/// The row under `paper`, with the gold-turn counts where a data set is joined.
fn paper_row(cell: &CellInput, sources: &[CaseSource]) -> GarRow {
    let row = gar::cell(cell, RuleSet::Paper);
    if sources.iter().all(|source| source.truth.is_none()) {
        return row;
    }
    let turns: Vec<Option<Vec<TurnFacts>>> =
        sources.iter().map(|source| source.turns.as_deref().map(gar::paper_turns)).collect();
    row.with_gold_turn(&gar::gold_turn_cell(cell.category, gold_turn_cases(sources, &turns)))
}

/// The row under `strict`: the same records with the classes of its rules.
fn strict_row(cell: &CellInput, sources: &[CaseSource], rules: &StrictRules) -> GarRow {
    let turns: Vec<Option<Vec<TurnFacts>>> =
        sources.iter().map(|source| source.turns.as_deref().map(|turns| gar::strict_turns(turns, rules))).collect();
    let mut input = cell.clone();
    for (case, turns) in input.cases.iter_mut().zip(&turns) {
        case.classes = turns.iter().flatten().flat_map(|turn| turn.classes.iter().copied()).collect();
    }
    let cases: Vec<GoldTurnCase<'_>> = gold_turn_cases(sources, &turns).collect();
    gar::strict_cell(&input, &cases, rules)
}

fn gold_turn_cases<'c>(
    sources: &'c [CaseSource],
    turns: &'c [Option<Vec<TurnFacts>>],
) -> impl Iterator<Item = GoldTurnCase<'c>> {
    sources
        .iter()
        .zip(turns)
        .map(|(source, turns)| GoldTurnCase { turns: turns.as_deref(), truth: source.truth.as_ref() })
}

/// The cells of some runs (of all, where none is named) in the order of run and category.
pub(super) fn cells(store: &Store, runs: &[String]) -> Result<Vec<CellInput>> {
    let mut wanted = Vec::new();
    if runs.is_empty() {
        wanted = store.runs()?;
    } else {
        for name in runs {
            wanted.push(store.run(name)?);
        }
    }
    let mut cells = Vec::new();
    for run in wanted {
        let mut of_run = Vec::new();
        // A chat without a gold action has no row: nothing can be recalled.
        let categories = Category::ALL.into_iter().chain(Category::CHAT).filter(|category| *category != Category::Chat);
        for category in categories {
            let Some(file) = store.file(&run, category, FileKind::Result)? else { continue };
            let score = store.file(&run, category, FileKind::Score)?;
            let found = store.frame_rows(&run, category)?;
            let duplicates = found.iter().any(|row| row.defect);
            let cases: Vec<CaseFacts> = found
                .into_iter()
                .map(|row| CaseFacts {
                    id: row.case_id,
                    verdict: row.verdict,
                    error_record: row.error_record,
                    classes: row.classes,
                    emission_text_seen: row.text_seen,
                })
                .collect();
            of_run.push(CellInput {
                run: run.name.clone(),
                model: run.model.clone(),
                condition: run.condition.clone(),
                category,
                cases,
                failures_only: file.failures_only,
                // With duplicate ids the grader's counts and ours differ: then the verdicts are counted.
                header: score.and_then(|score| score.header).filter(|_| !duplicates),
                run_has_text: false,
            });
        }
        let has_text = gar::has_text(of_run.iter().flat_map(|cell| &cell.cases));
        for mut cell in of_run {
            cell.run_has_text = has_text;
            cells.push(cell);
        }
    }
    Ok(cells)
}

fn show(rows: &[GarRow], repeats: &[RepeatRow], output: &mut Output) {
    let mut start = 0;
    while let Some(first) = rows.get(start) {
        let of_run: Vec<&GarRow> =
            rows[start..].iter().take_while(|row| row.run == first.run && row.rules == first.rules).collect();
        start += of_run.len();
        output.line(format!(
            "{} · model {} · {} · rules {}",
            first.run,
            first.model,
            first.condition,
            first.rules.as_str()
        ));
        show_rates(&of_run, output);
        show_counts(&of_run, output);
        show_gold_turns(&of_run, output);
        output.line("");
    }
    if !repeats.is_empty() {
        output.line("Repeats of one model, on the cases they share:");
        let table: Vec<Vec<String>> = repeats
            .iter()
            .map(|row| {
                vec![
                    row.model.clone(),
                    row.category.to_string(),
                    row.runs.join(", "),
                    row.shared.to_string(),
                    format!("{} ± {}", output::percent(row.gar_mean), output::percent(row.gar_sd)),
                    format!("{} ± {}", output::percent(row.acc_mean), output::percent(row.acc_sd)),
                ]
            })
            .collect();
        output.table(&["model", "category", "runs", "shared", "GAR mean ± sd", "Acc mean ± sd"], &table, &[3, 4, 5]);
    }
    // The same sentence for several cells is said once, with the cells it is about.
    let mut said: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for row in rows {
        for (kind, text) in
            row.warnings.iter().map(|text| ("warning", text)).chain(row.notes.iter().map(|text| ("note", text)))
        {
            let cell = format!("{} {}", row.run, row.category);
            match said.iter_mut().find(|(k, t, _)| *k == kind && t == text) {
                Some((_, _, cells)) => cells.push(cell),
                None => said.push((kind, text, vec![cell])),
            }
        }
    }
    for (kind, text, cells) in said {
        output.line(format!("{kind}: {text} ({})", cells.join(", ")));
    }
}

/// GAR, Acc and Δ with their intervals: one line a category, 80 columns.
fn show_rates(rows: &[&GarRow], output: &mut Output) {
    let rated = |value: Option<f64>, interval: Option<[f64; 2]>| {
        format!("{} {}", output::percent(value), output::interval(interval, 1)).trim_end().to_owned()
    };
    let table: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let delta = row.delta_pp.map_or("–".to_owned(), |delta| format!("{delta:+.1}"));
            vec![
                row.category.to_string(),
                row.n.to_string(),
                rated(row.gar_pct, row.gar_ci95),
                rated(row.acc.map(|acc| acc * 100.0), row.acc_ci95),
                format!("{delta} {}", output::interval(row.delta_ci95, 1)).trim_end().to_owned(),
            ]
        })
        .collect();
    output.table(&["category", "n", "GAR %", "Acc %", "Δ pp"], &table, &[1, 2, 3, 4]);
    for row in rows {
        let diagnosis = row.diagnosis.map_or("no diagnosis", |diagnosis| match diagnosis {
            gar::Diagnosis::Masking => "masking",
            gar::Diagnosis::ExecutionGap => "execution gap",
            gar::Diagnosis::NoClearGap => "no clear gap",
        });
        let masked = match (row.masked_passes, row.joint) {
            (Some(masked), Some(joint)) => {
                let passes = joint.gar0_pass + joint.gar1_pass;
                let share = row.masked_pass_pct.map_or(String::new(), |share| format!(" ({share:.0} %)"));
                format!("; {masked} of {passes} passes{share} are without the gold action")
            }
            _ => String::new(),
        };
        output.line(format!(" {}: {diagnosis}{masked}", row.category));
    }
}

/// The joint table and what the cases emit.
fn show_counts(rows: &[&GarRow], output: &mut Output) {
    let count = |value: Option<u64>| value.map_or("–".to_owned(), |count| count.to_string());
    let table: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let joint = |part: fn(gar::Joint) -> u64| count(row.joint.map(part));
            let mut cells = vec![
                row.category.to_string(),
                joint(|j| j.gar1_pass),
                joint(|j| j.gar1_fail),
                joint(|j| j.gar0_pass),
                joint(|j| j.gar0_fail),
                row.unscored.to_string(),
            ];
            let seen = [ActionClass::ToolCall, ActionClass::Refuse, ActionClass::Ask, ActionClass::Confirm];
            cells.extend(seen.map(|class| row.capability.get(&class).copied().unwrap_or(0).to_string()));
            cells
        })
        .collect();
    output.table(
        &["cases", "hit pass", "hit fail", "miss pass", "miss fail", "no score", "call", "refuse", "ask", "confirm"],
        &table,
        &[1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
}

/// What happens at the gold turn, where a data set says which turn that is.
fn show_gold_turns(rows: &[&GarRow], output: &mut Output) {
    let count = |value: Option<u64>| value.map_or("–".to_owned(), |count| count.to_string());
    let table: Vec<Vec<String>> = rows
        .iter()
        .filter(|row| row.gar_turn_any.is_some())
        .map(|row| {
            vec![
                row.category.to_string(),
                count(row.gar_turn_any),
                count(row.gar_turn_class),
                count(row.calls_at_gold_turn),
                count(row.no_such_turn_in_result),
                count(row.held_out_called_before_return),
                count(row.held_out_called_after_return),
                output::percent(row.turn_recount.and_then(|recount| recount.share_pct())),
            ]
        })
        .collect();
    if !table.is_empty() {
        output.table(
            &["at the gold turn", "any hit", "turn hit", "calls", "no turn", "held early", "held late", "due %"],
            &table,
            &[1, 2, 3, 4, 5, 6, 7],
        );
    }
}

fn csv(rows: &[GarRow], tau2: &[crate::tau2::Tau2GarRow], output: &mut Output) -> Result<()> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Error::internal(error.to_string());
    writer
        .write_record([
            "run",
            "model",
            "condition",
            "category",
            "rules",
            "gold",
            "n",
            "unscored",
            "error_records",
            "gar_hits",
            "gar_pct",
            "gar_low",
            "gar_high",
            "acc_pct",
            "acc_low",
            "acc_high",
            "delta_pp",
            "delta_low",
            "delta_high",
            "gar1_pass",
            "gar1_fail",
            "gar0_pass",
            "gar0_fail",
            "masked_passes",
            "diagnosis",
            "failures_only",
        ])
        .map_err(failed)?;
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let count = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    for row in rows {
        let low = |interval: Option<[f64; 2]>| number(interval.map(|i| i[0]));
        let high = |interval: Option<[f64; 2]>| number(interval.map(|i| i[1]));
        let joint = row.joint;
        writer
            .write_record([
                output::inert(&row.run),
                output::inert(&row.model),
                output::inert(&row.condition),
                row.category.to_string(),
                row.rules.as_str().to_owned(),
                row.gold.to_string(),
                row.n.to_string(),
                row.unscored.to_string(),
                row.error_records.to_string(),
                count(row.gar_hits),
                number(row.gar_pct),
                low(row.gar_ci95),
                high(row.gar_ci95),
                number(row.acc.map(|acc| acc * 100.0)),
                low(row.acc_ci95),
                high(row.acc_ci95),
                number(row.delta_pp),
                low(row.delta_ci95),
                high(row.delta_ci95),
                count(joint.map(|j| j.gar1_pass)),
                count(joint.map(|j| j.gar1_fail)),
                count(joint.map(|j| j.gar0_pass)),
                count(joint.map(|j| j.gar0_fail)),
                count(row.masked_passes),
                row.diagnosis.map_or(String::new(), |diagnosis| diagnosis.as_str().to_owned()),
                row.failures_only.to_string(),
            ])
            .map_err(failed)?;
    }
    // τ²: the domain stands for the category, the class for the gold action.
    for row in tau2 {
        writer.write_record(super::tau2::gar::cells(row)).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| Error::internal(error.to_string()))?;
    output.raw(&String::from_utf8_lossy(&bytes));
    Ok(())
}
