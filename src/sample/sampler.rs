//! The sampler: assigns, counts and keeps the lowest tickets in one pass, in memory that grows with the quotas only.
//! Shards of a frame can be sampled apart and merged; the result is that of the whole.

use std::collections::{BTreeMap, BTreeSet};

use super::extension::{Kept, KeptCase};
use super::frame::FrameTally;
use super::outcome::{Draw, DrawnCase, ExcludedBatch, StratumDraw, Warning};
use super::probability::{Touched, unconditional};
use super::reservoir::{Reservoir, Ticketed, Tickets};
use super::{DrawError, EmptyStratum};
use crate::model::{BatchName, CaseIdentity, Seed, StratumId};
use crate::strata::{Assigner, BoundStratum, FrameCase, Matcher, Method, Stratum};

/// The cases of an earlier batch, which are not to be drawn again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion {
    /// The batch.
    pub batch: BatchName,
    /// Its cases.
    pub cases: BTreeSet<CaseIdentity>,
    /// Was it drawn from the same strata of the same frame? True where its assignment digest and its frame digest are
    /// those of this draw; then the unconditional probabilities are known.
    pub same_design: bool,
}

/// Everything that decides a draw except the frame.
#[derive(Debug, Clone)]
pub struct Design<'a> {
    /// Who owns a case.
    pub assigner: Assigner<'a>,
    /// The seed.
    pub seed: &'a Seed,
    /// Earlier batches.
    pub exclusions: &'a [Exclusion],
    /// How the sample is shared out.
    pub method: Method,
    /// Cases to share, where the quotas are computed.
    pub total: Option<u64>,
    /// Cases wanted per stratum, in the plan's order.
    pub quotas: Vec<u64>,
    /// Were the quotas computed from ratings of an excluded batch? Then they depend on what was drawn before.
    pub quotas_from_ratings: bool,
    /// Cases of the plan's total that no stratum has room for.
    pub unplaced: u64,
    /// Cases of earlier rounds, which stay.
    pub kept: &'a Kept,
    /// Per stratum the cases to draw beyond its number, in place of unusable ones.
    pub replacements: &'a BTreeMap<StratumId, u64>,
    /// Is a stratum without cases a warning rather than an error?
    pub allow_empty: bool,
}

impl Design<'_> {
    fn quota(&self, index: usize) -> u64 {
        self.quotas.get(index).copied().unwrap_or(0)
    }

    fn replacements(&self, stratum: &Stratum) -> u64 {
        self.replacements.get(&stratum.id).copied().unwrap_or(0)
    }

    /// Cases that a stratum should hold, replacements included.
    fn wanted(&self, index: usize, stratum: &Stratum) -> u64 {
        self.quota(index).saturating_add(self.replacements(stratum))
    }

    /// Was the case drawn before, for this stratum?
    fn keeps(&self, case: &CaseIdentity, owner: usize) -> bool {
        let stratum = self.assigner.plan().plan().strata.get(owner);
        self.kept.get(case).is_some_and(|kept| stratum.is_some_and(|stratum| stratum.id == kept.stratum))
    }
}

/// Two shards of different designs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("shards of two designs cannot be merged")]
pub struct OtherDesign;

/// A draw in progress.
pub struct Sampler<'a> {
    design: &'a Design<'a>,
    matcher: Matcher<'a>,
    tickets: Tickets,
    tally: FrameTally,
    reservoirs: Vec<Reservoir>,
    /// Kept cases seen where they belong.
    kept: BTreeSet<CaseIdentity>,
    /// Per stratum: owned cases that some exclusion holds.
    excluded: Vec<u64>,
    /// Per exclusion: its cases in the frame, and per stratum.
    touched: Vec<Touched>,
}

impl<'a> Sampler<'a> {
    /// An empty sampler (or an empty shard) of a design.
    #[must_use]
    pub fn new(design: &'a Design<'a>) -> Self {
        let plan = design.assigner.plan().plan();
        let strata = plan.strata.len();
        let room = |(index, stratum): (usize, &Stratum)| {
            let kept = design.kept.values().filter(|kept| kept.stratum == stratum.id).count() as u64;
            design.wanted(index, stratum).saturating_sub(kept)
        };
        Self {
            design,
            matcher: Matcher::new(&design.assigner),
            tickets: Tickets::new(design.seed),
            tally: FrameTally::default(),
            reservoirs: plan.strata.iter().enumerate().map(|each| Reservoir::new(room(each))).collect(),
            kept: BTreeSet::new(),
            excluded: vec![0; strata],
            touched: design.exclusions.iter().map(|_| Touched::new(strata)).collect(),
        }
    }

