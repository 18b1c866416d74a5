//! The gold action at the turn where it is due, which any-turn GAR does not ask: per case, per cell, and a recount of turns.
//!
//! The gold turn comes from the benchmark's ground truth: the first turn that expects no call for `miss_func` and
//! `miss_param`, the first that expects one for `base` and `long_context`.

use serde::{Deserialize, Serialize};

use crate::model::{ActionClass, Category, GroundTruth};

/// One user turn of a result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnFacts {
    /// The class of each emission; `None`: nothing to classify.
    pub classes: Vec<Option<ActionClass>>,
    /// The tools called in the turn, by the names that the emissions give.
    pub calls: Vec<String>,
}

impl TurnFacts {
    /// The turn's class: the one with the highest priority among its emissions. `None`: nothing to classify.
    #[must_use]
    pub fn class(&self) -> Option<ActionClass> {
        self.classes.iter().flatten().min().copied()
    }
}

/// What the gold-turn metrics need to know about a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoldTurnCase<'c> {
    /// The turns of the result; `None`: an error record.
    pub turns: Option<&'c [TurnFacts]>,
    /// The ground truth; `None`: the data set does not know the case.
    pub truth: Option<&'c GroundTruth>,
}

/// The turn, from 0, at which the gold action is due. `None`: no turn of the ground truth is of the kind asked for.
#[must_use]
pub fn gold_turn(category: Category, truth: &GroundTruth) -> Option<usize> {
    let empty = expects_no_call(category);
    truth.calls.iter().position(|calls| calls.is_empty() == empty)
}

/// Is the gold action due at a turn that expects no call?
fn expects_no_call(category: Category) -> bool {
    category.gold_action() != ActionClass::ToolCall
}

/// One case at its gold turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseGoldTurn {
    /// The gold turn, from 0; `None`: the ground truth has none.
    pub gold_turn: Option<usize>,
    /// The result has that turn (it may have been cut short, or be an error).
    pub turn_in_result: bool,
    /// Some emission of the turn has the gold class.
    pub any: bool,
    /// The turn's own class is the gold class.
    pub class: bool,
    /// Some emission of the turn is a call.
    pub called: bool,
    /// `miss_func` only: a held-out tool was called at a turn before its return.
    pub held_out_before_return: Option<bool>,
    /// `miss_func` only: a held-out tool was called at its return or later.
    pub held_out_after_return: Option<bool>,
}

/// The gold-turn facts of a case. `None`: there is no ground truth for it.
#[must_use]
pub fn case_gold_turn(category: Category, case: GoldTurnCase<'_>) -> Option<CaseGoldTurn> {
    let truth = case.truth?;
    let turns = case.turns.unwrap_or_default();
    let gold = category.gold_action();
    let gold_turn = gold_turn(category, truth);
    let turn = gold_turn.and_then(|at| turns.get(at));
    let has = |class| turn.is_some_and(|turn| turn.classes.contains(&Some(class)));
    let split = return_turn(category, truth);
    let held_out = |turns: &[TurnFacts]| turns.iter().any(|turn| calls_held_out(turn, truth));
    Some(CaseGoldTurn {
        gold_turn,
        turn_in_result: turn.is_some(),
        any: has(gold),
        class: turn.is_some_and(|turn| turn.class() == Some(gold)),
        called: has(ActionClass::ToolCall),
        held_out_before_return: split.map(|at| held_out(turns.get(..at).unwrap_or(turns))),
        held_out_after_return: split.map(|at| held_out(turns.get(at..).unwrap_or_default())),
    })
}

/// The turn at which the held-out tools come back; only `miss_func` holds tools out.
fn return_turn(category: Category, truth: &GroundTruth) -> Option<usize> {
    (category == Category::MissFunc).then_some(truth.return_turn).flatten().map(|turn| turn as usize)
}

