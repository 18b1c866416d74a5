//! What unusable cases can do to agreement, as `agree` prints it.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Output, output};
use crate::agree::LabelAgreement;
use crate::agree::nonresponse::{Bounds, bounds_of};
use crate::error::{Error, Result};
use crate::model::{Audit, CaseIdentity, LabelId};
use crate::rubric::{Applicability, LabelKind, Rubric, applicability};

/// A row of agreement with its bounds, as JSON.
#[derive(Serialize)]
pub(super) struct Bounded<'a> {
    #[serde(flatten)]
    row: &'a LabelAgreement,
    /// `None`: no case is unusable, or the label is not one of two values.
    #[serde(skip_serializing_if = "Option::is_none")]
    nonresponse: Option<Bounds>,
}

/// The rows with the bounds of the yes-or-no labels.
pub(super) fn bounded<'a>(
    rows: &'a [LabelAgreement],
    audit: &Audit,
    rubric: &Rubric,
    unusable: &BTreeSet<CaseIdentity>,
) -> Result<Vec<Bounded<'a>>> {
    let one = |row: &'a LabelAgreement| {
        let label = rubric.label(&row.label).filter(|label| label.kind == LabelKind::Binary);
        let nonresponse = match label {
            Some(label) if !unusable.is_empty() => {
                let applies =
                    |category, stratum: &str| applicability(label, category, stratum) != Applicability::NotApplicable;
                let cases = audit.cases.iter().filter(|case| unusable.contains(&case.case));
                let count = cases.filter(|case| applies(case.category, case.stratum.as_str())).count();
                Some(bounds_of(row, count as u64).map_err(|error| Error::data(error.to_string()))?)
            }
            _ => None,
        };
        Ok(Bounded { row, nonresponse })
    };
    rows.iter().map(one).collect()
}

/// The bounds under the table of agreement.
pub(super) fn show(rows: &[Bounded<'_>], unusable: usize, output: &mut Output) {
    if unusable == 0 {
        return;
    }
    output.line("");
    output.line(format!(
        "{unusable} {} declared unusable before anybody rated {} and counted as missing above. Whatever the answers would have \
         been, agreement lies between:",
        if unusable == 1 { "case was" } else { "cases were" },
        if unusable == 1 { "it" } else { "them" },
    ));
    let rows: Vec<Vec<String>> = rows
        .iter()
        .filter_map(|row| {
            let label: &LabelId = &row.row.label;
            let found = row.nonresponse.as_ref()?;
            Some(vec![
                label.to_string(),
                found.unusable.to_string(),
                output::interval(found.po, 3),
                found.kappa.map_or("–".to_owned(), |kappa| output::interval(Some(kappa), 3)),
            ])
        })
        .collect();
    output.table(&["label", "unusable", "po between", "kappa between"], &rows, &[1, 2, 3]);
}
