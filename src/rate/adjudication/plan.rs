//! Which labels of which cases go to the adjudicator.

use std::collections::{BTreeMap, BTreeSet};

use super::{Item, ItemKind};
use crate::digest::ticket;
use crate::model::{CaseIdentity, Category, IdError, LabelId, RaterName, Seed, Verdict};
use crate::rate::check::StoredRating;
use crate::rate::order::{by_ticket, derived_seed};
use crate::rubric::{Applicability, CaseFacts, Label, Rubric, applicability};

/// A case with the answers of both raters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RatedCase {
    /// The case.
    pub case: CaseIdentity,
    /// The digest of what the raters saw.
    pub case_digest: String,
    /// The category.
    pub category: Category,
    /// The stratum.
    pub stratum: String,
    /// The grader's verdict on the baseline.
    pub verdict: Option<Verdict>,
    /// What a probe did to the second condition (see [`crate::model::CaseText::events`]).
    pub events: Option<BTreeSet<String>>,
    /// The first rater's answers.
    pub first: BTreeMap<LabelId, StoredRating>,
    /// The second rater's answers.
    pub second: BTreeMap<LabelId, StoredRating>,
}

impl RatedCase {
    /// What the rubric's rules look at.
    #[must_use]
    pub fn facts(&self) -> CaseFacts<'_> {
        CaseFacts { category: self.category, stratum: &self.stratum, verdict: self.verdict }
    }

    /// Both answers to a label.
    pub(super) fn pair(&self, label: &LabelId) -> Option<(&StoredRating, &StoredRating)> {
        Some((self.first.get(label)?, self.second.get(label)?))
    }

    fn disagrees(&self, label: &LabelId) -> bool {
        self.pair(label).is_some_and(|(first, second)| first.value != second.value)
    }
}

/// What goes to the adjudicator.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The items, grouped by case, in the adjudicator's order.
    pub items: Vec<Item>,
    /// Labels of the same cases that nobody is asked about: their final values follow by rule from the others.
    pub by_rule: Vec<Item>,
    /// Cases that are held back because a rater has not answered every label of them.
    pub waiting: Vec<CaseIdentity>,
    /// Cases on which the raters agree in full: those that a spot check could be drawn from.
    pub agreed: usize,
    /// Of these, drawn.
    pub spot_checked: usize,
}

/// Plans an adjudication.
///
/// A case goes to the adjudicator only after both raters have answered every label of it. Of a case with disagreements
/// the labels concerned go there (those that the rubric does not ask about go to `by_rule`); of the cases without any, the `spot_checks` with the lowest (ticket under `seed`,
/// identity) go there with all labels that apply. A larger number of spot checks thus extends a smaller one. Sides are
/// swapped per case: the first rater is on the left where the first hex digit of the case's ticket under the seed
/// derived for `sides` is even. The order of the cases is that of tickets under the seed derived for `order` and the
/// adjudicator's name.
///
/// # Errors
/// As [`derived_seed`].
pub fn plan(
    seed: &Seed,
    adjudicator: &RaterName,
    spot_checks: usize,
    rubric: &Rubric,
    cases: &[RatedCase],
) -> Result<Plan, IdError> {
    let done = |case: &&RatedCase| rubric.labels.iter().all(|label| case.pair(&label.id).is_some());
    let (complete, waiting): (Vec<&RatedCase>, Vec<&RatedCase>) = cases.iter().partition(done);
    let differs = |case: &&RatedCase| rubric.labels.iter().any(|label| case.disagrees(&label.id));
    let (disputed, mut agreed): (Vec<&RatedCase>, Vec<&RatedCase>) = complete.into_iter().partition(differs);
    by_ticket(seed, &mut agreed, |case| &case.case);
    let drawn = agreed.iter().take(spot_checks).copied();
    let mut chosen: Vec<(&RatedCase, ItemKind)> = disputed
        .iter()
        .map(|case| (*case, ItemKind::Disagreement))
        .chain(drawn.map(|case| (case, ItemKind::SpotCheck)))
        .collect();
    let spot_checked = chosen.len() - disputed.len();
    let order = derived_seed(seed, "order", adjudicator.as_str())?;
    by_ticket(&order, &mut chosen, |(case, _)| &case.case);
    let sides = derived_seed(seed, "sides", "")?;
    let items = chosen.iter().flat_map(|&(case, kind)| {
        let concerned = rubric.labels.iter().filter(move |label| match kind {
            ItemKind::Disagreement => case.disagrees(&label.id),
            ItemKind::SpotCheck => is_open(label, case),
        });
        let first_left = first_is_left(&sides, &case.case);
        concerned.filter_map(move |label| item(case, label, kind, first_left))
    });
    let asked = |item: &Item| rubric.label(&item.label).is_some_and(|label| label.asked);
    let (mut items, mut by_rule): (Vec<Item>, Vec<Item>) = items.partition(asked);
    // Should answers differ in nothing but what follows by rule (made elsewhere, say), it is the adjudicator's after all.
    let ruled: BTreeSet<&CaseIdentity> = items.iter().map(|item| &item.case).collect();
    let alone: BTreeSet<CaseIdentity> =
        by_rule.iter().filter(|item| !ruled.contains(&item.case)).map(|item| item.case.clone()).collect();
    items.extend(by_rule.extract_if(.., |item| alone.contains(&item.case)));
    Ok(Plan {
        items,
        by_rule,
        waiting: waiting.into_iter().map(|case| case.case.clone()).collect(),
        agreed: agreed.len(),
        spot_checked,
    })
}

fn is_open(label: &Label, case: &RatedCase) -> bool {
    applicability(label, case.category, &case.stratum) != Applicability::NotApplicable
}

fn first_is_left(sides: &Seed, case: &CaseIdentity) -> bool {
    let digit = ticket(sides, case).chars().next().and_then(|c| c.to_digit(16));
    digit.is_some_and(|digit| digit % 2 == 0)
}

fn item(case: &RatedCase, label: &Label, kind: ItemKind, first_left: bool) -> Option<Item> {
    let (first, second) = case.pair(&label.id)?;
    let (left, right) = if first_left { (first, second) } else { (second, first) };
    Some(Item {
        case: case.case.clone(),
        case_digest: case.case_digest.clone(),
        label: label.id.clone(),
        kind,
        left: left.clone(),
        right: right.clone(),
        left_is_first: first_left,
    })
}
