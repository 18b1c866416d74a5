//! Findings from one table of two raters.

use super::super::kappa::{Kappa, cohen};
use super::super::{Table, Undefined, chance, indices};
use super::{Finding, Kind, percent_text, share_limits, z_among};
use crate::agree::Z95;

/// Observed agreement from which a low kappa is called a paradox.
const HIGH_AGREEMENT: f64 = 0.8;
/// How far kappa must lie below observed agreement.
const GAP: f64 = 0.3;

/// The findings of a table whose raters have no names.
#[must_use]
pub fn table(table: &Table) -> Vec<Finding> {
    table_named(table, None, ("the first rater", "the second rater"))
}

/// The findings of a table: undefined or degenerate kappa, the paradox, the most confused pair, rater bias.
#[must_use]
pub fn table_named(table: &Table, label: Option<&str>, raters: (&str, &str)) -> Vec<Finding> {
    let kappa = cohen(table);
    let mut findings = Vec::new();
    findings.extend(undefined(table, &kappa, raters));
    findings.extend(paradox(table, &kappa));
    findings.extend(confused(table, raters));
    findings.extend(bias(table, raters));
    for finding in &mut findings {
        finding.label = label.map(str::to_owned);
    }
    findings
}

fn undefined(table: &Table, kappa: &Kappa, raters: (&str, &str)) -> Option<Finding> {
    let limits = share_limits(kappa.agree, kappa.n, Z95)?;
    let [low, high] = limits.map(percent_text);
    let (n, po) = (kappa.n, kappa.po?);
    let sole = |totals: Vec<u64>| {
        let at = totals.iter().position(|count| *count == n)?;
        table.categories().get(at).cloned()
    };
    let (first, second) = (sole(table.row_totals()), sole(table.column_totals()));
    let (kind, text) = match (kappa.reason?, first, second) {
        (Undefined::OneCategory, Some(category), _) => (
            Kind::OneCategory,
            format!(
                "Both raters gave {category:?} to all {n} cases. Kappa is 0/0 and undefined; what the sample shows is an \
                 agreement of {} ({low} to {high}). To measure agreement on the label, audit cases in which it varies.",
                percent_text(po)
            ),
        ),
        (Undefined::ConstantRater, first, second) => {
            let (rater, category) = match (first, second) {
                (Some(category), _) => (raters.0, category),
                (None, Some(category)) => (raters.1, category),
                (None, None) => return None,
            };
            (
                Kind::ConstantRater,
                format!(
                    "{rater} gave {category:?} to all {n} cases. Kappa is then 0 whatever the other rater did, and has no \
                     standard error; observed agreement is {} ({low} to {high}). Ask whether {rater} read the label's \
                     rule as never (or always) met.",
                    percent_text(po)
                ),
            )
        }
        (Undefined::Degenerate, ..) if kappa.agree == n => (
            Kind::PerfectAgreement,
            format!(
                "The raters agree on all {n} cases. Kappa is 1 with a standard error of 0; that interval, and the \
                 bootstrap's, have no width and are withheld. The sample is compatible with an agreement of {low} to \
                 {high}."
            ),
        ),
        _ => return None,
    };
    Some(Finding { kind, label: None, text, measure: "observed agreement", effect: po, interval: Some(limits) })
}

fn paradox(table: &Table, kappa: &Kappa) -> Option<Finding> {
    let (po, pe, value) = (kappa.po?, kappa.pe?, kappa.kappa?);
    if po < HIGH_AGREEMENT || value > po - GAP {
        return None;
    }
    let each = indices::specific_agreement(table);
    let common = each.iter().max_by_key(|row| row.first + row.second)?;
    let rare = each.iter().filter(|row| row.first + row.second > 0).min_by_key(|row| row.first + row.second)?;
    let share = (common.first + common.second) as f64 / (2 * kappa.n) as f64;
    let limits = specific_limits(rare.both, rare.first + rare.second);
    let ac1 = chance::gwet(table).coef.map_or_else(String::new, |ac1| format!(" (Gwet's AC1 is {ac1:.2})"));
    let text = format!(
        "The raters agree on {} of {} cases and yet kappa is {value:.2}: {:?} takes {} of all ratings, so {} agreement is \
         expected by chance alone. The low kappa comes from the margins{ac1}; what is weak is agreement on the rare value \
         {:?}, {} of its {} uses. Report agreement per category beside kappa, and draw more cases in which {:?} is likely.",
        percent_text(po),
        kappa.n,
        common.category,
        percent_text(share),
        percent_text(pe),
        rare.category,
        percent_text(rare.agreement?),
        rare.first + rare.second,
        rare.category,
    );
    Some(Finding {
        kind: Kind::KappaParadox,
        label: None,
        text,
        measure: "agreement on the rarest category",
        effect: rare.agreement?,
        interval: limits,
    })
}

