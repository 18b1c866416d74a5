//! Tests of the rule set `strict`.
