//! `dualrater validate`: a model rater measured against people.

use super::{Context, Output, output};
use crate::agree::bootstrap::Plan;
use crate::agree::{LabelAgreement, Options};
use crate::error::{Error, Result};
use crate::estimate::judge::{Validation, validate};
use crate::model::{Audit, BatchName, RaterKind, RaterName};
use crate::rubric::LabelKind;

/// Measure a model rater against people who rated some of the same cases
///
/// Measure a model rater against people who rated some of the same cases: its confusion, agreement and kappa with each person
/// per label and stratum; whether it agrees with a person as well as a second person does; and each yes-or-no label's rate
/// over the batch with the model's errors corrected by what people found.
///
/// The corrected rate assumes nothing about the model's errors, only that the people's cases are a random part of each
/// stratum. Every rater gets the cases in a shuffled order of their own, so a person who rates the first so many of their
/// sheet has rated such a part.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(long)]
    batch: BatchName,
    /// The model rater
    #[arg(long)]
    judge: RaterName,
    /// The people (default: every human rater of the batch)
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1..)]
    people: Option<Vec<RaterName>>,
    /// How much less often than a second person, in points, the model may agree and still count as agreeing as well
    #[arg(long, default_value_t = 10.0, value_name = "POINTS")]
    margin: f64,
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
    if !(0.0..100.0).contains(&args.margin) {
        return Err(Error::usage("--margin takes points from 0 to 100"));
    }
    let store = context.store()?;
    let (batch, rubric) = Context::batch(&store, &args.batch)?;
    let audit = store.audit(&batch, rubric.labels.iter().map(|label| label.id.clone()).collect())?;
    let people = people(args, &audit)?;
    let binary: Vec<_> =
        rubric.labels.iter().filter(|label| label.kind == LabelKind::Binary).map(|label| label.id.clone()).collect();
    let options = Options { bootstrap: Plan { seed: args.seed, replicates: args.replicates }, ..Options::default() };
    let found = validate(&audit, &args.judge, &people, &binary, (&options, args.margin / 100.0))
        .map_err(|error| Error::data(error.to_string()))?;
    if found.labels.is_empty() {
        return Err(Error::not_found(format!("{} and the people share no answered case", args.judge))
            .hint("people rate a part of the batch: dualrater export --batch B --rater NAME"));
    }
    if args.json {
        return output.json(&found);
    }
    show(&found, output);
    Ok(())
}

fn people(args: &Args, audit: &Audit) -> Result<Vec<RaterName>> {
    let kind = |rater: &RaterName| audit.raters.iter().find(|(name, _)| name == rater).map(|(_, kind)| *kind);
    let unknown = |rater: &RaterName| {
        Error::not_found(format!("{rater} is no rater of batch {}", audit.batch))
            .hint(format!("`dualrater raters --batch {}` lists them", audit.batch))
    };
    match kind(&args.judge) {
        None => return Err(unknown(&args.judge)),
        Some(RaterKind::Human) => {
            return Err(Error::conflict(format!("{} is a person", args.judge)).hint("--judge names a model rater"));
        }
        Some(_) => {}
    }
    match &args.people {
        Some(named) => {
            if let Some(missing) = named.iter().find(|person| kind(person).is_none()) {
                return Err(unknown(missing));
            }
            if named.contains(&args.judge) {
                return Err(Error::usage("the judge cannot be measured against itself"));
            }
            Ok(named.clone())
        }
        None => {
            let humans: Vec<RaterName> = audit
                .raters
                .iter()
                .filter(|(_, kind)| *kind == RaterKind::Human)
                .map(|(name, _)| name.clone())
                .collect();
            if humans.is_empty() {
                return Err(Error::not_found(format!("batch {} has no human rater", audit.batch))
                    .hint("name other raters to measure against with --people"));
            }
            Ok(humans)
        }
    }
}

