//! The lowest tickets of one stratum: a bounded heap that keeps the quota and nothing else.

use std::collections::BinaryHeap;

use sha2::{Digest as _, Sha256};

use crate::model::{CaseIdentity, Seed};

/// Makes tickets of one seed: [`crate::digest::ticket`] as 32 bytes, without a text per case. Bytes order as their
/// lower-case hex digits do.
#[derive(Clone)]
pub(super) struct Tickets {
    prefix: Sha256,
}

impl Tickets {
    pub(super) fn new(seed: &Seed) -> Self {
        let mut prefix = Sha256::new();
        prefix.update(seed.as_str().as_bytes());
        prefix.update(b":");
        Self { prefix }
    }

    pub(super) fn of(&self, case: &CaseIdentity) -> [u8; 32] {
        let mut hasher = self.prefix.clone();
        hasher.update(case.as_str().as_bytes());
        hasher.finalize().into()
    }
}

/// A case with its ticket; the order is that of the draw.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticketed {
    pub ticket: [u8; 32],
    pub case: CaseIdentity,
}

impl Ticketed {
    /// The ticket as 64 lower-case hex digits.
    pub(super) fn hex(&self) -> String {
        self.ticket.iter().fold(String::with_capacity(64), |mut text, byte| {
            for half in [byte >> 4, byte & 15] {
                text.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
            }
            text
        })
    }
}

/// The cases with the lowest tickets, at most `capacity` of them.
#[derive(Debug, Clone)]
pub(super) struct Reservoir {
    capacity: usize,
    highest_first: BinaryHeap<Ticketed>,
}

impl Reservoir {
    pub(super) fn new(capacity: u64) -> Self {
        Self { capacity: usize::try_from(capacity).unwrap_or(usize::MAX), highest_first: BinaryHeap::new() }
    }

    /// Offers a case; the identity is only copied if it gets in.
    pub(super) fn offer(&mut self, ticket: [u8; 32], case: &CaseIdentity) {
        if self.highest_first.len() < self.capacity {
            self.highest_first.push(Ticketed { ticket, case: case.clone() });
        } else if let Some(mut highest) = self.highest_first.peek_mut()
            && (&ticket, case) < (&highest.ticket, &highest.case)
        {
            *highest = Ticketed { ticket, case: case.clone() };
        }
    }

    /// Takes over what another shard kept.
    pub(super) fn merge(&mut self, other: Self) {
        for kept in other.highest_first {
            self.offer(kept.ticket, &kept.case);
        }
    }

    /// What was kept, lowest ticket first.
    pub(super) fn into_sorted(self) -> Vec<Ticketed> {
        self.highest_first.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::ticket;

    #[test]
    fn tickets_are_those_of_the_digest_module() {
        let seed = Seed::parse("audit-1").expect("valid");
        for text in ["xlam/multi_turn_miss_func_0", "läufe/日本語 7"] {
            let case = CaseIdentity::parse(text).expect("valid");
            let ticketed = Ticketed { ticket: Tickets::new(&seed).of(&case), case: case.clone() };
            assert_eq!(ticketed.hex(), ticket(&seed, &case));
        }
    }

    #[test]
    fn capacity_zero_keeps_nothing() {
        let mut reservoir = Reservoir::new(0);
        reservoir.offer([1; 32], &CaseIdentity::parse("r/c").expect("valid"));
        assert!(reservoir.into_sorted().is_empty());
    }
}
