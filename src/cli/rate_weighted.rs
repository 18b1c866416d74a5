//! `dualrater rate-weighted`: rates, weighted kappa and corrected rates from a table of sampled cases, without a database.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Output, output};
use crate::error::{Error, Kind, Result};
use crate::estimate::survey::{Answer, Survey, SurveySummary, summarise};
use crate::ingest::{SurveyColumns, read_survey};
use crate::sample::{Share, allocate};
use crate::strata::Method;

/// Weighted rates, kappa and corrected rates from a table of cases
///
/// Rates of a stratified or clustered sample, agreement weighted by the design, and corrections of an automatic metric, from
/// CSV or TSV with a row a case; no database is needed.
///
/// Columns: `value` (the label, a number; empty: the case has no label), `metric` (the automatic value), `stratum`,
/// `cluster`; other names by option. --population gives each stratum's size (with clusters: their number); without it
/// there are no means under the design. Cases without a label but with an automatic value are what prediction-powered
/// means and the Rogan-Gladen rate lean on; both take the labelled cases of a stratum as drawn at random.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  dualrater rate-weighted cases.csv --population E=4421,M=1018,H=755
  dualrater rate-weighted cases.csv --population E=4421,M=1018,H=755 --total 200 --json
  dualrater rate-weighted pairs.csv --raters anna,ben --cluster task --population 757")]
pub struct Args {
    /// The cases; `-` reads stdin
    file: PathBuf,
    /// The column with the label [default: value]
    #[arg(long, value_name = "COLUMN")]
    value: Option<String>,
    /// The column with the automatic value [default: metric, where it is there]
    #[arg(long, value_name = "COLUMN")]
    metric: Option<String>,
    /// The column with the stratum [default: stratum, where it is there]
    #[arg(long, value_name = "COLUMN")]
    stratum: Option<String>,
    /// The column with the cluster [default: cluster, where it is there]
    #[arg(long, value_name = "COLUMN")]
    cluster: Option<String>,
    /// Two columns with raters' values, for weighted kappa
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    raters: Vec<String>,
    /// Size of the population: N, or A=N,B=N for strata
    #[arg(long, value_name = "SIZES")]
    population: Option<String>,
    /// Share this many cases out over the strata, from the spread seen
    #[arg(long, value_name = "CASES")]
    total: Option<u64>,
    /// Confidence level
    #[arg(long, default_value_t = 0.95)]
    level: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How a total would be shared out, before rounding.
#[derive(Debug, Serialize)]
struct Allocations {
    proportional: Answer<BTreeMap<String, f64>>,
    neyman: Answer<BTreeMap<String, f64>>,
}

#[derive(Debug, Serialize)]
struct Printed<'s> {
    #[serde(flatten)]
    summary: &'s SurveySummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    allocation: Option<Allocations>,
}

pub fn run(args: &Args, output: &mut Output) -> Result<()> {
    let raters = match args.raters.as_slice() {
        [] => None,
        [first, second] => Some((first.clone(), second.clone())),
        others => return Err(Error::usage(format!("--raters takes two columns, not {}", others.len()))),
    };
    let columns = SurveyColumns {
        value: args.value.clone(),
        metric: args.metric.clone(),
        stratum: args.stratum.clone(),
        cluster: args.cluster.clone(),
        raters,
    };
    let mut survey = read(&args.file, &columns)?;
    if let Some(sizes) = &args.population {
        set_populations(&mut survey, sizes)?;
    }
    let summary =
        summarise(&survey, args.level).map_err(|error| Error::data(error.to_string()).hint("a level is like 0.95"))?;
    let allocation = args.total.map(|total| shared_out(&summary, total));
    if args.json {
        return output.json(&Printed { summary: &summary, allocation });
    }
    show(&summary, allocation.as_ref(), output);
    Ok(())
}