fn show(found: &Validation, output: &mut Output) {
    output.line(format!("{} beside each person (rows of the confusion are the judge)", found.judge));
    let mut rows = Vec::new();
    for label in &found.labels {
        for against in &label.against {
            rows.push(row(&against.agreement, label.label.as_str(), against.person.as_str()));
            for stratum in against.agreement.strata.iter().filter(|stratum| stratum.n > 0) {
                let name = stratum.stratum.as_ref().map_or("", |id| id.as_str());
                rows.push(row(stratum, &format!("  {name}"), ""));
            }
        }
    }
    let head = ["label", "person", "n", "po", "kappa", "95 % CI", "judge/person", "left out"];
    output.table(&head, &rows, &[2, 3, 4, 5]);
    let second: Vec<Vec<String>> = found
        .labels
        .iter()
        .flat_map(|label| label.second.iter().map(move |row| (label, row)))
        .map(|(label, row)| {
            vec![
                label.label.to_string(),
                row.person.to_string(),
                row.second.to_string(),
                row.n.to_string(),
                row.judge_agrees.to_string(),
                row.second_agrees.to_string(),
                format!("{:+.1}", 100.0 * row.difference),
                output::interval(Some(row.interval.map(|limit| 100.0 * limit)), 1),
                row.standing.as_str().to_owned(),
            ]
        })
        .collect();
    output.line("");
    if second.is_empty() {
        output.line("No two people rated the same cases, so nothing can be said beside a second person.");
    } else {
        output.line("Does the judge agree with a person as well as a second person does?");
        let head = ["label", "person", "second", "n", "judge", "second agrees", "points", "interval", "as well?"];
        output.table(&head, &second, &[3, 4, 5, 6, 7]);
        output.paragraph(&format!(
            "As well: less than {:.0} points worse, surely. {} comparisons; the level of each interval allows for all of them.",
            100.0 * found.margin,
            found.comparisons
        ));
    }
    corrected(found, output);
}

fn row(row: &LabelAgreement, label: &str, person: &str) -> Vec<String> {
    let left = &row.left_out;
    let mut others = Vec::new();
    for (count, what) in [(left.no_verdict, "no verdict"), (left.total() - left.no_verdict, "other")] {
        if count > 0 {
            others.push(format!("{count} {what}"));
        }
    }
    let mut confusion = Vec::new();
    for (judge, counts) in row.categories.iter().zip(&row.table) {
        for (person, count) in row.categories.iter().zip(counts).filter(|(_, count)| **count > 0) {
            confusion.push(format!("{judge}/{person} {count}"));
        }
    }
    vec![
        label.to_owned(),
        person.to_owned(),
        row.n.to_string(),
        output::number(row.po, 3),
        output::number(row.kappa, 3),
        output::interval(row.ci95, 2),
        confusion.join(" "),
        others.join(", "),
    ]
}

fn corrected(found: &Validation, output: &mut Output) {
    let percent = |share: Option<f64>| output::percent(share.map(|share| 100.0 * share));
    let share = |k: u64, n: u64| (n > 0).then(|| k as f64 / n as f64);
    let mut notes = Vec::new();
    let rows: Vec<Vec<String>> = found
        .labels
        .iter()
        .filter_map(|label| label.corrected.as_ref().map(|rate| (label, rate)))
        .map(|(label, rate)| {
            if let Some(reason) = &rate.reason {
                notes.push(format!("{}: {reason}", label.label));
            }
            let plain = rate.difference.as_ref();
            let tuned = rate.tuned.as_ref();
            let limits = |limits: Option<[f64; 2]>| output::interval(limits.map(|ci| ci.map(|limit| 100.0 * limit)), 1);
            vec![
                label.label.to_string(),
                rate.judged.to_string(),
                percent(share(rate.judged_yes, rate.judged)),
                rate.with_people.to_string(),
                percent(share(rate.people_yes, rate.with_people)),
                percent(plain.map(|rate| rate.rate)),
                limits(plain.map(|rate| rate.ci95)),
                percent(tuned.map(|rate| rate.rate)),
                limits(tuned.map(|rate| rate.ci95)),
            ]
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    output.line("");
    output.line("Rates over the judged cases of the batch, in percent, with the judge's errors corrected by people:");
    let head = ["label", "judged", "judge", "people n", "people", "corrected", "95 %", "tuned", "95 %"];
    output.table(&head, &rows, &[1, 2, 3, 4, 5, 6, 7, 8]);
    for note in notes {
        output.paragraph(&format!("• {note}"));
    }
    output.paragraph(
        "Corrected: the difference estimator, stratum by stratum; it holds whatever the judge's errors are, if the people's \
         cases are a random part of each stratum. Tuned: the judge used as much as it helps.",
    );
}
