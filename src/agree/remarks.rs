//! What a reader of a summary should know, in sentences: each with its size, where it has one with an interval, and
//! never with a bare p-value.

use serde::Serialize;

use super::ratings::CategoryOrder;
use super::summary::{Settings, Summary, Two};
use super::{Undefined, Z95, percent};

/// Something that a person can act on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// A short stable code.
    pub code: &'static str,
    /// The sentence.
    pub text: String,
    /// Its size: a share or a difference of shares.
    pub effect: Option<f64>,
    /// The 95 % interval of the size.
    pub ci95: Option<[f64; 2]>,
}

impl Finding {
    fn plain(code: &'static str, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), effect: None, ci95: None }
    }
}

/// High agreement with low kappa is called a paradox from here on. Feinstein & Cicchetti 1990, J. Clin. Epidemiol.
/// 43:543-549, discuss tables of .85 with .32.
const HIGH_AGREEMENT: f64 = 0.8;
const LOW_KAPPA: f64 = 0.6;

/// The findings of a summary.
#[must_use]
pub fn of(summary: &Summary, settings: &Settings) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(two) = &summary.two {
        undefined(two, &mut found);
        paradox(two, &mut found);
        bias(summary, two, &mut found);
        confusion(two, &mut found);
        family(two, &mut found);
    }
    input(summary, settings, &mut found);
    found
}

fn undefined(two: &Two, found: &mut Vec<Finding>) {
    let Some(reason) = two.all.reason else { return };
    let text = match (reason, two.all.po_ci95) {
        (Undefined::Degenerate, Some([low, _])) if two.all.agree == two.all.n => format!(
            "The raters agree on all {} items, so kappa is 1 and has no interval; agreement itself may be as low as \
             {low:.3}. If both follow the same rule, this says nothing about independent judgement.",
            two.all.n
        ),
        (Undefined::OneCategory, Some([low, _])) => format!(
            "Both raters gave one and the same category to all {} items: kappa is 0/0, not 1. Agreement is 1, at least \
             {low:.3}; items of another category are needed to say more.",
            two.all.n
        ),
        _ => format!("Kappa has no interval: {reason}."),
    };
    let effect = two.all.po.filter(|_| two.all.n > 0);
    found.push(Finding { code: reason.code(), text, effect, ci95: effect.and(two.all.po_ci95) });
}

fn paradox(two: &Two, found: &mut Vec<Finding>) {
    let (Some(kappa), None) = (two.all.kappa, &two.all.weights) else { return };
    let po = two.all.po.unwrap_or_default();
    let n = two.all.n;
    let most = two.all.measures.specific_agreement.iter().max_by_key(|row| row.first + row.second);
    if let Some(most) = most
        && po >= HIGH_AGREEMENT
        && kappa < LOW_KAPPA
        && n > 0
    {
        let share = (most.first + most.second) as f64 / (2.0 * n as f64);
        let rest: u64 = two.all.measures.specific_agreement.iter().map(|row| row.both).sum::<u64>() - most.both;
        found.push(Finding {
            code: "kappa_paradox",
            text: format!(
                "Agreement is {po:.3} but kappa {kappa:.3}: {:.1} % of all ratings are {:?}, so chance alone gives {:.3}. \
                 On the other categories the raters agree on {rest} of {} items that either put there.",
                100.0 * share,
                most.category,
                two.all.pe.unwrap_or_default(),
                n - most.both,
            ),
            effect: Some(po - kappa),
            ci95: None,
        });
    }
}

/// The interval of a paired difference (b − c)/n. Agresti & Min 2005, Stat. Med. 24:729-740: half a unit is added to each
/// cell.
fn paired_difference(first_only: u64, second_only: u64, n: u64) -> [f64; 2] {
    let (b, c, n) = (first_only as f64 + 0.5, second_only as f64 + 0.5, n as f64 + 2.0);
    let centre = (b - c) / n;
    let half = Z95 * ((b + c) - (b - c).powi(2) / n).max(0.0).sqrt() / n;
    [(centre - half).max(-1.0), (centre + half).min(1.0)]
}

fn bias(summary: &Summary, two: &Two, found: &mut Vec<Finding>) {
    let [first, second] = summary.raters.as_slice() else { return };
    let n = two.all.n;
    let rows = &two.all.measures.specific_agreement;
    let size = rows.len();
    // With two categories the second says nothing that the first does not.
    let positive = two.all.measures.positive_category.as_deref();
    for row in rows.iter().filter(|row| size != 2 || Some(row.category.as_str()) == positive) {
        let (only_first, only_second) = (row.first - row.both, row.second - row.both);
        let limits = paired_difference(only_first, only_second, n);
        if n > 0 && (limits[0] > 0.0 || limits[1] < 0.0) {
            let effect = (row.first as f64 - row.second as f64) / n as f64;
            found.push(Finding {
                code: "rater_bias",
                text: format!(
                    "{first} says {:?} on {} items, {second} on {}: {:+.1} points [{:+.1}, {:+.1}]. They draw this line \
                     differently; talk about the {} items that only one of them put there.",
                    row.category,
                    row.first,
                    row.second,
                    100.0 * effect,
                    100.0 * limits[0],
                    100.0 * limits[1],
                    only_first + only_second,
                ),
                effect: Some(effect),
                ci95: Some(limits),
            });
        }
    }
}