fn read(file: &Path, columns: &SurveyColumns) -> Result<Survey> {
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| Error::new(Kind::Io, format!("cannot read stdin: {error}")))?;
        return read_survey(&bytes, Path::new("stdin"), columns);
    }
    let bytes = std::fs::read(file).map_err(|source| Error::io("read", file, &source))?;
    read_survey(&bytes, file, columns)
}

/// Reads `N` or `A=N,B=N`.
fn set_populations(survey: &mut Survey, text: &str) -> Result<()> {
    let names = survey.strata.iter().map(|stratum| stratum.name.clone()).collect::<Vec<_>>().join(", ");
    let size = |text: &str| {
        text.trim()
            .parse::<u64>()
            .map_err(|_| Error::usage(format!("--population: {:?} is not a number of cases", text.trim())))
    };
    if let ([only], false) = (survey.strata.as_mut_slice(), text.contains('=')) {
        only.population = Some(size(text)?);
        return Ok(());
    }
    for part in text.split(',') {
        let (name, number) = part.rsplit_once('=').ok_or_else(|| {
            Error::usage(format!("--population: {part:?} names no stratum")).hint(format!("the strata are: {names}"))
        })?;
        let number = size(number)?;
        let stratum = survey.strata.iter_mut().find(|stratum| stratum.name == name.trim()).ok_or_else(|| {
            Error::not_found(format!("--population: no case is of stratum {:?}", name.trim()))
                .hint(format!("the strata are: {names}; one without a case cannot be spoken for"))
        })?;
        if stratum.population.replace(number).is_some() {
            return Err(Error::usage(format!("--population: stratum {:?} stands twice", name.trim())));
        }
    }
    match survey.strata.iter().find(|stratum| stratum.population.is_none()) {
        Some(stratum) => Err(Error::usage(format!("--population: no size for stratum {:?}", stratum.name))),
        None => Ok(()),
    }
}

fn shared_out(summary: &SurveySummary, total: u64) -> Allocations {
    let by = |method| {
        let shares: Option<Vec<Share>> = summary
            .strata
            .iter()
            .map(|row| {
                let population = row.population?;
                Some(Share { population, available: population, minimum: 0, sd: row.sd? })
            })
            .collect();
        let Some(shares) = shares else {
            return Answer::Missing { reason: "every stratum needs its size and two labelled cases".to_owned() };
        };
        match allocate(method, total, &shares) {
            Ok(found) => Answer::Found(
                summary.strata.iter().map(|row| row.stratum.clone()).zip(found.exact).collect::<BTreeMap<_, _>>(),
            ),
            Err(error) => Answer::Missing { reason: error.to_string() },
        }
    };
    Allocations { proportional: by(Method::Proportional), neyman: by(Method::Neyman) }
}

