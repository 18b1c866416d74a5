//! The window of a case: the turns at which the gold action counts under the rule set `strict`.

use std::ops::Range;

use super::cell::counted;
use super::facts::CellInput;
use super::gold_turn::{GoldTurnCase, gold_turn, gold_turn_cell};
use super::row::GarRow;
use crate::action::{RuleSet, StrictRule, StrictRules};
use crate::model::{Category, GroundTruth};

/// The turns, from the gold turn up to (not with) the turn at which the tool comes back or the value is supplied.
///
/// `miss_func`: up to the return of the held-out tools; without a known return, to the end of the ground truth.
/// `miss_param`: the user supplies the value in the next turn, so the gold turn alone. `base` and `long_context`: the gold
/// turn alone. `None`: the ground truth has no gold turn.
#[must_use]
pub fn gold_window(category: Category, truth: &GroundTruth) -> Option<Range<usize>> {
    let start = gold_turn(category, truth)?;
    let end = match category {
        Category::MissFunc => truth.return_turn.map_or(truth.calls.len(), |turn| turn as usize),
        _ => start + 1,
    };
    Some(start..end.max(start + 1))
}

/// Does a case have the gold action in its window? With the rule `gold-window` off, in any turn. The classes of `case` are
/// those of `strict`. An error record never hits. `None`: there is no ground truth, or no gold turn in it.
#[must_use]
pub fn strict_hit(category: Category, case: GoldTurnCase<'_>, rules: &StrictRules) -> Option<bool> {
    let gold = Some(category.gold_action());
    let turns = case.turns.unwrap_or_default();
    if !rules.has(StrictRule::GoldWindow) {
        return Some(turns.iter().any(|turn| turn.classes.contains(&gold)));
    }
    let window = gold_window(category, case.truth?)?;
    let inside = turns.iter().skip(window.start).take(window.len());
    Some(inside.into_iter().any(|turn| turn.classes.contains(&gold)))
}

