//! The four readings of the metric on one case, and the emission that decides each.

use super::evidence::{CaseEmissions, paper_turns, strict_turns};
use super::explain::{ExplainRow, explain};
use super::gold_turn::{GoldTurnCase, case_gold_turn, gold_turn};
use super::window::{gold_window, strict_hit};
use crate::action::{StrictRule, StrictRules};
use crate::estimate::findings::Metric;
use crate::model::{ActionClass, Category};

/// Does a case hit under a reading? `None`: the reading asks for the gold turn, and it is not known. An error record never
/// hits.
#[must_use]
pub fn metric_hit(metric: Metric, category: Category, case: &CaseEmissions<'_>) -> Option<bool> {
    let turns = case.turns.unwrap_or_default();
    if metric.strict() {
        let all = StrictRules::all();
        let rules = if metric.at_gold_turn() { all } else { all.without(StrictRule::GoldWindow) };
        let facts = strict_turns(turns, &rules);
        let turns = case.turns.map(|_| facts.as_slice());
        return strict_hit(category, GoldTurnCase { turns, truth: case.truth }, &rules);
    }
    let facts = paper_turns(turns);
    if metric.at_gold_turn() {
        let found = case_gold_turn(category, GoldTurnCase { turns: Some(&facts), truth: case.truth })?;
        return found.gold_turn.map(|_| found.any);
    }
    Some(facts.iter().any(|turn| turn.classes.contains(&Some(category.gold_action()))))
}

/// Every reading of a case with the reason, in the order of [`Metric::ALL`]: the emission and the cue of a hit, or what the
/// text of the turns in question was read as.
#[must_use]
pub fn metric_reading(category: Category, case: &CaseEmissions<'_>) -> ([Option<bool>; 4], [String; 4]) {
    let rows = explain(category, *case, &StrictRules::all());
    let hits = Metric::ALL.map(|metric| metric_hit(metric, category, case));
    let mut at = hits.iter();
    let cues = Metric::ALL.map(|metric| cause(metric, category, case, &rows, at.next().copied().flatten()));
    (hits, cues)
}

fn cause(
    metric: Metric,
    category: Category,
    case: &CaseEmissions<'_>,
    rows: &[ExplainRow],
    hit: Option<bool>,
) -> String {
    if case.turns.is_none() {
        return "an inference error stands in place of the result".to_owned();
    }
    let Some(hit) = hit else { return "the gold turn is not known".to_owned() };
    let inside = |turn: usize| match (metric.at_gold_turn(), metric.strict()) {
        (false, _) => true,
        (true, false) => case.truth.and_then(|truth| gold_turn(category, truth)) == Some(turn),
        (true, true) => {
            case.truth.and_then(|truth| gold_window(category, truth)).is_some_and(|window| window.contains(&turn))
        }
    };
    let class = |row: &ExplainRow| if metric.strict() { row.strict.class } else { row.paper.class };
    let gold = category.gold_action();
    let rows: Vec<&ExplainRow> = rows.iter().filter(|row| inside(row.turn)).collect();
    if hit {
        let found = rows.iter().find(|row| class(row) == Some(gold));
        return found.map_or_else(String::new, |row| {
            let beside = if gold != ActionClass::ToolCall && rows.iter().any(|other| calls_beside(row, other, class)) {
                ", in a turn that also calls"
            } else {
                ""
            };
            format!("{}{beside}", reading(metric, row))
        });
    }
    // What it read instead: first of all text, of which only the words decide.
    let others: Vec<String> = rows
        .iter()
        .filter(|row| class(row).is_some() && class(row) != Some(ActionClass::ToolCall))
        .map(|row| reading(metric, row))
        .collect();
    let calls = rows.iter().filter(|row| class(row) == Some(ActionClass::ToolCall)).count();
    let place = if metric.at_gold_turn() { "where it is due" } else { "in any turn" };
    let read = match others.as_slice() {
        [] if calls > 0 => format!("calls only ({calls})"),
        [] => "nothing to classify".to_owned(),
        [one] => one.clone(),
        [first, .., last] => format!("{first}; … {last}"),
    };
    format!("no {gold} {place}: {read}")
}

fn calls_beside(row: &ExplainRow, other: &ExplainRow, class: impl Fn(&ExplainRow) -> Option<ActionClass>) -> bool {
    other.turn == row.turn && class(other) == Some(ActionClass::ToolCall)
}

/// `turn/step class "cue" at byte N`.
fn reading(metric: Metric, row: &ExplainRow) -> String {
    let (class, cue) =
        if metric.strict() { (row.strict.class, &row.strict.cue) } else { (row.paper.class, &row.paper.cue) };
    let name = class.map_or("none", ActionClass::as_str);
    let place = format!("{}/{} {name}", row.turn, row.step);
    if let Some(cue) = cue {
        return format!("{place} {:?} at byte {}", cue.cue, cue.offset);
    }
    let added = row.strict.fired.first().filter(|_| metric.strict());
    match (added, row.paper.form) {
        (Some(hit), _) => format!("{place} {} {:?} at byte {}", hit.rule, hit.cue, hit.offset),
        (None, Some(form)) if class == Some(ActionClass::ToolCall) => format!("{place} {form}"),
        _ => place,
    }
}
