//! `dualrater kappa`: agreement of two or more raters from a file, stdin or a table, without a database.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::{Output, output};
use crate::agree::bootstrap::Plan;
use crate::agree::pairs::NaPolicy;
use crate::agree::ratings::Source;
use crate::agree::summary::{CoefficientRow, Crowd, Panels, Settings, Summary, Two, WeightChoice, summarise};
use crate::agree::{BootstrapInterval, Table};
use crate::error::{Error, Kind, Place, Result};
use crate::ingest::{Layout, RatingsFormat, read_ratings};

/// Agreement of two or more raters from a file, without a database
///
/// Agreement of raters, per label: Cohen's kappa with large-sample and bootstrap intervals, the coefficients that stand
/// beside it, and what to make of them. More than two raters: Fleiss, Conger, Light, Randolph, Gwet, Krippendorff.
///
/// Reads CSV or TSV: wide (item, one column a rater) or long (item, rater, label, value). Empty cells, NA, N/A, NaN and
/// null are missing ratings; `n.a.` (does not apply) and `cannot_judge` are answers, left out of kappa and counted.
/// Categories are in the order of --order, else by number, else as they first appear; weights need the right one.
/// Intervals are κ ± 1.959964 SE. A measure without a value is null in JSON, with its reason.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  dualrater kappa ratings.csv
  dualrater kappa ratings.tsv --weights quadratic --order low,mid,high --json
  dualrater kappa --table \"88,14,18;10,40,10;2,6,12\"")]
pub struct Args {
    /// The ratings; `-` reads stdin
    #[arg(required_unless_present = "table", conflicts_with = "table")]
    file: Option<PathBuf>,
    /// A contingency table instead: rows between `;`, counts between `,`; rows are the first rater
    #[arg(long, value_name = "ROWS")]
    table: Option<String>,
    /// How to read the rows (default: long if the header has item, rater and value, else wide)
    #[arg(long, value_parser = ["wide", "long", "counts"])]
    layout: Option<String>,
    /// The column that names the item
    #[arg(long, value_name = "COLUMN")]
    item: Option<String>,
    /// The raters to compare, in this order (default: all)
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    raters: Vec<String>,
    /// The column that names the item's family (default: the BFCL scenario, τ² task, or the item itself)
    #[arg(long, value_name = "COLUMN")]
    family: Option<String>,
    /// Another spelling of a missing rating; repeatable
    #[arg(long, value_name = "TEXT")]
    missing: Vec<String>,
    /// Only this label
    #[arg(long)]
    label: Option<String>,
    /// The categories in their order; LABEL=a,b,c for one label; repeatable
    #[arg(long, value_name = "A,B,C")]
    order: Vec<String>,
    /// linear, quadratic, ordinal, or a file with a square of numbers (1 on the diagonal: agreement; 0: disagreement)
    #[arg(long)]
    weights: Option<String>,
    /// What n.a. is: left out, or a category of its own
    #[arg(long, default_value = "drop", value_parser = ["drop", "category"])]
    na: String,
    /// Bootstrap replicates
    #[arg(long, default_value_t = 2000)]
    replicates: u32,
    /// Seed of the bootstrap
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON: an array with one object per label
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, output: &mut Output) -> Result<()> {
    let mut sources = sources(args)?;
    if let Some(label) = &args.label {
        sources.retain(|source| name(source) == Some(label));
        if sources.is_empty() {
            return Err(Error::not_found(format!("the file has no label {label:?}")));
        }
    }
    let weights = args.weights.as_deref().map(weights).transpose()?;
    let mut summaries = Vec::new();
    for source in &sources {
        let settings = Settings {
            order: order(&args.order, name(source)),
            weights: weights.clone(),
            na: if args.na == "category" { NaPolicy::Category } else { NaPolicy::Drop },
            bootstrap: Plan { seed: args.seed, replicates: args.replicates },
        };
        let summary = summarise(source, &settings).map_err(|error| {
            let of = name(source).map_or_else(String::new, |label| format!("label {label}: "));
            let error = Error::data(format!("{of}{error}"));
            args.file.as_deref().map_or(error.clone(), |file| error.at(Place::file(file)))
        })?;
        summaries.push(summary);
    }
    if args.json {
        return output.json(&summaries);
    }
    for (at, summary) in summaries.iter().enumerate() {
        if at > 0 {
            output.line("");
        }
        print(summary, output);
    }
    Ok(())
}