/// Limits of specific agreement: of the cases in which either rater used the category, the share x in which both did is a
/// proportion, and specific agreement is 2x/(1 + x).
fn specific_limits(both: u64, uses: u64) -> Option<[f64; 2]> {
    let limits = share_limits(both, uses - both, Z95)?;
    Some(limits.map(|x| 2.0 * x / (1.0 + x)))
}

fn confused(table: &Table, raters: (&str, &str)) -> Option<Finding> {
    let k = table.size();
    let all = table.n() - table.agreeing();
    let pairs = k * k.saturating_sub(1) / 2;
    if pairs < 2 || all == 0 {
        return None;
    }
    let each = (0..k).flat_map(|i| (i + 1..k).map(move |j| (i, j)));
    let count = |(i, j): (usize, usize)| table.get(i, j) + table.get(j, i);
    // The first of equals, so that the order of the categories decides.
    let worst = each.reduce(|best, next| if count(next) > count(best) { next } else { best })?;
    let limits = share_limits(count(worst), all, z_among(pairs))?;
    if limits[0] <= 1.0 / pairs as f64 {
        return None;
    }
    let (a, b) = (table.categories().get(worst.0)?, table.categories().get(worst.1)?);
    let effect = count(worst) as f64 / all as f64;
    let text = format!(
        "Of {all} disagreements {} ({}) are between {a:?} and {b:?}: {} said {a:?} where {} said {b:?} in {} cases, the \
         other way round in {}. Sharpen the rule that separates these two, with one example on each side of it.",
        count(worst),
        percent_text(effect),
        raters.0,
        raters.1,
        table.get(worst.0, worst.1),
        table.get(worst.1, worst.0),
    );
    Some(Finding {
        kind: Kind::ConfusedPair,
        label: None,
        text,
        measure: "share of all disagreements",
        effect,
        interval: Some(limits),
    })
}

fn bias(table: &Table, raters: (&str, &str)) -> Option<Finding> {
    let (rows, columns) = (table.row_totals(), table.column_totals());
    let k = table.size();
    // With two categories there is one question, and the positive one names it.
    let candidates: Vec<usize> = match indices::positive_category(table) {
        Some(positive) => vec![positive],
        None => (0..k).collect(),
    };
    let z = z_among(candidates.len());
    let judged = candidates.into_iter().filter_map(|at| {
        let both = table.get(at, at);
        let (first, second) = (rows.get(at)? - both, columns.get(at)? - both);
        let limits = share_limits(first.max(second), first + second, z)?;
        (limits[0] > 0.5).then_some((at, first, second, limits))
    });
    // The surest one.
    let (at, first, second, limits) = judged.reduce(|best, next| if next.3[0] > best.3[0] { next } else { best })?;
    let category = table.categories().get(at)?;
    let (more, less, often) = if first > second { (raters.0, raters.1, first) } else { (raters.1, raters.0, second) };
    let effect = often as f64 / (first + second) as f64;
    let text = format!(
        "{more} says {category:?} more readily than {less}: in {} cases one of the two said it and the other did not, and \
         in {often} of them ({}) it was {more}. Over all {} cases that is {first} against {second}. Compare the rationales \
         of these cases: the two draw the line in different places.",
        first + second,
        percent_text(effect),
        table.n(),
    );
    Some(Finding {
        kind: Kind::RaterBias,
        label: None,
        text,
        measure: "share of one-sided uses that are this rater's (0.5 without bias)",
        effect,
        interval: Some(limits),
    })
}
