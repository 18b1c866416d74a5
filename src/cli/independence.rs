//! What is known about the raters beside their answers, gathered for `agree` and the report.

use std::collections::BTreeMap;

use super::Output;
use crate::agree::independence::{Evidence, Independence, PassValue};
use crate::error::{Error, Result};
use crate::model::{Audit, CaseIdentity, Seed};
use crate::rate;
use crate::rubric::Rubric;
use crate::store::{BatchInfo, Store};

/// Gathers the evidence of a batch. Lengths and flags need the text of the cases, which an audit made elsewhere lacks;
/// orders are known where they were shuffled here.
pub(super) fn evidence(store: &Store, batch: &BatchInfo, rubric: &Rubric, audit: &Audit) -> Result<Evidence> {
    let mut found = Evidence { models: store.rater_models(batch)?, ..Evidence::default() };
    if let Some(seed) = &batch.seed
        && let Ok(seed) = Seed::parse(seed)
    {
        for (rater, _) in &audit.raters {
            let mut order: Vec<CaseIdentity> = audit.cases.iter().map(|case| case.case.clone()).collect();
            rate::rater_order(&seed, rater, &mut order).map_err(|error| Error::internal(error.to_string()))?;
            found.order.insert(rater.clone(), order);
        }
    }
    // An audit made elsewhere has no texts here.
    let cases = if batch.imported { Vec::new() } else { store.batch_cases(batch)? };
    for case in cases {
        let text = store.case_text(batch, &case)?;
        let shown = rate::rater_case(rubric, &text, &BTreeMap::new());
        if shown.view.turns.is_empty() {
            continue;
        }
        let length = rate::prompt(rubric, &shown).user.chars().count() as u64;
        found.lengths.insert(case.identity.clone(), length);
        if !rate::addressed(&shown.view).is_empty() {
            found.flagged.insert(case.identity.clone());
        }
    }
    found.passes = store
        .pass_answers(batch)?
        .into_iter()
        .map(|answer| PassValue {
            rater: answer.rater,
            case: answer.case,
            pass: answer.pass,
            label: answer.label,
            value: answer.value,
        })
        .collect();
    Ok(found)
}

/// Prints what was looked at and found, under the table of agreement.
pub(super) fn show(found: &Independence, output: &mut Output) {
    let raters: Vec<String> = found
        .raters
        .iter()
        .map(|row| match &row.model {
            Some(model) => format!("{} ({}, {model})", row.rater, row.kind),
            None => format!("{} ({})", row.rater, row.kind),
        })
        .collect();
    output.line("");
    output.line("Independence of the raters:");
    output.paragraph(&format!("• Raters: {}.", raters.join(", ")));
    for row in found.raters.iter().filter(|row| row.no_verdicts > 0) {
        let reasons: Vec<String> = row.reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        output.paragraph(&format!(
            "• {} gave no verdict on {} labels of cases ({}).",
            row.rater,
            row.no_verdicts,
            reasons.join(", ")
        ));
    }
    for finding in &found.findings {
        output.paragraph(&format!("• {}", finding.sentence()));
    }
    if let Some(looked) = found.looked() {
        output.paragraph(&format!("• {looked}"));
    }
    if !found.rules_known {
        output.paragraph(
            "• Whether a rater follows the data by rule was not looked at: `dualrater rate-mechanically` stores what the rules \
             give.",
        );
    }
    if let Some(flagged) = found.flagged.as_ref().filter(|flagged| flagged.cases > 0) {
        output.paragraph(&format!(
            "• {} cases hold text that addresses the rater; look at their answers: {}.",
            flagged.cases,
            listed(&flagged.list)
        ));
    }
    if !found.consistency.is_empty() {
        output.line("");
        output.line("Self-consistency of models over their passes (no agreement between raters):");
        let rows: Vec<Vec<String>> = found
            .consistency
            .iter()
            .map(|row| {
                vec![
                    row.rater.to_string(),
                    row.label.to_string(),
                    row.passes.to_string(),
                    row.cases.to_string(),
                    super::output::percent(row.share.map(|share| 100.0 * share)),
                    super::output::interval(row.share_ci95.map(|limits| limits.map(|limit| 100.0 * limit)), 0),
                    super::output::number(row.kappa, 3),
                    row.incomplete.to_string(),
                ]
            })
            .collect();
        let head = ["rater", "label", "passes", "cases", "same %", "95 %", "kappa 1:2", "incomplete"];
        output.table(&head, &rows, &[2, 3, 4, 5, 6, 7]);
    }
}

fn listed(cases: &[CaseIdentity]) -> String {
    const MOST: usize = 5;
    let shown: Vec<&str> = cases.iter().take(MOST).map(CaseIdentity::as_str).collect();
    let rest = cases.len().saturating_sub(MOST);
    if rest == 0 { shown.join(", ") } else { format!("{} and {rest} more", shown.join(", ")) }
}
