//! What a reader of a summary should know, in sentences: what [`diagnose`] finds in the table of two raters, and what only
//! the file knows (items left out, an assumed order, spellings, families). Never a bare p-value.

use serde::Serialize;

use super::diagnose::{self, Kind};
use super::ratings::CategoryOrder;
use super::summary::{Settings, Summary, Two};
use super::{Table, Z95, percent};

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum About {
    /// The raters.
    Raters(Kind),
    /// The file or the way it was read.
    Input(&'static str),
}

/// Something that a person can act on; printed with the same fields as a [`diagnose::Finding`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub kind: About,
    /// The sentences.
    pub text: String,
    /// What `effect` is; `None` without one.
    pub measure: Option<&'static str>,
    /// Its size.
    pub effect: Option<f64>,
    /// Its interval.
    pub interval: Option<[f64; 2]>,
}

impl Finding {
    fn plain(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind: About::Input(kind), text: text.into(), measure: None, effect: None, interval: None }
    }
}

impl From<diagnose::Finding> for Finding {
    fn from(found: diagnose::Finding) -> Self {
        Self {
            kind: About::Raters(found.kind),
            text: found.text,
            measure: Some(found.measure),
            effect: Some(found.effect),
            interval: found.interval,
        }
    }
}

/// The findings of a summary.
#[must_use]
pub fn of(summary: &Summary, settings: &Settings) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(two) = &summary.two {
        raters(summary, two, &mut found);
        family(two, &mut found);
    }
    input(summary, settings, &mut found);
    found
}

fn raters(summary: &Summary, two: &Two, found: &mut Vec<Finding>) {
    let name = |at: usize| summary.raters.get(at).map_or("", String::as_str);
    if let Ok(table) = Table::from_counts(two.all.categories.clone(), &two.all.table) {
        let label = summary.label.as_deref();
        found.extend(diagnose::table_named(&table, label, (name(0), name(1))).into_iter().map(Finding::from));
    }
    // A reason that no finding above explains (weights without disagreement, no items) still gets its sentence.
    let explained = [Kind::OneCategory, Kind::ConstantRater, Kind::PerfectAgreement];
    let said = found.iter().any(|finding| explained.iter().any(|kind| finding.kind == About::Raters(*kind)));
    if let Some(reason) = two.all.reason.filter(|_| !said) {
        found.push(Finding::plain(reason.code(), format!("Kappa has no interval: {reason}.")));
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
            kind: About::Input("items_dropped"),
            text: format!(
                "{dropped} of {} items ({:.1} %) give no pair of ratings: {}.",
                summary.items,
                100.0 * share,
                reasons.join(", ")
            ),
            measure: Some("share of items"),
            effect: Some(share),
            interval: limits,
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
