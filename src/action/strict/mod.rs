//! The rule set `strict`: the published classifier with rules on top, each with a name and a switch.
//!
//! A rule ignores a cue that the published table finds, or adds one that it misses; without any rule the classes are those
//! of `paper`. What each rule did to an emission is part of the answer.

mod calls;
mod cues;
mod masks;
mod patterns;
mod rules;
mod sentences;
#[cfg(test)]
mod tests;
mod verdict;

pub use patterns::StrictTable;
pub use rules::{StrictRule, StrictRules, StrictRulesError};
pub use verdict::{RuleEffect, RuleHit, StrictVerdict, strict, strict_json};
