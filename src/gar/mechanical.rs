//! The mechanical rater: the labels that follow from the data, computed from emissions, ground truth and verdict.
//!
//! A rater of its own kind, never one of the pair whose agreement is reported. Where the answer hangs on text that was not
//! saved, or on ground truth that is not there, it answers *cannot judge* and says why.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::evidence::{paper_turns, strict_turns};
use super::gold_turn::{TurnFacts, calls_held_out, gold_turn};
use crate::action::{RuleSet, StrictRules};
use crate::model::{ActionClass, Category, GroundTruth, LabelId, RatingValue, Verdict};

/// Whose questions are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RubricVersion {
    /// The published audit's: the gold turn of `miss_func` and `miss_param` is turn 0, and B3 asks for held-out calls at or
    /// after the return.
    V2,
    /// The gold turn comes from the ground truth, and B3 is split in two at the return.
    V3,
}

impl RubricVersion {
    /// The labels that are computed.
    #[must_use]
    pub fn labels(self) -> &'static [&'static str] {
        match self {
            Self::V2 => &["B1a", "B1b", "B3", "B4", "B5"],
            Self::V3 => &["B1a", "B1b", "B3_while_absent", "B3_after_return", "B4", "B5"],
        }
    }
}

impl fmt::Display for RubricVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::V2 => "v2",
            Self::V3 => "v3",
        })
    }
}

/// What the mechanical rater sees of a case: the baseline's side of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseEvidence<'c> {
    /// The category.
    pub category: Category,
    /// Per turn the emissions, one JSON value each, as the run file holds them; `None`: an error record.
    pub turns: Option<&'c [Vec<String>]>,
    /// The ground truth; `None`: the data set does not know the case.
    pub truth: Option<&'c GroundTruth>,
    /// The grader's verdict; `None`: unscored.
    pub verdict: Option<Verdict>,
    /// `false` where the benchmark kept calls only, so that a text answer of this run cannot be seen.
    pub text_saved: bool,
}

/// An answer and why.
pub type MechanicalAnswer = (RatingValue, String);

/// Answers every computed label of a rubric. `rules` is the rule set that reads the emissions; `strict` with all its rules.
#[must_use]
pub fn mechanical(
    version: RubricVersion,
    rules: RuleSet,
    case: &CaseEvidence<'_>,
) -> BTreeMap<LabelId, MechanicalAnswer> {
    let turns = case.turns.map(|turns| match rules {
        RuleSet::Paper => paper_turns(turns),
        RuleSet::Strict => strict_turns(turns, &StrictRules::all()),
    });
    let view = View {
        category: case.category,
        turns: turns.as_deref(),
        truth: case.truth,
        verdict: case.verdict,
        text_saved: case.text_saved,
    };
    let gold = due(version, case.category, case.truth);
    let b1a = b1a(&view, gold);
    let mut answers = vec![
        ("B1b", b1b(&view, gold)),
        ("B4", b4_up_to_gold_turn(&view, gold)),
        ("B5", b5(case.verdict, &b1a.0)),
        ("B1a", b1a),
    ];
    match version {
        RubricVersion::V2 => answers.push(("B3", b3_after_return(&view))),
        RubricVersion::V3 => {
            answers.push(("B3_while_absent", b3_while_absent(&view)));
            answers.push(("B3_after_return", b3_after_return(&view)));
        }
    }
    // The ids are valid (tested), so none is lost.
    answers.into_iter().filter_map(|(label, answer)| Some((LabelId::parse(label).ok()?, answer))).collect()
}

/// A case whose emissions have classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'c> {
    /// The category.
    pub category: Category,
    /// The turns under a rule set; `None`: an error record.
    pub turns: Option<&'c [TurnFacts]>,
    /// The ground truth.
    pub truth: Option<&'c GroundTruth>,
    /// The grader's verdict.
    pub verdict: Option<Verdict>,
    /// Are text answers in the file?
    pub text_saved: bool,
}

/// The turn at which the gold action is due, by a rubric's rule; or why there is none.
fn due(version: RubricVersion, category: Category, truth: Option<&GroundTruth>) -> Result<usize, &'static str> {
    let missing = matches!(category, Category::MissFunc | Category::MissParam);
    if version == RubricVersion::V2 && missing {
        return Ok(0);
    }
    let truth = truth.ok_or(NO_TRUTH)?;
    match (gold_turn(category, truth), version) {
        (Some(turn), _) => Ok(turn),
        // The published rule falls back on turn 0 where no turn expects a call.
        (None, RubricVersion::V2) => Ok(0),
        (None, RubricVersion::V3) => Err("the ground truth has no gold turn"),
    }
}

const NO_TRUTH: &str = "there is no ground truth for this case, so the gold turn is not known";
const ERROR: &str = "an inference error stands in place of the result";
const NO_TEXT: &str = "the benchmark did not save text answers in this run";

fn yes(why: String) -> MechanicalAnswer {
    (RatingValue::Value("1".to_owned()), why)
}

fn no(why: String) -> MechanicalAnswer {
    (RatingValue::Value("0".to_owned()), why)
}

fn cannot(why: &str) -> MechanicalAnswer {
    (RatingValue::CannotJudge, why.to_owned())
}

/// B1a: the class of the gold turn is the gold class (`gar_turn_class`).
#[must_use]
pub fn b1a(case: &View<'_>, gold_turn: Result<usize, &'static str>) -> MechanicalAnswer {
    let at = match gold_turn {
        Ok(at) => at,
        Err(why) => return cannot(why),
    };
    let Some(turns) = case.turns else { return cannot(ERROR) };
    let gold = case.category.gold_action();
    let Some(turn) = turns.get(at) else {
        return no(format!("the result has no turn {at}, at which {gold} is due"));
    };
    let class = turn.class();
    if !visible(case, turn) {
        return cannot(NO_TEXT);
    }
    if class == Some(gold) {
        return yes(format!("turn {at} is {gold}, as due"));
    }
    no(format!("turn {at} is {}, {gold} is due", name(class)))
}

