//! The frame: its digest, and a report of which part of it the plan reaches.

use std::collections::BTreeMap;

use serde::Serialize;

use super::reach::{self, Finding};
use crate::digest::Canonical;
use crate::model::{CaseIdentity, Category, RunName, StratumId, Verdict};
use crate::strata::{Assigner, FrameCase, Matcher, verdict_word};

/// Two frame cases with one identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("case {identity} is in the frame twice")]
pub struct DuplicateIdentity {
    /// The identity.
    pub identity: CaseIdentity,
}

/// SHA-256 over the canonical bytes of all cases in order of identity, so the order of the input never matters. Holds
/// one reference per case; [`FrameDigest`] needs none where the input is sorted already.
///
/// # Errors
/// Two cases with one identity.
pub fn frame_digest<'a>(cases: impl IntoIterator<Item = &'a FrameCase>) -> Result<String, DuplicateIdentity> {
    let mut sorted: Vec<&FrameCase> = cases.into_iter().collect();
    sorted.sort_unstable_by(|a, b| a.identity.cmp(&b.identity));
    let mut digest = FrameDigest::default();
    for case in sorted {
        digest.push(case).map_err(|_| DuplicateIdentity { identity: case.identity.clone() })?;
    }
    Ok(digest.finish())
}

/// The frame digest of cases that come sorted by identity, in constant memory.
pub struct FrameDigest {
    out: Canonical,
    last: Option<CaseIdentity>,
    cases: u64,
}

/// A case that does not come after the one before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the frame is not sorted by identity, or not unique: {next} comes after {last}")]
pub struct NotSorted {
    /// The case before.
    pub last: CaseIdentity,
    /// The case.
    pub next: CaseIdentity,
}

impl Default for FrameDigest {
    fn default() -> Self {
        Self { out: Canonical::new("frame-1"), last: None, cases: 0 }
    }
}

impl FrameDigest {
    /// Adds the next case.
    ///
    /// # Errors
    /// The identity is not greater (in bytes) than the one before.
    pub fn push(&mut self, case: &FrameCase) -> Result<(), NotSorted> {
        match &mut self.last {
            Some(last) if case.identity <= *last => {
                return Err(NotSorted { last: last.clone(), next: case.identity.clone() });
            }
            last => *last = Some(case.identity.clone()),
        }
        let transition = case.transition.map_or(String::new(), |transition| transition.to_string());
        let flags = [case.gar_hit, case.error_record, case.drawable].map(|flag| if flag { '1' } else { '0' });
        for field in [
            case.identity.as_str(),
            case.run.as_str(),
            &case.model,
            &case.condition,
            case.category.as_str(),
            verdict_word(case.verdict),
            &transition,
            &flags.iter().collect::<String>(),
        ] {
            self.out.push(field);
        }
        self.cases = self.cases.saturating_add(1);
        Ok(())
    }

    /// The digest; it covers the number of cases too.
    #[must_use]
    pub fn finish(self) -> String {
        self.out.number(self.cases).finish()
    }
}

/// Run × category × verdict: how many cases there are and how many of them some stratum owns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FrameCell {
    /// The run.
    pub run: RunName,
    /// Its model.
    pub model: String,
    /// The category.
    pub category: Category,
    /// The verdict; `None`: unscored.
    pub verdict: Option<Verdict>,
    /// Cases that can be drawn.
    pub drawable: u64,
    /// Those that a stratum owns.
    pub owned: u64,
    /// Cases that can never be drawn (duplicate or missing ids).
    pub undrawable: u64,
    /// The owned cases by stratum, in the plan's order.
    pub strata: Vec<CellStratum>,
}

/// The cases of a cell that one stratum owns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CellStratum {
    /// The stratum.
    pub stratum: StratumId,
    /// How many.
    #[serde(rename = "N")]
    pub cases: u64,
}

impl FrameCell {
    /// Cases that could be drawn, but that no stratum reaches.
    #[must_use]
    pub fn unreached(&self) -> u64 {
        self.drawable.saturating_sub(self.owned)
    }
}

/// Cases that one stratum owns and another would have taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overlap {
    /// The stratum that owns them.
    pub owner: StratumId,
    /// The later stratum that they match too.
    pub also: StratumId,
    /// How many.
    pub cases: u64,
}

/// What the plan reaches of the frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FrameReport {
    /// All cases of the frame.
    pub cases: u64,
    /// Cases that can never be drawn (duplicate or missing ids).
    pub undrawable: u64,
    /// Drawable cases that no stratum reaches. `cases` = owned by the strata + `unreached` + `undrawable`.
    pub unreached: u64,
    /// Run × category × verdict, sorted (a pass before a fail, unscored first).
    pub cells: Vec<FrameCell>,
    /// Overlaps between strata, in the plan's order.
    pub overlaps: Vec<Overlap>,
    /// What follows for the audit, in sentences.
    pub findings: Vec<Finding>,
}

impl FrameReport {
    /// The cells of which some or all drawable cases are out of reach: nothing can be said about those.
    pub fn unreached_cells(&self) -> impl Iterator<Item = &FrameCell> {
        self.cells.iter().filter(|cell| cell.unreached() > 0)
    }
}

