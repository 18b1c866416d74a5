//! Inclusion probabilities when earlier batches were taken out of the frame first.
//!
//! Let a stratum own N cases, let an earlier batch have taken m of them, and let this draw take n of the N − m left.
//!
//! *Given the earlier batch*, every case that is left has the probability n / (N − m).
//!
//! *Before anything was drawn*, a case is in this sample when the earlier batch passed it over and this draw took it.
//! If the earlier batch was itself an equal-probability draw of m cases from this same stratum, it passes a case over
//! with probability (N − m)/N, so
//!
//! ```text
//! P = (N − m)/N · n/(N − m) = n/N
//! ```
//!
//! the same as without the earlier batch (two-phase sampling; Särndal, Swensson and Wretman 1992, chapter 9). The seed
//! may be the same: then the m lowest tickets are taken first and the next n after them, which is one random order cut
//! twice. It holds for several such batches, and whether or not they avoided each other: every case of the stratum is
//! treated alike, so each has the expected sample size divided by N.
//!
//! It does not hold where the earlier batch came from other strata or another frame (cases of this stratum may have had
//! unequal chances to be passed over), nor where n was computed from what the earlier batch's raters found (then n, and
//! with it the probability, depends on which cases that batch holds).

use super::sampler::Design;

/// How far one exclusion reaches into the frame.
#[derive(Debug, Clone)]
pub(super) struct Touched {
    in_frame: u64,
    strata: Vec<u64>,
}

impl Touched {
    pub(super) fn new(strata: usize) -> Self {
        Self { in_frame: 0, strata: vec![0; strata] }
    }

    pub(super) fn count(&mut self, owner: Option<usize>) {
        self.in_frame += 1;
        if let Some(count) = owner.and_then(|owner| self.strata.get_mut(owner)) {
            *count += 1;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.in_frame += other.in_frame;
        self.strata.iter_mut().zip(&other.strata).for_each(|(mine, theirs)| *mine += theirs);
    }

    pub(super) fn in_frame(&self) -> u64 {
        self.in_frame
    }
}

/// The probability before anything was drawn (`None` for a stratum without cases), or why it is not known.
///
/// A batch without a single case in the frame says nothing about it and is passed over.
pub(super) fn unconditional(
    design: &Design<'_>,
    touched: &[Touched],
    stratum: usize,
    population: u64,
    n: u64,
    shortfall: u64,
) -> Result<Option<f64>, String> {
    let relevant = || design.exclusions.iter().zip(touched).filter(|(_, touched)| touched.in_frame > 0);
    if let Some((exclusion, _)) = relevant().find(|(exclusion, _)| !exclusion.same_design) {
        return Err(format!(
            "batch {} was not drawn from the same strata of the same frame, so the chance that it left a case of this \
             stratum is not known",
            exclusion.batch
        ));
    }
    if design.quotas_from_ratings && relevant().next().is_some() {
        return Err("the quota was computed from the ratings of an excluded batch".to_owned());
    }
    // Batches that may have drawn the same case leave a random number of cases; if they leave too few, n is random too.
    let in_stratum = relevant().filter(|(_, touched)| touched.strata.get(stratum).is_some_and(|count| *count > 0));
    if shortfall > 0 && in_stratum.count() > 1 {
        return Err("the sample size depends on how far the excluded batches overlap".to_owned());
    }
    Ok((population > 0).then(|| n as f64 / population as f64))
}
