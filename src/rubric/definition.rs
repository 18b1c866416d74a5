//! What a rubric is: labels, rules between answers, and what a rater is shown. Values of these types come out of
//! [`super::parse`] and have passed its checks.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;

use super::lookup::written_enum;
use super::{Applicability, DialogueRule, GoldTurnRule};
use crate::model::{Category, LabelId, StratumId, Verdict};

written_enum! {
    /// Something of a case that a rater may be shown. What is not in the rubric's list stays hidden; the automatic
    /// action classes and other raters' answers cannot be named at all.
    Shown {
        /// The benchmark's category.
        Category = "category",
        /// The stratum for which the case was drawn.
        Stratum = "stratum",
        /// The verdict's change between baseline and second condition.
        Transition = "transition",
        /// Names of run, model and condition.
        SourceRun = "source_run",
        /// The action that the category asks for.
        GoldAction = "gold_action",
        /// The turn at which it is due, under the rubric's own rule.
        GoldTurn = "gold_turn",
        /// The user's words.
        UserTurns = "user_turns",
        /// The calls that the benchmark expects.
        GroundTruth = "ground_truth",
        /// Which tools were held back.
        HeldOutTools = "held_out_tools",
        /// The turn at which they come back.
        ReturnTurn = "return_turn",
        /// What the model emitted.
        Emissions = "emissions",
        /// The grader's pass or fail.
        GraderVerdict = "grader_verdict",
        /// The grader's error type and state difference.
        GraderDetail = "grader_detail",
        /// The second condition of the pair, as far as the other items allow.
        SecondCondition = "second_condition",
        /// The task that the benchmark gave.
        Task = "task",
        /// Sentences of the policy that the agent was given.
        Policy = "policy",
        /// The dialogue, as far as the rubric's dialogue rule allows.
        Dialogue = "dialogue",
        /// The database write in question.
        WriteEvent = "write_event",
    }
}

written_enum! {
    /// Where *n.a.* comes from.
    NaPolicy {
        /// From category and stratum; the rater cannot choose it.
        Derived = "derived",
        /// From the rater's reading of the case.
        Rater = "rater",
        /// The label applies to every case.
        Never = "never",
    }
}

written_enum! {
    /// Whether an answer needs a rationale.
    RationaleRule {
        /// An answer without one is refused.
        Required = "required",
        /// An answer without one is taken and reported.
        Expected = "expected",
        /// The rater may leave it out.
        Optional = "optional",
    }
}

written_enum! {
    /// What a broken rule does to the answers.
    Severity {
        /// They are refused.
        Error = "error",
        /// They are taken and reported.
        Warn = "warn",
    }
}

/// A rubric that has passed every check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rubric {
    /// Short name, such as `mechanism-v2`.
    pub id: String,
    /// Version number of the rubric's author.
    pub version: u64,
    /// Title for people.
    pub title: String,
    /// What the rubric is for, in paragraphs.
    pub about: String,
    /// How the gold turn is found.
    pub gold_turn: GoldTurnRule,
    /// Whether answers need a rationale.
    pub rationale: RationaleRule,
    /// Labels whose agreement is averaged.
    pub primary: Vec<LabelId>,
    /// What a rater sees.
    pub show: BTreeSet<Shown>,
    /// How much of a dialogue a rater sees; all of it, with arguments, where the rubric does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialogue: Option<DialogueRule>,
    /// General advice, one item each.
    pub guidance: Vec<String>,
    /// The questions in the order in which they are asked.
    pub labels: Vec<Label>,
    /// What must hold between the answers of one case.
    pub rules: Vec<Rule>,
}

impl Rubric {
    /// The label with an id.
    #[must_use]
    pub fn label(&self, id: &LabelId) -> Option<&Label> {
        self.labels.iter().find(|label| label.id == *id)
    }

    /// Is an item shown to raters?
    #[must_use]
    pub fn shows(&self, item: Shown) -> bool {
        self.show.contains(&item)
    }

