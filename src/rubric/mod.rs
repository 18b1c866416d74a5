//! The rubric: the questions a rater answers, to which cases they apply, which answers are valid, and what must hold
//! between them. Everything that a sheet, a page or a prompt knows about a label comes from here.

mod applicability;
mod bundled;
mod consistency;
mod definition;
mod dialogue;
mod diff;
mod digest;
mod gold_turn;
mod lookup;
mod parse;
mod problem;
mod prompt;
mod schema;
mod spelling;
mod value;

pub use applicability::{Applicability, applicability};
pub use bundled::{BUNDLED, bundled, bundled_text};
pub use consistency::{CaseFacts, Violation, ViolationKind, check_case, derived_value};
pub use definition::{
    AppliesTo, Choice, Example, Label, LabelKind, NaPolicy, RationaleRule, ReadingOfLabel, Rubric, Rule, RuleKind,
    Severity, Shown, Term,
};
pub use dialogue::{DialogueRule, Window};
pub use diff::{LabelChange, RubricDiff, diff};
pub use gold_turn::{GoldTurnRule, gold_turn};
pub use parse::parse;
pub use problem::{Problem, ProblemKind, RubricError};
pub use prompt::{instructions, scaffold};
pub use schema::answer_schema;
pub use value::{Answer, ValueError, check_value};
