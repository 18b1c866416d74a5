//! The order in which a rater gets the cases: shuffled per rater, the same every time.

use crate::digest::{Canonical, ticket};
use crate::model::{CaseIdentity, IdError, RaterName, Seed};

/// A seed that follows from a batch's seed, a purpose and a name: the digest (64 hex digits, so always a valid seed)
/// over the canonical bytes of tag `derived-seed`, batch seed, purpose and name.
///
/// # Errors
/// Never in practice; the parser of seeds says so by its type.
pub fn derived_seed(batch: &Seed, purpose: &str, name: &str) -> Result<Seed, IdError> {
    Seed::parse(&Canonical::new("derived-seed").text(batch.as_str()).text(purpose).text(name).finish())
}

/// Sorts by (ticket under the seed, identity).
pub fn by_ticket<T>(seed: &Seed, items: &mut [T], identity: impl Fn(&T) -> &CaseIdentity) {
    items.sort_by_cached_key(|item| {
        let case = identity(item);
        (ticket(seed, case), case.clone())
    });
}

/// Puts the cases of a batch into a rater's order: by sampling ticket under the seed derived from the batch's seed, the
/// purpose `order` and the rater's name. Two raters get different orders, so that fatigue and learning do not fall on
/// the same cases; one rater gets the same order on every export.
///
/// # Errors
/// As [`derived_seed`].
pub fn rater_order(batch: &Seed, rater: &RaterName, cases: &mut [CaseIdentity]) -> Result<(), IdError> {
    let seed = derived_seed(batch, "order", rater.as_str())?;
    by_ticket(&seed, cases, |case| case);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_shuffles_that_differ_by_rater_and_ignore_the_input_order() {
        let seed = Seed::parse("audit-1").expect("valid");
        let cases: Vec<CaseIdentity> =
            (0..40).map(|i| CaseIdentity::parse(&format!("run/case_{i:02}")).expect("valid")).collect();
        let order = |rater: &str, mut cases: Vec<CaseIdentity>| {
            rater_order(&seed, &RaterName::parse(rater).expect("valid"), &mut cases).expect("valid");
            cases
        };
        let anna = order("anna", cases.clone());
        assert_ne!(anna, cases);
        assert_ne!(anna, order("ben: second", cases.clone()));
        assert_eq!(anna, order("anna", cases.iter().rev().cloned().collect()));
        let mut sorted = anna;
        sorted.sort();
        assert_eq!(sorted, cases);
    }
}