    /// Every label with whether it applies to a case of this category and stratum, in the rubric's order.
    #[must_use]
    pub fn applicabilities(&self, category: Category, stratum: &str) -> Vec<(&Label, Applicability)> {
        self.labels.iter().map(|label| (label, super::applicability(label, category, stratum))).collect()
    }
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Label {
    /// Short name, such as `B1a`.
    pub id: LabelId,
    /// Title for people.
    pub title: String,
    /// What kind of answer it takes.
    pub kind: LabelKind,
    /// The question itself.
    pub question: String,
    /// To which cases it applies.
    pub applies: AppliesTo,
    /// Where *n.a.* comes from.
    pub na: NaPolicy,
    /// Is the rater asked? A label that is not asked follows by an equality from other answers; importing computes it.
    pub asked: bool,
    /// May the rater say that what the label asks about was not saved?
    pub may_cannot_judge: bool,
    /// How to decide, in order.
    pub steps: Vec<String>,
    /// Where a published rubric can be read in several ways: the readings, of which one is used.
    pub readings: Vec<ReadingOfLabel>,
    /// Worked examples.
    pub examples: Vec<Example>,
}

impl Label {
    /// The valid values in the rubric's own spelling and order (*n.a.* and *cannot judge* not included); for a set of
    /// values, those that can be in it.
    #[must_use]
    pub fn values(&self) -> Vec<&str> {
        match &self.kind {
            LabelKind::Binary => vec!["0", "1"],
            LabelKind::Choice(choices) | LabelKind::Choices(choices) => {
                choices.iter().map(|choice| choice.id.as_str()).collect()
            }
        }
    }

    /// The values that a case offers. `events` is what its condition's event log shows, in the rubric's words; where no
    /// log is known (`None`) nothing can be excluded, so all values are offered.
    #[must_use]
    pub fn offered(&self, events: Option<&BTreeSet<String>>) -> Vec<&Choice> {
        let (LabelKind::Choice(choices) | LabelKind::Choices(choices)) = &self.kind else { return Vec::new() };
        let possible = |choice: &&Choice| match (&choice.needs, events) {
            (Some(event), Some(events)) => events.contains(event),
            _ => true,
        };
        choices.iter().filter(possible).collect()
    }

    /// The label with those values only that a case offers (see [`Label::offered`]).
    #[must_use]
    pub fn narrowed(&self, events: Option<&BTreeSet<String>>) -> Cow<'_, Self> {
        let offered: Vec<Choice> = self.offered(events).into_iter().cloned().collect();
        let kind = match &self.kind {
            LabelKind::Choice(all) if offered.len() < all.len() => LabelKind::Choice(offered),
            LabelKind::Choices(all) if offered.len() < all.len() => LabelKind::Choices(offered),
            _ => return Cow::Borrowed(self),
        };
        Cow::Owned(Self { kind, ..self.clone() })
    }
}

/// What kind of answer a label takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelKind {
    /// `0` or `1`.
    Binary,
    /// One of named values, at least two.
    Choice(Vec<Choice>),
    /// A set of at least one of named values, written `a+b` in alphabetical order.
    Choices(Vec<Choice>),
}

/// One value of a choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// As stored: lower-case letters, digits and `_`.
    pub id: String,
    /// For people.
    pub title: String,
    /// When to take it.
    pub help: String,
    /// What the condition's event log must show, or this value is impossible; a word of the rubric's own.
    pub needs: Option<String>,
    /// In a set of values: does it exclude all others?
    pub alone: bool,
}

/// To which cases a label applies. With nothing set: to all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AppliesTo {
    /// Only to these categories.
    pub categories: Option<BTreeSet<Category>>,
    /// Only to these strata.
    pub strata: Option<BTreeSet<StratumId>>,
    /// Only where the rater finds this to hold.
    pub when: Option<String>,
}

/// One way to read a published rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReadingOfLabel {
    /// Short name.
    pub id: String,
    /// The reading in words.
    pub text: String,
    /// Is it the one that this rubric's steps follow?
    pub used: bool,
}

/// A worked example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The case in short.
    pub case: String,
    /// The right answer, a valid one of the label.
    pub answer: crate::model::RatingValue,
    /// Why.
    pub why: String,
}

/// What must hold between the answers of one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Short name.
    pub id: String,
    /// What a breach does.
    pub severity: Severity,
    /// Why it must hold, as the end of a sentence.
    pub because: String,
    /// What must hold.
    pub kind: RuleKind,
}

/// The two forms of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// Where all of `given` hold, all of `then` must.
    Implies {
        /// The conditions.
        given: Vec<Term>,
        /// What follows.
        then: Vec<Term>,
    },
    /// A binary label is 1 where all terms hold, else 0; see [`super::derived_value`] for answers that are no value.
    Equals {
        /// The label that follows.
        label: LabelId,
        /// The terms.
        one_when: Vec<Term>,
    },
}

/// One condition of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// The answer to a label is this value.
    Label {
        /// The label.
        label: LabelId,
        /// The value, a valid one of the label.
        is: String,
    },
    /// The grader's verdict on the baseline.
    Verdict(Verdict),
    /// The case's category.
    Category(Category),
}
