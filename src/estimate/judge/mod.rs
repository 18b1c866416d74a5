//! Is a model a good enough judge? Measured on the cases that people rated too: its confusion with each person, whether it
//! agrees with a person as well as a second person does, and the rates that follow when its errors are corrected.

mod corrected;
mod second;

use serde::Serialize;

pub use corrected::{CorrectedRate, Reference};
pub use second::{SecondPerson, Standing};

use crate::agree::{self, LabelAgreement, Options, TableError};
use crate::model::{Audit, LabelId, RaterName};

/// A judge beside people.
#[derive(Debug, Clone, Serialize)]
pub struct Validation {
    /// The judge.
    pub judge: RaterName,
    /// The people.
    pub people: Vec<RaterName>,
    /// How much less often than a second person the judge may agree and still count as agreeing as well.
    pub margin: f64,
    /// Per label, in the audit's order, those that the judge and a person answered.
    pub labels: Vec<LabelValidation>,
    /// Intervals of the comparison with a second person: the level is raised so that all together hold in 95 % of samples.
    pub comparisons: u64,
}

/// One label.
#[derive(Debug, Clone, Serialize)]
pub struct LabelValidation {
    /// The label.
    pub label: LabelId,
    /// The judge's confusion, agreement and kappa with each person, pooled and per stratum. Rows are the judge.
    pub against: Vec<Against>,
    /// The judge and a second person, each beside a person, over the cases that all three rated.
    pub second: Vec<SecondPerson>,
    /// The label's rate over the batch with the judge's errors corrected; `None` for labels that are not yes or no.
    pub corrected: Option<CorrectedRate>,
}

/// The judge beside one person.
#[derive(Debug, Clone, Serialize)]
pub struct Against {
    /// The person.
    pub person: RaterName,
    /// Their agreement.
    #[serde(flatten)]
    pub agreement: LabelAgreement,
}

/// Measures a judge against people. `binary`: the labels that are yes or no. `options` says how agreement is computed.
///
/// # Errors
/// More cases than a table holds.
pub fn validate(
    audit: &Audit,
    judge: &RaterName,
    people: &[RaterName],
    binary: &[LabelId],
    (options, margin): (&Options, f64),
) -> Result<Validation, TableError> {
    let mut labels = Vec::new();
    let triples: Vec<(&RaterName, &RaterName)> = people
        .iter()
        .flat_map(|one| people.iter().filter(move |other| *other != one).map(move |other| (one, other)))
        .collect();
    let candidates: u64 = audit
        .labels
        .iter()
        .flat_map(|label| triples.iter().map(move |(one, other)| second::pairs(audit, judge, (one, other), label)))
        .filter(|pairs| pairs.n() > 0)
        .count() as u64;
    for label in &audit.labels {
        let mut against = Vec::new();
        for person in people {
            let agreement = agree::label_agreement(audit, (judge, person), label, options)?;
            if agreement.n > 0 {
                against.push(Against { person: person.clone(), agreement });
            }
        }
        if against.is_empty() {
            continue;
        }
        let second = triples
            .iter()
            .filter_map(|(one, other)| second::of(audit, judge, (one, other), label, (margin, candidates)))
            .collect();
        let corrected = binary.contains(label).then(|| corrected::of(audit, judge, people, label));
        labels.push(LabelValidation { label: label.clone(), against, second, corrected });
    }
    Ok(Validation { judge: judge.clone(), people: people.to_vec(), margin, labels, comparisons: candidates })
}

#[cfg(test)]
mod tests;
