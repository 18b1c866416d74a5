//! What a rater may see of a case: a copy of exactly those parts that the rubric's show list names. Renderers get this
//! view and not the case, so they cannot show more. Action classes, other raters' answers and the automatic metric have
//! no field here.

mod sections;

use std::collections::BTreeMap;

use serde::Serialize;

pub use self::sections::{EntryView, SectionView};
use crate::digest::Canonical;
use crate::model::{
    ActionClass, CaseIdentity, CaseText, Category, ConditionText, LabelId, Rating, RatingValue, Transition, Verdict,
};
use crate::rubric::{Applicability, Label, LabelKind, Rubric, Shown, applicability, gold_turn};

/// A case as one rater gets it: what is shown, and the form to fill in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RaterCase {
    /// What is shown.
    pub view: CaseView,
    /// [`CaseView::digest`] of it.
    pub digest: String,
    /// The labels in the rubric's order.
    pub labels: Vec<LabelForm>,
}

/// One label of the form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LabelForm {
    /// Which label.
    pub label: LabelId,
    /// Is the rater asked? Else the answer follows by rule when the others are imported.
    pub asked: bool,
    /// Whether it applies to the case.
    pub applies: Applicability,
    /// The answer so far: *n.a.* where the label does not apply, else this rater's own earlier answer, if any.
    pub value: Option<RatingValue>,
    /// This rater's own earlier rationale.
    pub rationale: String,
    /// Of a label with named values those that this case offers; empty for others.
    pub offered: Vec<String>,
}

/// What a rater sees. `None` (or an empty list) is either hidden by the rubric or absent from the data; where the
/// difference matters to the rater, a note says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaseView {
    /// The case's identity.
    pub case: CaseIdentity,
    /// The category.
    pub category: Option<Category>,
    /// The stratum.
    pub stratum: Option<String>,
    /// The verdict's change between the two conditions.
    pub transition: Option<Transition>,
    /// The action that the category asks for.
    pub gold_action: Option<ActionClass>,
    /// The gold turn, from 0.
    pub gold_turn: Option<u32>,
    /// Tools held back until `return_turn`.
    pub held_out_tools: Vec<String>,
    /// The turn at which they come back, from 0.
    pub return_turn: Option<u32>,
    /// What the rater must know about gaps in the data.
    pub notes: Vec<String>,
    /// The conversation.
    pub turns: Vec<TurnView>,
    /// About the baseline.
    pub baseline: ConditionView,
    /// About the second condition.
    pub second: Option<ConditionView>,
    /// What is not told in turns: dialogue, write event, policy, task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SectionView>,
}

/// One turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct TurnView {
    /// The user's words.
    pub user: Option<String>,
    /// The calls that the benchmark expects; `Some` of an empty list: it expects none.
    pub ground_truth: Option<Vec<String>>,
    /// The baseline's emissions, one JSON value each; `None` where the run has no such turn.
    pub baseline: Option<Vec<String>>,
    /// The second condition's emissions.
    pub second: Option<Vec<String>>,
}

/// What is shown of one condition beside its emissions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct ConditionView {
    /// Where the emissions come from.
    pub source: Option<SourceRun>,
    /// The inference error in place of a result.
    pub error: Option<String>,
    /// `PASS`, `FAIL` or `unscored`.
    pub verdict: Option<String>,
    /// The grader's error type.
    pub error_type: Option<String>,
    /// The grader's explanation.
    pub error_detail: Option<String>,
}

/// Names of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceRun {
    /// The run.
    pub run: String,
    /// Its model.
    pub model: String,
    /// Its condition.
    pub condition: String,
}

/// A case as one rater may see it, with the form to fill in. `own` are this rater's earlier answers, and nobody else's.
#[must_use]
pub fn rater_case(rubric: &Rubric, case: &CaseText, own: &BTreeMap<LabelId, Rating>) -> RaterCase {
    let view = CaseView::new(rubric, case);
    let digest = view.digest();
    let form = |(label, applies): (&crate::rubric::Label, Applicability)| {
        let earlier = own.get(&label.id);
        let value = match applies {
            Applicability::NotApplicable => Some(RatingValue::NotApplicable),
            Applicability::Applies | Applicability::RaterDecides => earlier.map(|rating| rating.value.clone()),
        };
        let rationale = earlier.map(|rating| rating.rationale.clone()).unwrap_or_default();
        let offered = label.offered(case.events()).into_iter().map(|choice| choice.id.clone()).collect();
        LabelForm { label: label.id.clone(), asked: label.asked, applies, value, rationale, offered }
    };
    let labels = rubric.applicabilities(case.category, &case.stratum).into_iter().map(form).collect();
    RaterCase { view, digest, labels }
}