fn name(source: &Source) -> Option<&String> {
    match source {
        Source::Ratings(ratings) => ratings.label.as_ref(),
        Source::Counts(_) | Source::Table(_) => None,
    }
}

fn sources(args: &Args) -> Result<Vec<Source>> {
    if let Some(text) = &args.table {
        return Ok(vec![Source::Table(contingency(text, &args.order)?)]);
    }
    let file = args.file.as_deref().unwrap_or(Path::new("-"));
    let format = RatingsFormat {
        layout: args.layout.as_deref().map(|name| match name {
            "long" => Layout::Long,
            "counts" => Layout::Counts,
            _ => Layout::Wide,
        }),
        item: args.item.clone(),
        raters: args.raters.clone(),
        family: args.family.clone(),
        missing: args.missing.clone(),
    };
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| Error::new(Kind::Io, format!("cannot read stdin: {error}")))?;
        return read_ratings(&bytes, Path::new("stdin"), &format);
    }
    let bytes = std::fs::read(file).map_err(|source| Error::io("read", file, &source))?;
    read_ratings(&bytes, file, &format)
}

fn contingency(text: &str, order: &[String]) -> Result<Table> {
    let hint = "rows between semicolons, counts between commas: \"20,5;10,15\"";
    let count = |cell: &str| {
        cell.trim()
            .parse::<u64>()
            .map_err(|_| Error::usage(format!("--table: {:?} is not a count", cell.trim())).hint(hint))
    };
    let rows = text
        .trim()
        .trim_end_matches(';')
        .split(';')
        .map(|row| row.split(',').map(count).collect::<Result<Vec<u64>>>())
        .collect::<Result<Vec<_>>>()?;
    let table = match self::order(order, None) {
        Some(names) => Table::from_counts(names, &rows),
        None => Table::numbered(&rows),
    };
    table.map_err(|error| Error::usage(format!("--table: {error}")).hint(hint))
}

/// The order for a label: one of its own before one for all.
fn order(stated: &[String], label: Option<&String>) -> Option<Vec<String>> {
    let split = |text: &str| text.split(',').map(|name| name.trim().to_owned()).collect();
    let own =
        label.and_then(|label| stated.iter().find_map(|text| text.strip_prefix(label.as_str())?.strip_prefix('=')));
    own.or_else(|| stated.iter().map(String::as_str).find(|text| !text.contains('='))).map(split)
}

fn weights(text: &str) -> Result<WeightChoice> {
    match text {
        "linear" => return Ok(WeightChoice::Linear),
        "quadratic" => return Ok(WeightChoice::Quadratic),
        "ordinal" => return Ok(WeightChoice::Ordinal),
        _ => {}
    }
    let file = Path::new(text);
    let content = std::fs::read_to_string(file)
        .map_err(|source| Error::io("read", file, &source).hint("--weights is linear, quadratic, ordinal or a file"))?;
    let mut rows = Vec::new();
    for (number, line) in content.trim_start_matches('\u{feff}').lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let cells = line.split([',', ';', '\t', ' ']).filter(|cell| !cell.is_empty());
        let row = cells.map(|cell| {
            cell.parse::<f64>().map_err(|_| {
                Error::data(format!("{cell:?} is not a number"))
                    .at(Place::line(file, number as u64 + 1))
                    .hint("a square of numbers, one row a line, in the order of the categories")
            })
        });
        rows.push(row.collect::<Result<Vec<f64>>>()?);
    }
    Ok(WeightChoice::Matrix(rows))
}