fn show(summary: &SurveySummary, allocation: Option<&Allocations>, output: &mut Output) {
    let count = |value: Option<u64>| value.map_or_else(|| "–".to_owned(), |value| value.to_string());
    let rows: Vec<Vec<String>> = summary
        .strata
        .iter()
        .map(|row| {
            let shared = |answer: &Answer<BTreeMap<String, f64>>| {
                output::number(answer.found().and_then(|parts| parts.get(&row.stratum)).copied(), 1)
            };
            let mut cells = vec![
                row.stratum.clone(),
                count(row.population),
                row.n.to_string(),
                row.unlabelled.to_string(),
                output::number(row.mean, 4),
                output::number(row.sd, 4),
            ];
            if let Some(allocation) = allocation {
                cells.extend([shared(&allocation.proportional), shared(&allocation.neyman)]);
            }
            cells
        })
        .collect();
    let mut header = vec!["stratum", "N", "n", "no label", "mean", "sd"];
    if allocation.is_some() {
        header.extend(["proportional", "Neyman"]);
    }
    let numeric: Vec<usize> = (1..header.len()).collect();
    output.table(&header, &rows, &numeric);
    output.line("");
    let (mut rows, mut reasons) = (Vec::new(), Vec::new());
    let limits = |ci: Option<[f64; 2]>| {
        let text = |limit: f64| output::number(Some(limit), 4);
        ci.map_or_else(|| "–".to_owned(), |[low, high]| format!("{} to {}", text(low), text(high)))
    };
    let mut add = |name: String, value: Option<f64>, se: Option<f64>, ci: Option<[f64; 2]>, reason: Option<&str>| {
        reasons.extend(reason.map(|reason| format!("{}: {reason}", name.trim())));
        rows.push(vec![name, output::number(value, 4), output::number(se, 4), limits(ci)]);
    };
    match &summary.mean {
        Answer::Found(found) => {
            add("mean, design".to_owned(), Some(found.estimate.mean), found.estimate.se, found.ci95_normal, None);
        }
        Answer::Missing { reason } => add("mean, design".to_owned(), None, None, None, Some(reason)),
    }
    match &summary.rate {
        Answer::Found(found) => {
            add("rate, design".to_owned(), Some(found.rate), found.se, Some(found.ci95), None);
            if let Some(survey) = found.design_intervals {
                add("  Korn-Graubard".to_owned(), None, None, Some(survey.korn_graubard), None);
                add("  logit".to_owned(), None, None, Some(survey.logit), None);
                add("  Wald t".to_owned(), None, None, Some(survey.wald_t), None);
            }
        }
        Answer::Missing { reason } => add("rate, design".to_owned(), None, None, None, Some(reason)),
    }
    match &summary.clustered {
        Some(Answer::Found(found)) => {
            add(format!("rate, {} clusters", found.clusters), Some(found.rate), found.se, found.ci95, None);
        }
        Some(Answer::Missing { reason }) => add("rate, clusters".to_owned(), None, None, None, Some(reason)),
        None => {}
    }
    match &summary.weighted_kappa {
        Some(Answer::Found(found)) => {
            let own = &found.estimate;
            add("kappa, design".to_owned(), own.kappa, own.se, own.ci95, own.reason.as_deref());
            add("kappa, unweighted".to_owned(), found.unweighted_kappa, None, None, None);
        }
        Some(Answer::Missing { reason }) => add("kappa, design".to_owned(), None, None, None, Some(reason)),
        None => {}
    }
    if let Some(strata) = &summary.stratum_kappa {
        for row in &strata.strata {
            add(format!("kappa, {}", row.stratum), row.kappa, row.se, None, None);
        }
        match &strata.pooled {
            Answer::Found(found) => {
                let out: Vec<String> =
                    found.left_out.iter().map(|(name, reason)| format!("without {name} ({})", reason.text())).collect();
                let out = (!out.is_empty()).then(|| out.join(", "));
                let ci = Some(found.ci95);
                add("kappa, pooled".to_owned(), Some(found.kappa), Some(found.se), ci, out.as_deref());
            }
            Answer::Missing { reason } => add("kappa, pooled".to_owned(), None, None, None, Some(reason)),
        }
    }
    for row in &summary.ppi {
        for (convention, answer) in [("ppi-python", &row.ppi_python), ("glide", &row.glide)] {
            let name = format!("PPI λ {}, {convention}", row.lambda);
            match answer {
                Answer::Found(found) => add(name, Some(found.est), Some(found.se), Some(found.ci95), None),
                Answer::Missing { reason } => add(name, None, None, None, Some(reason)),
            }
        }
    }
    for row in &summary.rogan_gladen {
        let of = if summary.strata.len() > 1 { format!(", {}", row.stratum) } else { String::new() };
        add(format!("sensitivity{of}"), row.sensitivity, None, row.sensitivity_ci95, None);
        add(format!("specificity{of}"), row.specificity, None, row.specificity_ci95, None);
        match &row.corrected {
            Answer::Found(found) => add(format!("Rogan-Gladen{of}"), Some(found.rate), None, Some(found.ci95), None),
            Answer::Missing { reason } => add(format!("Rogan-Gladen{of}"), None, None, None, Some(reason)),
        }
    }
    output.table(&["measure", "value", "SE", "interval"], &rows, &[1, 2]);
    for reason in reasons {
        output.line(reason);
    }
}