/// B1b: the gold turn or a later turn has the gold class.
#[must_use]
pub fn b1b(case: &View<'_>, gold_turn: Result<usize, &'static str>) -> MechanicalAnswer {
    let at = match gold_turn {
        Ok(at) => at,
        Err(why) => return cannot(why),
    };
    let Some(turns) = case.turns else { return cannot(ERROR) };
    let gold = case.category.gold_action();
    let later = turns.get(at..).unwrap_or_default();
    if let Some(found) = later.iter().position(|turn| turn.class() == Some(gold)) {
        return yes(format!("turn {} is {gold}", at + found));
    }
    if !later.iter().all(|turn| visible(case, turn)) {
        return cannot(NO_TEXT);
    }
    no(format!("no turn from {at} on is {gold}"))
}

/// Can the class of a turn be told from what was saved? A call wins over any text, saved or not; and where a call is due,
/// its absence can be seen.
fn visible(case: &View<'_>, turn: &TurnFacts) -> bool {
    case.text_saved
        || turn.class() == Some(ActionClass::ToolCall)
        || case.category.gold_action() == ActionClass::ToolCall
}

fn name(class: Option<ActionClass>) -> &'static str {
    class.map_or("empty", ActionClass::as_str)
}

/// Where held-out tools are away and back, or the answer where that cannot be asked.
fn held_out<'c>(case: &View<'c>) -> Result<(&'c [TurnFacts], &'c GroundTruth, usize), MechanicalAnswer> {
    if case.category != Category::MissFunc {
        return Err((RatingValue::NotApplicable, "only miss_func holds tools out".to_owned()));
    }
    let truth = case.truth.ok_or_else(|| cannot("the data set does not say which tools are held out"))?;
    let back = truth.return_turn.ok_or_else(|| cannot("the data set does not say when the tools come back"))?;
    let turns = case.turns.ok_or_else(|| cannot(ERROR))?;
    Ok((turns, truth, back as usize))
}

/// B3 while absent: a held-out tool is called before its return.
#[must_use]
pub fn b3_while_absent(case: &View<'_>) -> MechanicalAnswer {
    match held_out(case) {
        Err(answer) => answer,
        Ok((turns, truth, back)) => {
            let found = turns.iter().take(back).position(|turn| calls_held_out(turn, truth));
            found.map_or_else(
                || no(format!("no held-out tool is called before its return at turn {back}")),
                |at| yes(format!("a held-out tool is called at turn {at}, before its return at turn {back}")),
            )
        }
    }
}

/// B3 after return, the published B3: a held-out tool is called at its return or later.
#[must_use]
pub fn b3_after_return(case: &View<'_>) -> MechanicalAnswer {
    match held_out(case) {
        Err(answer) => answer,
        Ok((turns, truth, back)) => {
            let found = turns.iter().enumerate().skip(back).find(|(_, turn)| calls_held_out(turn, truth));
            found.map_or_else(
                || no(format!("no held-out tool is called from its return at turn {back} on")),
                |(at, _)| yes(format!("a held-out tool is called at turn {at}; it is back since turn {back}")),
            )
        }
    }
}

/// B4 by the published decision tree: an emission that makes no call asks, at any turn up to the gold turn.
#[must_use]
pub fn b4_up_to_gold_turn(case: &View<'_>, gold_turn: Result<usize, &'static str>) -> MechanicalAnswer {
    b4(case, gold_turn, false)
}

/// B4 by its published definition: the asking emission comes also before the first call of the case.
#[must_use]
pub fn b4_before_any_call(case: &View<'_>, gold_turn: Result<usize, &'static str>) -> MechanicalAnswer {
    b4(case, gold_turn, true)
}

fn b4(case: &View<'_>, gold_turn: Result<usize, &'static str>, before_any_call: bool) -> MechanicalAnswer {
    let last = match gold_turn {
        Ok(last) => last,
        Err(why) => return cannot(why),
    };
    let Some(turns) = case.turns else { return cannot(ERROR) };
    for (at, turn) in turns.iter().enumerate().take(last.saturating_add(1)) {
        for class in &turn.classes {
            match class {
                Some(ActionClass::Ask) => return yes(format!("an emission of turn {at} asks")),
                Some(ActionClass::ToolCall) if before_any_call => {
                    let first = at == 0 && turn.classes.first() == Some(&Some(ActionClass::ToolCall));
                    return if case.text_saved || first {
                        no(format!("the first call, at turn {at}, comes before any question"))
                    } else {
                        cannot(NO_TEXT)
                    };
                }
                _ => {}
            }
        }
    }
    if case.text_saved { no(format!("no emission up to turn {last} asks")) } else { cannot(NO_TEXT) }
}

/// B5: a pass without the gold action. Follows from the verdict and B1a.
#[must_use]
pub fn b5(verdict: Option<Verdict>, b1a: &RatingValue) -> MechanicalAnswer {
    match (verdict, b1a.value()) {
        (Some(Verdict::Fail), _) => no("the grader's verdict is FAIL".to_owned()),
        (_, Some("1")) => no("B1a is 1".to_owned()),
        (Some(Verdict::Pass), Some(_)) => yes("the grader's verdict is PASS and B1a is 0".to_owned()),
        (None, _) => cannot("there is no verdict"),
        (Some(Verdict::Pass), None) => cannot("the grader's verdict is PASS and B1a cannot be judged"),
    }
}

#[cfg(test)]
#[path = "mechanical_tests.rs"]
mod tests;
