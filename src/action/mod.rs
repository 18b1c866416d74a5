//! Which action an emission is: tool-call forms, normalisation, cues in one automaton, and the rule set `paper`, which
//! reproduces the published classifier with its quirks.
//!
//! The order of a decision: a text form of a call; a value or text that the normaliser can rewrite as calls; for text the
//! cues, `refuse` before `ask` before `confirm`; else `other`. Blank texts and empty structures have no class.

mod called;
mod canonical;
mod classifier;
mod cues;
mod forms;
mod json;
#[cfg(test)]
mod json_tests;
mod literal;
mod literal_escape;
mod literal_parse;
#[cfg(test)]
mod literal_tests;
mod literal_token;
mod normalise;
#[cfg(test)]
mod paper_tests;
mod rule_set;
mod space;
mod strict;

pub use classifier::{CallForm, Classified, Classifier};
pub use cues::{CueError, CueMatch, CueTable};
pub use json::{JsonError, JsonProblem, JsonRepairs, lenient_json, lenient_json_with_repairs};
pub use normalise::normalise;
pub use rule_set::{RuleSet, RuleSetError};
pub use strict::{
    RuleEffect, RuleHit, StrictRule, StrictRules, StrictRulesError, StrictTable, StrictVerdict, strict, strict_json,
};

use serde_json::Value;

/// Classifies one saved emission under the rule set `paper`.
#[must_use]
pub fn classify(value: &Value) -> Classified {
    Classifier::paper().classify(value)
}

/// Classifies one saved emission, given as the JSON text of its value (in the lenient dialect), under the rule set `paper`.
///
/// # Errors
/// The text is not one JSON value.
pub fn classify_json(text: &str) -> Result<Classified, JsonError> {
    Classifier::paper().classify_json(text)
}