/// Does a turn call a held-out tool, by its plain name or qualified by a class (`Class.tool`)?
pub(super) fn calls_held_out(turn: &TurnFacts, truth: &GroundTruth) -> bool {
    let is = |call: &str, tool: &str| call == tool || call.rsplit('.').next() == Some(tool);
    turn.calls.iter().any(|call| truth.held_out_tools.iter().any(|tool| is(call, tool)))
}

/// The cases of a cell at their gold turns. Cases without ground truth are counted in `without_ground_truth` and nowhere
/// else but `n`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GoldTurnCell {
    /// All records.
    pub n: u64,
    /// Records that the data set has no ground truth for, or no gold turn.
    pub without_ground_truth: u64,
    /// Some emission of the gold turn has the gold class.
    pub gar_turn_any: u64,
    /// The gold turn's class is the gold class.
    pub gar_turn_class: u64,
    /// The gold turn has a call.
    pub calls_at_gold_turn: u64,
    /// The result does not reach the gold turn; error records among them.
    pub no_such_turn_in_result: u64,
    /// `miss_func` only: cases that call a held-out tool before its return.
    pub held_out_called_before_return: Option<u64>,
    /// `miss_func` only: cases that call a held-out tool at its return or later.
    pub held_out_called_after_return: Option<u64>,
    /// Turns recounted.
    pub recount: TurnRecount,
}

/// Turns whose class is the one due: a call where the ground truth expects one, the gold class at a gold turn without calls.
/// Other turns without expected calls have no class due and are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TurnRecount {
    /// Turns at which a call is due.
    pub call_due: u64,
    /// Of those, turns with a call.
    pub call_done: u64,
    /// Turns at which an ask or a refusal is due.
    pub gold_due: u64,
    /// Of those, turns of that class.
    pub gold_done: u64,
    /// Turns that are due but missing in the result; they count as not done.
    pub missing: u64,
}

impl TurnRecount {
    /// Turns of the due class in percent of turns due. `None`: nothing was due.
    #[must_use]
    pub fn share_pct(&self) -> Option<f64> {
        super::cell::percent(self.call_done + self.gold_done, self.call_due + self.gold_due)
    }

    fn add(&mut self, category: Category, case: GoldTurnCase<'_>) {
        let Some(truth) = case.truth else { return };
        let turns = case.turns.unwrap_or_default();
        let gold_turn = gold_turn(category, truth);
        for (at, expected) in truth.calls.iter().enumerate() {
            let turn = turns.get(at);
            let is = |class| turn.is_some_and(|turn| turn.class() == Some(class));
            if !expected.is_empty() {
                self.call_due += 1;
                self.call_done += u64::from(is(ActionClass::ToolCall));
            } else if gold_turn == Some(at) {
                self.gold_due += 1;
                self.gold_done += u64::from(is(category.gold_action()));
            } else {
                continue;
            }
            self.missing += u64::from(turn.is_none());
        }
    }
}

