//! Sampling tickets: the pseudo-random number that a case keeps for ever under one seed.

use super::canonical::sha256_hex;
use crate::model::{CaseIdentity, Seed};

/// ticket(case) = lower-case hex of SHA-256 over the UTF-8 bytes of `seed:case-identity`.
///
/// Within a stratum cases are taken in order of (ticket, identity). The stratum is not part of the ticket, so a case
/// keeps its place when strata change, and a larger quota extends a smaller one. (Permanent random numbers, Ohlsson
/// 1995; consistent sampling, Rivest 2018.)
#[must_use]
pub fn ticket(seed: &Seed, case: &CaseIdentity) -> String {
    sha256_hex(format!("{seed}:{case}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticket_of_the_first_xlam_case_under_seed_audit_1() {
        let seed = Seed::parse("audit-1").expect("valid");
        let case = CaseIdentity::parse("xlam/multi_turn_miss_func_0").expect("valid");
        assert_eq!(ticket(&seed, &case), "6a05b551319adca42ce3a6c636dbc22271d0f1908f4bb7d6cf7c6aedb8a7d33d");
    }
}