/// Rows of a table of measures: name, value, standard error, interval, note.
struct Rows(Vec<Vec<String>>);

impl Rows {
    fn add(&mut self, name: &str, value: Option<f64>, se: Option<f64>, ci: Option<[f64; 2]>, note: &str) {
        // A row about a standard error alone has no value to miss.
        let value = if value.is_none() && se.is_some() { String::new() } else { output::number(value, 4) };
        let se = se.map_or_else(String::new, |se| format!("{se:.4}"));
        let note = note.replace('_', " ");
        self.0.push(vec![name.to_owned(), value, se, output::interval(ci, 3), note]);
    }

    fn bootstrap(&mut self, name: &str, found: &BootstrapInterval) {
        let ci = found.low.zip(found.high).map(|(low, high)| [low, high]);
        let mut note = found.reason.map_or_else(|| format!("{} replicates", found.replicates), |r| r.code().to_owned());
        if found.undefined > 0 {
            note = format!("{note}, {} undefined", found.undefined);
        }
        let note = note.replace('_', " ");
        self.0.push(vec![name.to_owned(), String::new(), String::new(), output::interval(ci, 3), note]);
    }

    fn coefficient(&mut self, name: &str, row: &CoefficientRow) {
        self.add(name, row.coef, row.se, row.ci95, row.reason.unwrap_or_default());
    }
}

fn print(summary: &Summary, output: &mut Output) {
    let mut head = Vec::new();
    if let Some(label) = &summary.label {
        head.push(format!("label {label}"));
    }
    if !summary.raters.is_empty() {
        head.push(format!("raters {}", summary.raters.join(", ")));
    }
    let used = summary.items - summary.dropped.values().sum::<u64>().min(summary.items);
    head.push(format!("{} items, {used} used", summary.items));
    output.paragraph(&head.join(" · "));
    let mut rows = Rows(Vec::new());
    if let Some(two) = &summary.two {
        two_rows(two, &mut rows);
        if let Some(panel) = &summary.panel
            && summary.dropped.values().any(|count| *count > 0)
        {
            panel_rows(panel, &mut rows);
        }
    }
    if let (Some(crowd), Some(panel)) = (&summary.crowd, &summary.panel) {
        panel_rows(panel, &mut rows);
        pair_rows(crowd, &mut rows);
    }
    for (metric, row) in &summary.krippendorff_alpha {
        let ci = row.ci95_bootstrap.and_then(|found| found.low.zip(found.high)).map(|(low, high)| [low, high]);
        if *metric == "nominal" || (row.alpha.is_some() && categories_of(summary) > 2) {
            let note = row.reason.map_or_else(|| format!("{} items, bootstrap", row.units), str::to_owned);
            rows.add(&format!("alpha, {metric}"), row.alpha, None, ci, &note);
        }
    }
    output.table(&["measure", "value", "SE", "95 % interval", "note"], &rows.0, &[1, 2]);
    if let Some(two) = &summary.two {
        categories(summary, two, output);
    }
    for finding in &summary.findings {
        output.paragraph(&format!("• {}", finding.text));
    }
}

fn categories_of(summary: &Summary) -> usize {
    let two = summary.two.as_ref().map(|two| two.all.categories.len());
    two.or_else(|| summary.crowd.as_ref().map(|crowd| crowd.categories.len())).unwrap_or_default()
}