    /// Offers the next case of the frame; the order never matters.
    pub fn push(&mut self, case: &FrameCase) {
        let owner = self.tally.push(case, &mut self.matcher);
        let mut excluded = false;
        for (exclusion, touched) in self.design.exclusions.iter().zip(&mut self.touched) {
            if exclusion.cases.contains(&case.identity) {
                excluded = true;
                touched.count(owner);
            }
        }
        let Some(owner) = owner else { return };
        if excluded {
            if let Some(count) = self.excluded.get_mut(owner) {
                *count += 1;
            }
        } else if !self.design.kept.is_empty() && self.design.keeps(&case.identity, owner) {
            self.kept.insert(case.identity.clone());
        } else if let Some(reservoir) = self.reservoirs.get_mut(owner) {
            reservoir.offer(self.tickets.of(&case.identity), &case.identity);
        }
    }

    /// Takes over another shard of the same design.
    ///
    /// # Errors
    /// The other shard belongs to another design.
    pub fn merge(&mut self, other: Self) -> Result<(), OtherDesign> {
        if !std::ptr::eq(self.design, other.design) {
            return Err(OtherDesign);
        }
        self.tally.merge(other.tally);
        self.reservoirs.iter_mut().zip(other.reservoirs).for_each(|(mine, theirs)| mine.merge(theirs));
        self.kept.extend(other.kept);
        self.excluded.iter_mut().zip(other.excluded).for_each(|(mine, theirs)| *mine += theirs);
        self.touched.iter_mut().zip(other.touched).for_each(|(mine, theirs)| mine.merge(&theirs));
        Ok(())
    }

    /// Ends the draw. The frame digest comes from outside, since it needs the whole frame in order
    /// ([`super::frame_digest`], [`super::FrameDigest`]).
    ///
    /// # Errors
    /// Strata without a case to draw that may not be empty; a case that was pushed twice and drawn twice; a kept
    /// case that is not where it was.
    pub fn finish(mut self, frame_digest: String) -> Result<Draw, DrawError> {
        if let Some((case, kept)) = self.design.kept.iter().find(|(case, _)| !self.kept.contains(*case)) {
            return Err(DrawError::Lost { case: case.clone(), stratum: kept.stratum.clone() });
        }
        let bound = self.design.assigner.plan();
        let plan = bound.plan();
        let (mut strata, mut cases, mut warnings, mut empty) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let report = self.tally.report(&self.design.assigner);
        if report.undrawable > 0 {
            warnings.push(Warning::Undrawable { cases: report.undrawable });
        }
        if self.design.unplaced > 0 {
            warnings
                .push(Warning::TotalShort { total: self.design.total.unwrap_or(0), unplaced: self.design.unplaced });
        }
        let reservoirs = std::mem::take(&mut self.reservoirs);
        let new = reservoirs.into_iter().map(Reservoir::into_sorted);
        for (index, ((stratum, asked), new)) in bound.strata().zip(new).enumerate() {
            check_unique(&new)?;
            let kept = self.kept_of(stratum);
            let drawn = self.stratum(index, stratum, asked, (kept.len() + new.len()) as u64, &report.overlaps);
            match &drawn.empty_reason {
                Some(reason) => {
                    if !stratum.optional && !self.design.allow_empty {
                        empty.push(EmptyStratum { stratum: stratum.id.clone(), reason: reason.clone() });
                    }
                    warnings.push(Warning::Empty { stratum: stratum.id.clone(), reason: reason.clone() });
                }
                None if drawn.shortfall > 0 => warnings.push(Warning::Short {
                    stratum: stratum.id.clone(),
                    quota: drawn.quota + drawn.replacements,
                    drawn: drawn.n,
                    population: drawn.population,
                    excluded: drawn.excluded,
                }),
                None if drawn.quota == 0 => {
                    warnings.push(Warning::NotSampled { stratum: stratum.id.clone(), population: drawn.population });
                }
                None => {}
            }
            let kept = kept.into_iter().map(|(case, kept)| (case.clone(), kept.ticket.clone()));
            let all = kept.chain(new.iter().map(|ticketed| (ticketed.case.clone(), ticketed.hex())));
            cases.extend(all.zip(1u64..).map(|((case, ticket), position)| DrawnCase {
                case,
                stratum: stratum.id.clone(),
                ticket,
                position,
                inclusion_probability: drawn.inclusion_probability.unwrap_or(0.0),
                unconditional_probability: drawn.unconditional_probability,
            }));
            strata.push(drawn);
        }
        if !empty.is_empty() {
            return Err(DrawError::Empty(empty));
        }
        let excluded = self.design.exclusions.iter().zip(&self.touched).map(|(exclusion, touched)| ExcludedBatch {
            batch: exclusion.batch.clone(),
            cases: exclusion.cases.len() as u64,
            in_frame: touched.in_frame(),
            same_design: exclusion.same_design,
        });
        Ok(Draw {
            plan: plan.id.clone(),
            plan_digest: plan.digest(),
            assignment_digest: self.design.assigner.digest(),
            frame_digest,
            seed: self.design.seed.clone(),
            allocation: self.design.method,
            bindings: bound.bindings().clone(),
            excluded: excluded.collect(),
            strata,
            cases,
            frame: report,
            warnings,
        })
    }

