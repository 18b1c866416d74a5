//! `dualrater agree`: how far two raters agree, per label, pooled and per stratum.

pub(super) use super::desk::pair_of_record;
use super::{Context, Output, across, independence, nonresponse, output, raters};
use crate::agree::bootstrap::Plan;
use crate::agree::diagnose::{self, Finding};
use crate::agree::independence::independence as independence_of;
use crate::agree::pairs::NaPolicy;
use crate::agree::{self, LabelAgreement, Options};
use crate::error::{Error, Result};
use crate::model::{Audit, BatchName, RaterName};

/// How far two raters agree, per label and stratum
///
/// How far two raters agree: per label the cases used and left out, raw agreement, Cohen's kappa with a large-sample and a
/// bootstrap interval; per stratum beside the pooled value.
///
/// A pooled kappa over strata that were chosen by outcome is not the kappa of any population: read the strata. Kappa is
/// undefined where both raters use one and the same category throughout; then the reason is printed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(long)]
    batch: BatchName,
    /// The two raters (default: the pair of record)
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1..)]
    raters: Option<Vec<RaterName>>,
    /// Compare the final values with those of the batch that this one re-rates (see `batch rerate`)
    #[arg(long, value_name = "BATCH", conflicts_with_all = ["raters", "na", "rules"])]
    across: Option<BatchName>,
    /// What n.a. is: left out, or a category of its own
    #[arg(long, default_value = "drop", value_parser = ["drop", "category"])]
    na: String,
    /// `paper`: the published study's conventions (no intervals; a constant pair has kappa 1)
    #[arg(long, default_value = "strict", value_parser = ["strict", "paper"])]
    rules: String,
    /// Bootstrap replicates
    #[arg(long, default_value_t = 2000)]
    replicates: u32,
    /// Seed of the bootstrap
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    if let Some(before) = &args.across {
        let bootstrap = Plan { seed: args.seed, replicates: args.replicates };
        let options = Options { bootstrap, ..Options::default() };
        return across::run(&store, before, &args.batch, &options, args.json, output);
    }
    let (batch, rubric) = Context::batch(&store, &args.batch)?;
    let labels = rubric.labels.iter().map(|label| label.id.clone()).collect();
    let audit = store.audit(&batch, labels)?;
    let pair = match &args.raters {
        Some(pair) => raters::check_pair(&audit.raters, pair)?,
        None => pair_of_record(&audit)?,
    };
    let pair = (&pair.0, &pair.1);
    let na = if args.na == "category" { NaPolicy::Category } else { NaPolicy::Drop };
    let options =
        Options { na, bootstrap: Plan { seed: args.seed, replicates: args.replicates }, ..Options::default() };
    let data = |error: agree::TableError| Error::data(error.to_string());
    let rows = agree::label_agreements(&audit, pair, &options).map_err(data)?;
    if args.rules == "paper" {
        return paper(&audit, pair, &rows, (args.json, na), output);
    }
    let findings = diagnose::audit(&audit, pair, na).map_err(data)?;
    let unusable: std::collections::BTreeSet<_> = store.unusable_reasons(&batch)?.into_keys().collect();
    let bounded = nonresponse::bounded(&rows, &audit, &rubric, &unusable)?;
    if args.json {
        let of = |(bounded, row)| WithFindings { bounded, findings: about(&findings, row) };
        return output.json(&bounded.iter().zip(&rows).map(of).collect::<Vec<_>>());
    }
    output.line(format!("batch {} · raters {} and {} · n.a. {}", args.batch, pair.0, pair.1, na_word(na)));
    let mut table = Vec::new();
    for row in &rows {
        table.push(cells(row, row.label.as_str()));
        for stratum in row.strata.iter().filter(|stratum| stratum.n > 0) {
            let name = stratum.stratum.as_ref().map_or("", |id| id.as_str());
            table.push(cells(stratum, &format!("  {name}")));
        }
    }
    output.table(&["label", "n", "po", "kappa", "95 % CI", "bootstrap CI", "note"], &table, &[1, 2, 3, 4, 5]);
    output.line(
        "Strata chosen by outcome make the pooled kappa a mixture; the strata's own values stand below each label.",
    );
    families(&rows, output);
    nonresponse::show(&bounded, unusable.len(), output);
    if !findings.is_empty() {
        output.line("");
        output.line("What to look at:");
        for finding in &findings {
            output.paragraph(&format!("• {}", finding.sentence()));
        }
    }
    let evidence = independence::evidence(&store, &batch, &rubric, &audit)?;
    independence::show(&independence_of(&audit, pair, &evidence), output);
    Ok(())
}

/// A label's row with what was found about it.
#[derive(serde::Serialize)]
struct WithFindings<'a> {
    #[serde(flatten)]
    bounded: &'a nonresponse::Bounded<'a>,
    findings: Vec<&'a Finding>,
}