fn two_rows(two: &Two, rows: &mut Rows) {
    let (all, beside) = (&two.all, &two.all.measures);
    let why = |name: &str| two.reasons.get(name).copied().unwrap_or_default();
    rows.add("agreement", all.po, None, all.po_ci95.filter(|_| all.weights.is_none()), "Wilson");
    rows.add("expected by chance", all.pe, None, None, "");
    let kind = if all.weights.is_some() { "weighted kappa" } else { "kappa" };
    rows.add(kind, all.kappa, all.se, all.ci95, all.reason.map_or("large sample", |reason| reason.code()));
    rows.bootstrap("  bootstrap", &all.ci95_bootstrap);
    rows.bootstrap("  bootstrap, BCa", &all.ci95_bca);
    if let Some(family) = &two.ci95_family {
        rows.bootstrap(&format!("  {} families", family.families), &family.interval);
    }
    rows.add("  jackknife", None, beside.jackknife_se, None, why("jackknife_se"));
    rows.add("  under kappa = 0", None, beside.se_h0, None, why("se_h0"));
    rows.add("  largest possible", beside.kappa_max, None, None, why("kappa_max"));
    if let Some(plain) = all.unweighted {
        rows.add("kappa, unweighted", plain.kappa, plain.se, None, "");
    }
    rows.add("Scott's pi", beside.scott_pi, None, None, why("scott_pi"));
    rows.add("Bennett's S, PABAK", beside.bennett_s_pabak, None, None, why("bennett_s_pabak"));
    rows.add("Gwet's AC1", beside.gwet_ac1, beside.gwet_ac1_se, beside.gwet_ac1_ci95, why("gwet_ac1_ci95"));
    if all.weights.is_some() {
        rows.add("Gwet's AC2", all.gwet_ac2, all.gwet_ac2_se, None, "");
    }
    if beside.prevalence_index.is_some() {
        rows.add("prevalence index", beside.prevalence_index, None, None, "");
        rows.add("bias index", beside.bias_index, None, None, "");
    }
}

fn panel_rows(panel: &Panels, rows: &mut Rows) {
    for (name, row) in [
        ("percent agreement", &panel.percent),
        ("Fleiss' kappa", &panel.fleiss),
        ("Conger's kappa", &panel.conger),
        ("Light's kappa", &panel.light),
        ("Randolph's kappa", &panel.randolph),
        ("Gwet's AC", &panel.gwet),
        ("Krippendorff's alpha", &panel.krippendorff),
        ("Brennan-Prediger", &panel.brennan_prediger),
    ] {
        rows.coefficient(name, row);
    }
}

fn pair_rows(crowd: &Crowd, rows: &mut Rows) {
    /// More pairs than this hide the rest of the table; JSON has all.
    const PAIRS: usize = 15;
    for pair in crowd.pairs.iter().take(PAIRS) {
        let note = pair.reason.map_or_else(|| format!("{} items", pair.n), |reason| reason.code().to_owned());
        rows.add(&format!("kappa {} – {}", pair.first, pair.second), pair.kappa, pair.se, pair.ci95, &note);
    }
    if crowd.pairs.len() > PAIRS {
        rows.add(&format!("{} more pairs", crowd.pairs.len() - PAIRS), None, None, None, "in --json");
    }
}

fn categories(summary: &Summary, two: &Two, output: &mut Output) {
    /// More columns than this do not fit a terminal.
    const COLUMNS: usize = 6;
    let shown = if two.all.categories.len() <= COLUMNS { two.all.categories.len() } else { 0 };
    let rows: Vec<Vec<String>> = two
        .all
        .measures
        .specific_agreement
        .iter()
        .zip(&two.all.table)
        .map(|(row, counts)| {
            let mut cells = vec![short(&row.category)];
            cells.extend(counts.iter().take(shown).map(u64::to_string));
            cells.extend([row.first.to_string(), row.second.to_string(), output::number(row.agreement, 3)]);
            cells
        })
        .collect();
    let names: Vec<String> = two.all.categories.iter().take(shown).map(|name| short(name)).collect();
    let who = |at: usize| summary.raters.get(at).map_or_else(String::new, |name| short(name));
    let (first, second) = (who(0), who(1));
    let mut header = vec!["category"];
    header.extend(names.iter().map(String::as_str));
    header.extend([first.as_str(), second.as_str(), "specific agreement"]);
    let numbers: Vec<usize> = (1..header.len()).collect();
    output.table(&header, &rows, &numbers);
}

/// The beginning of a long name.
fn short(name: &str) -> String {
    const LONGEST: usize = 14;
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
}