/// The pair of categories behind most disagreements.
fn confusion(two: &Two, found: &mut Vec<Finding>) {
    let disagreements = two.all.n - two.all.agree;
    let size = two.all.categories.len();
    if size < 3 || disagreements < 3 {
        return;
    }
    let cell = |i: usize, j: usize| two.all.table.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0);
    let pairs = (0..size).flat_map(|i| (i + 1..size).map(move |j| (i, j)));
    let most = pairs.max_by_key(|(i, j)| (cell(*i, *j) + cell(*j, *i), usize::MAX - i * size - j));
    let Some((i, j)) = most else { return };
    let (there, back) = (cell(i, j), cell(j, i));
    let Some((low, high)) = percent::wilson(there + back, disagreements, Z95) else { return };
    let (Some(a), Some(b)) = (two.all.categories.get(i), two.all.categories.get(j)) else { return };
    let share = (there + back) as f64 / disagreements as f64;
    // More than its part if all pairs of categories were confused alike.
    if low > 2.0 / (size * (size - 1)) as f64 {
        found.push(Finding {
            code: "confused_pair",
            text: format!(
                "{} of {disagreements} disagreements ({:.0} % [{:.0}, {:.0}]) are between {a:?} and {b:?}: {there} in one \
                 direction, {back} in the other. A sharper rule between these two would help most.",
                there + back,
                100.0 * share,
                100.0 * low,
                100.0 * high,
            ),
            effect: Some(share),
            ci95: Some([low, high]),
        });
    }
}

fn family(two: &Two, found: &mut Vec<Finding>) {
    if let Some(family) = &two.ci95_family {
        found.push(Finding::plain(
            "shared_families",
            format!(
                "{} of {} items share their family with another item ({} families). They are not independent: read the \
                 interval by family beside the plain one.",
                family.cases_sharing, two.all.n, family.families
            ),
        ));
    }
}

fn input(summary: &Summary, settings: &Settings, found: &mut Vec<Finding>) {
    let categories: &[String] = match (&summary.two, &summary.crowd) {
        (Some(two), _) => &two.all.categories,
        (None, Some(crowd)) => &crowd.categories,
        (None, None) => &[],
    };
    let dropped: u64 = summary.dropped.values().sum();
    if dropped > 0 && summary.items > 0 {
        let share = dropped as f64 / summary.items as f64;
        let limits = percent::wilson(dropped, summary.items, Z95).map(|(low, high)| [low, high]);
        let reasons: Vec<String> = summary
            .dropped
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(reason, count)| format!("{count} {}", reason.replace('_', " ")))
            .collect();
        found.push(Finding {
            code: "items_dropped",
            text: format!(
                "{dropped} of {} items ({:.1} %) give no pair of ratings: {}.",
                summary.items,
                100.0 * share,
                reasons.join(", ")
            ),
            effect: Some(share),
            ci95: limits,
        });
    }
    if settings.weights.is_some() && summary.category_order == CategoryOrder::FirstSeen {
        found.push(Finding::plain(
            "order_assumed",
            format!(
                "The weights take the categories in the order in which they first appear ({}). If that is not their \
                 order, state it with --order.",
                categories.join(", ")
            ),
        ));
    }
    for (at, category) in categories.iter().enumerate() {
        let twin = categories.iter().skip(at + 1).find(|other| other.to_lowercase() == category.to_lowercase());
        if let Some(twin) = twin {
            found.push(Finding::plain(
                "spelling",
                format!("{category:?} and {twin:?} differ in letter case only and are counted as two categories."),
            ));
        }
    }
    if let Some(none) = categories.iter().find(|name| name.eq_ignore_ascii_case("none")) {
        found.push(Finding::plain(
            "none_is_a_category",
            format!("{none:?} is counted as a category. If it stands for a missing rating, say --missing {none}."),
        ));
    }
    if summary.reading.items_repeated > 0 {
        found.push(Finding::plain(
            "items_repeated",
            format!(
                "{} rows repeat the item name of an earlier row; each row counts as an item of its own.",
                summary.reading.items_repeated
            ),
        ));
    }
}