/// The report on a frame under a plan, without drawing.
#[must_use]
pub fn frame_report<'a>(frame: impl IntoIterator<Item = &'a FrameCase>, assigner: &Assigner<'_>) -> FrameReport {
    let mut tally = FrameTally::default();
    let mut matcher = Matcher::new(assigner);
    for case in frame {
        tally.push(case, &mut matcher);
    }
    tally.report(assigner)
}

/// Counts of one cell.
#[derive(Debug, Clone, Default)]
struct Counts {
    drawable: u64,
    undrawable: u64,
    /// Owned cases per stratum index, in no order.
    owned: Vec<(usize, u64)>,
}

impl Counts {
    fn own(&mut self, stratum: usize, more: u64) {
        match self.owned.iter_mut().find(|(index, _)| *index == stratum) {
            Some((_, count)) => *count += more,
            None => self.owned.push((stratum, more)),
        }
    }
}

/// One run's model and the counts of its cells.
#[derive(Debug, Clone, Default)]
struct RunCounts {
    model: String,
    cells: BTreeMap<(Category, Option<Verdict>), Counts>,
}

/// Running counts of a frame; counts of shards add up.
#[derive(Debug, Clone, Default)]
pub(super) struct FrameTally {
    runs: BTreeMap<RunName, RunCounts>,
    overlaps: BTreeMap<(usize, usize), u64>,
    /// Per stratum index: owned cases, and owned cases that later strata match too.
    strata: BTreeMap<usize, (u64, u64)>,
}

impl FrameTally {
    /// Counts a case; returns the stratum that owns it.
    pub(super) fn push(&mut self, case: &FrameCase, matcher: &mut Matcher<'_>) -> Option<usize> {
        let matching = if case.drawable { matcher.matching(case) } else { &[] };
        let owner = matching.first().copied();
        if let Some((&owner, later)) = matching.split_first() {
            for also in later {
                *self.overlaps.entry((owner, *also)).or_default() += 1;
            }
            let counts = self.strata.entry(owner).or_default();
            counts.0 += 1;
            counts.1 += u64::from(!later.is_empty());
        }
        // The run's name is copied for its first case only.
        let run = match self.runs.get_mut(&case.run) {
            Some(run) => run,
            None => self
                .runs
                .entry(case.run.clone())
                .or_insert_with(|| RunCounts { model: case.model.clone(), ..RunCounts::default() }),
        };
        let counts = run.cells.entry((case.category, case.verdict)).or_default();
        if case.drawable {
            counts.drawable += 1;
        } else {
            counts.undrawable += 1;
        }
        if let Some(owner) = owner {
            counts.own(owner, 1);
        }
        owner
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (name, run) in other.runs {
            let mine = self.runs.entry(name).or_insert_with(|| RunCounts { model: run.model, ..RunCounts::default() });
            for (key, counts) in run.cells {
                let cell = mine.cells.entry(key).or_default();
                cell.drawable += counts.drawable;
                cell.undrawable += counts.undrawable;
                counts.owned.into_iter().for_each(|(stratum, more)| cell.own(stratum, more));
            }
        }
        for (key, count) in other.overlaps {
            *self.overlaps.entry(key).or_default() += count;
        }
        for (key, (owned, overlapping)) in other.strata {
            let mine = self.strata.entry(key).or_default();
            mine.0 += owned;
            mine.1 += overlapping;
        }
    }

    /// Owned cases of a stratum.
    pub(super) fn owned(&self, stratum: usize) -> u64 {
        self.strata.get(&stratum).map_or(0, |counts| counts.0)
    }

    /// Owned cases of a stratum that later strata match too.
    pub(super) fn overlapping(&self, stratum: usize) -> u64 {
        self.strata.get(&stratum).map_or(0, |counts| counts.1)
    }

    pub(super) fn report(&self, assigner: &Assigner<'_>) -> FrameReport {
        let strata = &assigner.plan().plan().strata;
        let id = |index: &usize| strata.get(*index).map(|stratum| stratum.id.clone());
        let mut cells = Vec::new();
        for (name, run) in &self.runs {
            for ((category, verdict), counts) in &run.cells {
                let mut owned = counts.owned.clone();
                owned.sort_unstable();
                cells.push(FrameCell {
                    run: name.clone(),
                    model: run.model.clone(),
                    category: *category,
                    verdict: *verdict,
                    drawable: counts.drawable,
                    owned: owned.iter().map(|(_, cases)| cases).sum(),
                    undrawable: counts.undrawable,
                    strata: owned
                        .iter()
                        .filter_map(|(index, cases)| Some(CellStratum { stratum: id(index)?, cases: *cases }))
                        .collect(),
                });
            }
        }
        let overlaps: Vec<Overlap> = self
            .overlaps
            .iter()
            .filter_map(|((owner, also), cases)| Some(Overlap { owner: id(owner)?, also: id(also)?, cases: *cases }))
            .collect();
        FrameReport {
            cases: cells.iter().map(|cell| cell.drawable + cell.undrawable).sum(),
            undrawable: cells.iter().map(|cell| cell.undrawable).sum(),
            unreached: cells.iter().map(FrameCell::unreached).sum(),
            findings: reach::findings(&cells, &overlaps),
            overlaps,
            cells,
        }
    }
}