/// The row of one category of one run under the rule set `strict`. `input` and `cases` hold the same records in the same
/// order, both with the classes of `strict`. Records without a gold turn are left out of GAR and of the joint table and
/// counted in `gar_left_out`; if that is all of them, both are null and a warning says why.
#[must_use]
pub fn strict_cell(input: &CellInput, cases: &[GoldTurnCase<'_>], rules: &StrictRules) -> GarRow {
    let hits: Vec<Option<bool>> = input
        .cases
        .iter()
        .enumerate()
        .map(|(at, facts)| {
            if facts.error_record {
                // Known not to hit where the case can be judged at all.
                return cases.get(at).and_then(|case| {
                    strict_hit(input.category, GoldTurnCase { turns: None, truth: case.truth }, rules)
                });
            }
            cases.get(at).and_then(|case| strict_hit(input.category, *case, rules))
        })
        .collect();
    let mut row = counted(input, RuleSet::Strict, &hits);
    if cases.iter().any(|case| case.truth.is_some()) {
        row = row.with_gold_turn(&gold_turn_cell(input.category, cases.iter().copied()));
    }
    if row.gar_left_out == row.n && row.n > 0 {
        row.warnings.push(
            "no data set was given, so the gold turns are not known: GAR under strict, the joint table, Δ and the diagnosis \
             are undefined"
                .to_owned(),
        );
    } else if row.gar_left_out > 0 {
        row.warnings.push(format!(
            "{} of {} records have no gold turn in the data set; GAR under strict and the joint table leave them out",
            row.gar_left_out, row.n
        ));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gar::{CaseFacts, TurnFacts, has_text};
    use crate::model::ActionClass::{self, Ask, Confirm, Refuse, ToolCall};
    use crate::model::Verdict;

    fn truth(calls: &[usize], return_turn: Option<u32>) -> GroundTruth {
        GroundTruth {
            calls: calls.iter().map(|count| vec!["f()".to_owned(); *count]).collect(),
            held_out_tools: Vec::new(),
            return_turn,
        }
    }

    fn turns(classes: &[&[ActionClass]]) -> Vec<TurnFacts> {
        let turn = |classes: &&[ActionClass]| TurnFacts {
            classes: classes.iter().copied().map(Some).collect(),
            calls: Vec::new(),
        };
        classes.iter().map(turn).collect()
    }

    #[test]
    fn the_window_runs_from_the_gold_turn_to_return_or_supply() {
        let late = truth(&[1, 0, 0, 1], Some(3));
        assert_eq!(gold_window(Category::MissFunc, &late), Some(1..3));
        assert_eq!(gold_window(Category::MissParam, &late), Some(1..2));
        assert_eq!(gold_window(Category::Base, &late), Some(0..1));
        assert_eq!(gold_window(Category::MissFunc, &truth(&[1, 0, 1], None)), Some(1..3));
        assert_eq!(gold_window(Category::MissFunc, &truth(&[1, 0, 1], Some(1))), Some(1..2), "never empty");
        assert_eq!(gold_window(Category::MissFunc, &truth(&[1, 1], Some(1))), None);
    }

    #[test]
    fn only_the_window_counts() {
        let truth = truth(&[1, 0, 1], Some(2));
        let all = StrictRules::all();
        let any_turn = all.clone().without(StrictRule::GoldWindow);
        for (emitted, inside, anywhere) in [
            (turns(&[&[Refuse], &[ToolCall], &[Refuse]]), false, true),
            (turns(&[&[ToolCall], &[ToolCall, Refuse], &[ToolCall]]), true, true),
            (turns(&[&[ToolCall], &[Ask], &[Confirm]]), false, false),
            (turns(&[&[Refuse]]), false, true),
        ] {
            let case = GoldTurnCase { turns: Some(&emitted), truth: Some(&truth) };
            assert_eq!(strict_hit(Category::MissFunc, case, &all), Some(inside));
            assert_eq!(strict_hit(Category::MissFunc, case, &any_turn), Some(anywhere));
            let unknown = GoldTurnCase { truth: None, ..case };
            assert_eq!(strict_hit(Category::MissFunc, unknown, &all), None);
        }
    }

    #[test]
    fn a_cell_leaves_out_what_has_no_gold_turn_and_says_so() {
        let truth = truth(&[1, 0], Some(2));
        let emitted =
            [turns(&[&[ToolCall], &[Refuse]]), turns(&[&[Refuse], &[ToolCall]]), turns(&[&[ToolCall], &[Refuse]])];
        let facts = |id: &str, turns: &[TurnFacts], verdict| CaseFacts {
            id: id.to_owned(),
            verdict,
            error_record: false,
            classes: turns.iter().flat_map(|turn| turn.classes.clone()).collect(),
            emission_text_seen: true,
        };
        let mut records: Vec<CaseFacts> =
            ["a", "b", "c"].iter().zip(&emitted).map(|(id, turns)| facts(id, turns, Some(Verdict::Pass))).collect();
        records.push(CaseFacts { error_record: true, ..facts("d", &[], Some(Verdict::Fail)) });
        let input = CellInput {
            run: "r".into(),
            model: "m".into(),
            condition: "baseline".into(),
            category: Category::MissFunc,
            run_has_text: has_text(&records),
            cases: records,
            failures_only: false,
            header: Some((3, 4)),
        };
        let case = |at: usize, truth| GoldTurnCase { turns: emitted.get(at).map(Vec::as_slice), truth };
        let cases = [case(0, Some(&truth)), case(1, Some(&truth)), case(2, None), case(3, Some(&truth))];
        let row = strict_cell(&input, &cases, &StrictRules::all());
        assert_eq!((row.rules, row.n, row.gar_hits, row.gar_left_out), (RuleSet::Strict, 4, Some(1), 1));
        assert!(row.gar_pct.is_some_and(|share| (share - 100.0 / 3.0).abs() < 1e-9));
        assert_eq!((row.hit_ids, row.miss_ids), (vec!["a".to_owned()], vec!["b".to_owned(), "d".to_owned()]));
        assert_eq!((row.masked_passes, row.unscored, row.acc), (Some(1), 0, Some(0.75)));
        assert_eq!((row.gar_turn_any, row.no_such_turn_in_result), (Some(1), Some(1)));
        assert!(!row.warnings.iter().any(|warning| warning.contains("header")), "{:?}", row.warnings);

        let none = [case(0, None), case(1, None), case(2, None), case(3, None)];
        let row = strict_cell(&input, &none, &StrictRules::all());
        assert_eq!((row.gar_hits, row.gar_pct, row.gar_ci95, row.joint), (None, None, None, None));
        assert_eq!((row.delta_pp, row.diagnosis, row.masked_passes, row.acc), (None, None, None, Some(0.75)));
        assert!(row.warnings.iter().any(|warning| warning.contains("no data set")), "{:?}", row.warnings);
    }
}