impl CaseView {
    /// Copies what the rubric shows.
    #[must_use]
    pub fn new(rubric: &Rubric, case: &CaseText) -> Self {
        let shows = |item| rubric.shows(item);
        let truth = case.ground_truth.as_ref();
        let second = case.second.as_ref().filter(|_| shows(Shown::SecondCondition));
        let gold = gold_turn(rubric.gold_turn, case.category, truth).filter(|_| shows(Shown::GoldTurn));
        let turns = turns(rubric, case, second);
        let (sections, gaps) = sections::sections(rubric, case);
        Self {
            case: case.case.clone(),
            category: shows(Shown::Category).then_some(case.category),
            stratum: shows(Shown::Stratum).then(|| case.stratum.clone()),
            transition: case.transition.filter(|_| shows(Shown::Transition)),
            // A conversation that asks for nothing known has none.
            gold_action: Some(case.category.gold_action())
                .filter(|gold| shows(Shown::GoldAction) && *gold != ActionClass::Other),
            gold_turn: gold,
            held_out_tools: truth
                .filter(|_| shows(Shown::HeldOutTools))
                .map(|truth| truth.held_out_tools.clone())
                .unwrap_or_default(),
            return_turn: truth.filter(|_| shows(Shown::ReturnTurn)).and_then(|truth| truth.return_turn),
            notes: notes(rubric, case, gold, turns.len()).into_iter().chain(gaps).collect(),
            turns,
            baseline: condition(rubric, &case.baseline),
            second: second.map(|second| condition(rubric, second)),
            sections,
        }
    }

    /// SHA-256 over the canonical bytes of everything that is shown, as the data holds it (not as it is rendered). It
    /// pins every answer to what its rater saw. The order of the fields is part of the format; digests are stored.
    #[must_use]
    pub fn digest(&self) -> String {
        let number = |value: Option<u32>| value.map(|value| value.to_string());
        let transition = self.transition.map(|transition| transition.to_string());
        let mut writer = Canonical::new("case/1")
            .text(self.case.as_str())
            .optional(self.category.map(Category::as_str))
            .optional(self.stratum.as_deref())
            .optional(transition.as_deref())
            .optional(self.gold_action.map(ActionClass::as_str))
            .optional(number(self.gold_turn).as_deref())
            .list(&self.held_out_tools)
            .optional(number(self.return_turn).as_deref())
            .list(&self.notes)
            .number(self.turns.len() as u64);
        for turn in &self.turns {
            writer = writer.optional(turn.user.as_deref());
            for list in [&turn.ground_truth, &turn.baseline, &turn.second] {
                writer = match list {
                    None => writer.optional(None),
                    Some(items) => writer.optional(Some("")).list(items),
                };
            }
        }
        writer = self.baseline.write(writer);
        writer = match &self.second {
            None => writer.optional(None),
            Some(second) => second.write(writer.optional(Some(""))),
        };
        sections::write(writer, &self.sections).finish()
    }
}

impl ConditionView {
    fn write(&self, writer: Canonical) -> Canonical {
        let writer = match &self.source {
            None => writer.optional(None),
            Some(source) => writer.optional(Some("")).text(&source.run).text(&source.model).text(&source.condition),
        };
        writer
            .optional(self.error.as_deref())
            .optional(self.verdict.as_deref())
            .optional(self.error_type.as_deref())
            .optional(self.error_detail.as_deref())
    }
}