    /// The kept cases of a stratum by ticket.
    fn kept_of(&self, stratum: &Stratum) -> Vec<(&'a CaseIdentity, &'a KeptCase)> {
        let mut kept: Vec<_> = self.design.kept.iter().filter(|(_, kept)| kept.stratum == stratum.id).collect();
        kept.sort_by(|a, b| (&a.1.ticket, a.0).cmp(&(&b.1.ticket, b.0)));
        kept
    }

    fn stratum(
        &self,
        index: usize,
        stratum: &Stratum,
        asked: &BoundStratum,
        n: u64,
        overlaps: &[super::Overlap],
    ) -> StratumDraw {
        let population = self.tally.owned(index);
        let excluded = self.excluded.get(index).copied().unwrap_or(0);
        let quota = self.design.quota(index);
        let available = population.saturating_sub(excluded);
        let shortfall = self.design.wanted(index, stratum).saturating_sub(n);
        let (unconditional_probability, unconditional_reason) =
            match unconditional(self.design, &self.touched, index, population, n, shortfall) {
                Ok(probability) => (probability, None),
                Err(reason) => (None, Some(reason)),
            };
        let empty_reason = (available == 0).then(|| match asked {
            BoundStratum::Unbound(roles) => crate::strata::unbound_reason(roles),
            BoundStratum::Asked(_) if population > 0 => {
                format!("all its {population} cases are in earlier batches")
            }
            BoundStratum::Asked(_) => {
                let taken: u64 = overlaps.iter().filter(|o| o.also == stratum.id).map(|o| o.cases).sum();
                match taken {
                    0 => "no case of the frame meets its conditions".to_owned(),
                    1 => "the one case that meets its conditions belongs to a stratum asked before".to_owned(),
                    _ => format!("the {taken} cases that meet its conditions belong to strata asked before"),
                }
            }
        });
        StratumDraw {
            id: stratum.id.clone(),
            title: stratum.title.clone(),
            population,
            n,
            quota,
            replacements: self.design.replacements(stratum),
            shortfall,
            excluded,
            overlap: self.tally.overlapping(index),
            inclusion_probability: (available > 0).then(|| n as f64 / available as f64),
            unconditional_probability,
            unconditional_reason,
            empty_reason,
        }
    }
}

fn check_unique(sorted: &[Ticketed]) -> Result<(), DrawError> {
    match sorted.iter().zip(sorted.iter().skip(1)).find(|(a, b)| a.case == b.case) {
        Some((twice, _)) => Err(DrawError::Duplicate(super::DuplicateIdentity { identity: twice.case.clone() })),
        None => Ok(()),
    }
}
