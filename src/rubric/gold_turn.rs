//! The turn at which the gold action is due, by the rule that a rubric names.

use super::lookup::written_enum;
use crate::model::{Category, GroundTruth};

written_enum! {
    /// How the gold turn is found.
    GoldTurnRule {
        /// The published audit's rule: turn 0 for `miss_func` and `miss_param`, whatever the ground truth says; the
        /// first turn with ground truth for `base` and `long_context`, or turn 0 where no turn has any.
        ZeroForMissing = "zero_for_missing",
        /// From the ground truth: its first empty turn for `miss_func` and `miss_param`, its first non-empty turn for
        /// `base` and `long_context`.
        GroundTruth = "ground_truth",
    }
}

/// The gold turn, from 0; `None` where the ground truth is needed and absent, or has no such turn.
#[must_use]
pub fn gold_turn(rule: GoldTurnRule, category: Category, truth: Option<&GroundTruth>) -> Option<u32> {
    let missing = matches!(category, Category::MissFunc | Category::MissParam);
    let first = |empty: bool| {
        let position = truth?.calls.iter().position(|calls| calls.is_empty() == empty)?;
        u32::try_from(position).ok()
    };
    match (rule, missing) {
        (GoldTurnRule::ZeroForMissing, true) => Some(0),
        (GoldTurnRule::ZeroForMissing, false) => truth.map(|_| first(false).unwrap_or(0)),
        (GoldTurnRule::GroundTruth, _) => first(missing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth(turns: &[usize]) -> GroundTruth {
        GroundTruth { calls: turns.iter().map(|n| vec!["f()".to_owned(); *n]).collect(), ..GroundTruth::default() }
    }

    #[test]
    fn the_published_rule_stays_at_turn_0_for_missing_tools_and_values() {
        let late = truth(&[2, 1, 0, 1]);
        for category in [Category::MissFunc, Category::MissParam] {
            assert_eq!(gold_turn(GoldTurnRule::ZeroForMissing, category, Some(&late)), Some(0));
            assert_eq!(gold_turn(GoldTurnRule::ZeroForMissing, category, None), Some(0));
            assert_eq!(gold_turn(GoldTurnRule::GroundTruth, category, Some(&late)), Some(2));
            assert_eq!(gold_turn(GoldTurnRule::GroundTruth, category, None), None);
        }
    }

    #[test]
    fn base_takes_the_first_turn_with_ground_truth() {
        let rule = GoldTurnRule::ZeroForMissing;
        assert_eq!(gold_turn(rule, Category::Base, Some(&truth(&[1, 1]))), Some(0));
        assert_eq!(gold_turn(rule, Category::LongContext, Some(&truth(&[0, 0, 3]))), Some(2));
        assert_eq!(gold_turn(rule, Category::Base, Some(&truth(&[0, 0]))), Some(0));
        assert_eq!(gold_turn(rule, Category::Base, None), None);
        assert_eq!(gold_turn(GoldTurnRule::GroundTruth, Category::Base, Some(&truth(&[0, 0]))), None);
    }
}