fn turns(rubric: &Rubric, case: &CaseText, second: Option<&ConditionText>) -> Vec<TurnView> {
    let users = case.user_turns.as_ref().filter(|_| rubric.shows(Shown::UserTurns));
    let truth = case.ground_truth.as_ref().filter(|_| rubric.shows(Shown::GroundTruth));
    let emissions = rubric.shows(Shown::Emissions);
    let of = |condition: Option<&ConditionText>, turn: usize| {
        let turn = condition.filter(|_| emissions)?.turns.get(turn)?;
        Some(turn.emissions.clone())
    };
    let lengths = [
        users.map_or(0, Vec::len),
        truth.map_or(0, |truth| truth.calls.len()),
        if emissions { case.baseline.turns.len() } else { 0 },
        second.filter(|_| emissions).map_or(0, |second| second.turns.len()),
    ];
    let count = lengths.into_iter().max().unwrap_or(0);
    let turn = |index| TurnView {
        user: users.and_then(|users| users.get(index).cloned()),
        ground_truth: truth.and_then(|truth| truth.calls.get(index).cloned()),
        baseline: of(Some(&case.baseline), index),
        second: of(second, index),
    };
    (0..count).map(turn).collect()
}

fn condition(rubric: &Rubric, condition: &ConditionText) -> ConditionView {
    let verdict = condition.verdict.map_or("unscored", Verdict::as_str);
    let detail = rubric.shows(Shown::GraderDetail);
    ConditionView {
        source: rubric.shows(Shown::SourceRun).then(|| SourceRun {
            run: condition.run.clone(),
            model: condition.model.clone(),
            condition: condition.condition.clone(),
        }),
        error: condition.error.clone().filter(|_| rubric.shows(Shown::Emissions)),
        verdict: rubric.shows(Shown::GraderVerdict).then(|| verdict.to_owned()),
        error_type: condition.error_type.clone().filter(|_| detail),
        error_detail: condition.error_detail.clone().filter(|_| detail),
    }
}

/// Gaps in the data that decide between an answer and *cannot judge*.
fn notes(rubric: &Rubric, case: &CaseText, gold: Option<u32>, turns: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if rubric.shows(Shown::UserTurns) && case.user_turns.is_none() {
        notes.push("The user's words were not saved.".to_owned());
    }
    let needs_truth = [Shown::GroundTruth, Shown::HeldOutTools, Shown::ReturnTurn];
    if case.ground_truth.is_none() && needs_truth.into_iter().any(|item| rubric.shows(item)) {
        let reason = case.ground_truth_reason.as_deref().unwrap_or("no data set was given");
        notes.push(format!("There is no ground truth: {reason}."));
    }
    if rubric.shows(Shown::GoldTurn) && gold.is_none() {
        notes.push("The gold turn is not known.".to_owned());
    }
    if rubric.shows(Shown::Emissions) {
        let second = case.second.as_ref().filter(|_| rubric.shows(Shown::SecondCondition));
        let conditions = [("baseline", Some(&case.baseline)), ("second condition", second)];
        for (name, condition) in conditions {
            let Some(condition) = condition else { continue };
            let saved = condition.turns.len();
            if saved < turns {
                notes.push(format!("The {name} has emissions for {saved} of {turns} turns."));
            }
            if condition.text_not_saved {
                notes.push(format!(
                    "The benchmark saved only the calls of the {name}: what the model said in words cannot be seen."
                ));
            }
        }
    }
    if rubric.shows(Shown::SecondCondition) {
        notes.extend(excluded(rubric, case));
    }
    notes
}

/// Values that the event log of the second condition rules out.
fn excluded(rubric: &Rubric, case: &CaseText) -> Vec<String> {
    let Some(events) = case.events() else { return Vec::new() };
    let of_label = |label: &Label| {
        let offered = label.offered(Some(events));
        let out: Vec<&str> = label.values().into_iter().filter(|id| offered.iter().all(|o| o.id != *id)).collect();
        let (known, them) = if out.len() == 1 { ("is no answer", "it") } else { ("are no answers", "them") };
        let ids = out.join(", ");
        let open =
            !out.is_empty() && applicability(label, case.category, &case.stratum) != Applicability::NotApplicable;
        open.then(|| {
            format!("{ids} {known} to {} here: the event log of the second condition rules {them} out.", label.id)
        })
    };
    let choices = |label: &&Label| matches!(label.kind, LabelKind::Choice(_) | LabelKind::Choices(_));
    rubric.labels.iter().filter(choices).filter_map(of_label).collect()
}

#[cfg(test)]
mod tests;