/// The findings about a row's label. What concerns all labels together stands in the printed text and in the report.
fn about<'a>(findings: &'a [Finding], row: &LabelAgreement) -> Vec<&'a Finding> {
    findings.iter().filter(|finding| finding.label.as_deref() == Some(row.label.as_str())).collect()
}

/// Intervals with whole conversations resampled, where cases share one.
fn families(rows: &[LabelAgreement], output: &mut Output) {
    if rows.iter().all(|row| row.ci95_family.cases_sharing == 0) {
        return;
    }
    let limits = |found: &agree::BootstrapInterval| found.low.zip(found.high).map(|(low, high)| [low, high]);
    let table: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let family = &row.ci95_family;
            vec![
                row.label.to_string(),
                row.n.to_string(),
                family.cases_sharing.to_string(),
                family.families.to_string(),
                output::interval(limits(&row.ci95_bootstrap), 2),
                output::interval(limits(&family.interval), 2),
            ]
        })
        .collect();
    output.line("");
    output.line("Cases about one conversation are not independent; with whole conversations resampled:");
    output.table(&["label", "n", "sharing", "conversations", "by case", "by conversation"], &table, &[1, 2, 3, 4, 5]);
}

fn na_word(na: NaPolicy) -> &'static str {
    match na {
        NaPolicy::Drop => "left out",
        NaPolicy::Category => "a category",
    }
}

fn cells(row: &LabelAgreement, name: &str) -> Vec<String> {
    let boot = &row.ci95_bootstrap;
    let left = &row.left_out;
    let mut out: Vec<String> = row.reason.iter().map(|reason| reason.code().replace('_', " ")).collect();
    for (count, what) in [
        (left.one_sided_na, "one n.a."),
        (left.both_na, "both n.a."),
        (left.missing, "missing"),
        (left.cannot_judge, "cannot judge"),
        (left.no_verdict, "no verdict"),
    ] {
        if count > 0 {
            out.push(format!("{count} {what}"));
        }
    }
    vec![
        name.to_owned(),
        row.n.to_string(),
        output::number(row.po, 3),
        output::number(row.kappa, 3),
        output::interval(row.ci95, 2),
        output::interval(boot.low.zip(boot.high).map(|(low, high)| [low, high]), 2),
        out.join(", "),
    ]
}

/// The published study's table: pairs without n.a., kappa 1 for a constant pair, raw agreement per stratum over all cases.
fn paper(
    audit: &Audit,
    pair: (&RaterName, &RaterName),
    rows: &[LabelAgreement],
    (json, na): (bool, NaPolicy),
    output: &mut Output,
) -> Result<()> {
    let mut merged = Vec::new();
    let mut primary = Vec::new();
    for row in rows {
        let found =
            agree::paper::label_kappa(audit, pair, &row.label, na).map_err(|error| Error::data(error.to_string()))?;
        let mut row = row.clone();
        (row.se, row.ci95) = (None, None);
        row.strata.clear();
        if let Some(found) = &found {
            (row.n, row.agree, row.po, row.pe, row.kappa) =
                (found.n, found.agree, Some(found.po), Some(found.pe), Some(found.kappa));
            row.reason = None;
            row.reason_text = None;
            if agree::paper::PRIMARY_LABELS.contains(&row.label.as_str()) {
                primary.push(found.kappa);
            }
        }
        merged.push(row);
    }
    if json {
        return output.json(&merged);
    }
    let batch = &audit.batch;
    let na = na_word(na);
    output.line(format!(
        "batch {batch} · raters {} and {} · the published study's conventions · n.a. {na}",
        pair.0, pair.1
    ));
    let table: Vec<Vec<String>> = merged
        .iter()
        .map(|row| {
            vec![
                row.label.to_string(),
                row.n.to_string(),
                output::number(row.po, 3),
                output::number(row.kappa, 4),
                row.left_out.one_sided_na.to_string(),
            ]
        })
        .collect();
    output.table(&["label", "n", "agreement", "kappa", "one-sided n.a."], &table, &[1, 2, 3, 4]);
    if let Some((mean, least)) = agree::paper::mean_and_min(primary) {
        output.line(format!(
            "primary labels ({}): mean kappa {mean:.4}, minimum {least:.4}",
            agree::paper::PRIMARY_LABELS.join(", ")
        ));
    }
    let labels: Vec<_> =
        audit.labels.iter().filter(|label| agree::paper::PRIMARY_LABELS.contains(&label.as_str())).cloned().collect();
    let strata = agree::paper::stratum_agreement(audit, pair, &labels);
    let header: Vec<String> =
        ["stratum", "n"].iter().map(ToString::to_string).chain(labels.iter().map(ToString::to_string)).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let table: Vec<Vec<String>> = strata
        .iter()
        .map(|stratum| {
            let mut row = vec![stratum.stratum.to_string(), stratum.n.to_string()];
            row.extend(labels.iter().map(|label| output::number(stratum.agreement.get(label).copied(), 2)));
            row
        })
        .collect();
    output.table(&header, &table, &[1, 2, 3, 4, 5, 6]);
    Ok(())
}