/// Counts the cases of a cell at their gold turns.
#[must_use]
pub fn gold_turn_cell<'c>(category: Category, cases: impl IntoIterator<Item = GoldTurnCase<'c>>) -> GoldTurnCell {
    let held_out = || (category == Category::MissFunc).then_some(0);
    let mut cell = GoldTurnCell {
        held_out_called_before_return: held_out(),
        held_out_called_after_return: held_out(),
        ..GoldTurnCell::default()
    };
    for case in cases {
        cell.n += 1;
        let Some(facts) = case_gold_turn(category, case).filter(|facts| facts.gold_turn.is_some()) else {
            cell.without_ground_truth += 1;
            continue;
        };
        cell.gar_turn_any += u64::from(facts.any);
        cell.gar_turn_class += u64::from(facts.class);
        cell.calls_at_gold_turn += u64::from(facts.called);
        cell.no_such_turn_in_result += u64::from(!facts.turn_in_result);
        for (count, seen) in [
            (&mut cell.held_out_called_before_return, facts.held_out_before_return),
            (&mut cell.held_out_called_after_return, facts.held_out_after_return),
        ] {
            if let Some(count) = count {
                *count += u64::from(seen == Some(true));
            }
        }
        cell.recount.add(category, case);
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ActionClass::{Ask, Confirm, Refuse, ToolCall};

    fn truth(calls: &[usize], held_out: &[&str], return_turn: Option<u32>) -> GroundTruth {
        GroundTruth {
            calls: calls.iter().map(|count| vec!["f()".to_owned(); *count]).collect(),
            held_out_tools: held_out.iter().map(|tool| (*tool).to_owned()).collect(),
            return_turn,
        }
    }

    fn turn(classes: &[ActionClass], calls: &[&str]) -> TurnFacts {
        TurnFacts {
            classes: classes.iter().copied().map(Some).collect(),
            calls: calls.iter().map(|call| (*call).to_owned()).collect(),
        }
    }

    #[test]
    fn the_gold_turn_is_the_first_of_its_kind() {
        let truth = truth(&[2, 0, 1, 0], &[], None);
        assert_eq!(gold_turn(Category::MissFunc, &truth), Some(1));
        assert_eq!(gold_turn(Category::MissParam, &truth), Some(1));
        assert_eq!(gold_turn(Category::Base, &truth), Some(0));
        let late = self::truth(&[0, 0, 1], &[], None);
        assert_eq!(gold_turn(Category::LongContext, &late), Some(2));
        assert_eq!(gold_turn(Category::MissFunc, &self::truth(&[1, 1], &[], None)), None);
    }

    #[test]
    fn a_refusal_after_a_call_is_an_emission_but_not_the_turns_class() {
        let truth = truth(&[1, 0, 1], &["sort"], Some(2));
        let turns = [
            turn(&[ToolCall, Refuse], &["sort"]),
            turn(&[ToolCall, Refuse], &["cat"]),
            turn(&[ToolCall, Confirm], &["FileSystem.sort"]),
        ];
        let case = GoldTurnCase { turns: Some(&turns), truth: Some(&truth) };
        let facts = case_gold_turn(Category::MissFunc, case).expect("a ground truth");
        assert_eq!((facts.gold_turn, facts.any, facts.class, facts.called), (Some(1), true, false, true));
        assert_eq!((facts.held_out_before_return, facts.held_out_after_return), (Some(true), Some(true)));
        let facts = case_gold_turn(Category::MissParam, case).expect("a ground truth");
        assert_eq!((facts.any, facts.held_out_before_return), (false, None), "it asked for nothing");
    }

    #[test]
    fn a_cell_counts_every_case_once() {
        let truth = truth(&[1, 0, 1, 0], &[], None);
        let good = [turn(&[ToolCall], &["f"]), turn(&[Ask], &[]), turn(&[ToolCall], &["f"]), turn(&[Confirm], &[])];
        let cut = [turn(&[ToolCall], &["f"])];
        let cell = gold_turn_cell(
            Category::MissParam,
            [
                GoldTurnCase { turns: Some(&good), truth: Some(&truth) },
                GoldTurnCase { turns: Some(&cut), truth: Some(&truth) },
                GoldTurnCase { turns: None, truth: Some(&truth) },
                GoldTurnCase { turns: Some(&good), truth: None },
            ],
        );
        assert_eq!((cell.n, cell.without_ground_truth, cell.no_such_turn_in_result), (4, 1, 2));
        assert_eq!((cell.gar_turn_any, cell.gar_turn_class, cell.calls_at_gold_turn), (1, 1, 0));
        assert_eq!(cell.held_out_called_before_return, None);
        // By hand: three cases with two calls and one question due each (the last empty turn has nothing due); the good
        // one does all three, the cut one the first call.
        let recount = TurnRecount { call_due: 6, call_done: 3, gold_due: 3, gold_done: 1, missing: 5 };
        assert_eq!(cell.recount, recount);
        assert!(recount.share_pct().is_some_and(|share| (share - 400.0 / 9.0).abs() < 1e-9));
        assert_eq!(TurnRecount::default().share_pct(), None);
    }
}
