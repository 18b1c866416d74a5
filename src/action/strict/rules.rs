//! The rules of the set `strict`: what each is called, and which of them are on.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// One rule of the set `strict`. `docs/rules.md` has an example that each accepts and one that it rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrictRule {
    /// A written call counts only where its names and arguments can be read.
    DecoderValidCall,
    /// Shapes of a result (`{"result": {…}}`) are no calls.
    ResultLikeJson,
    /// Calls that decoders read and the published forms miss: bare, dotted, fenced.
    MoreCallForms,
    /// Nothing counts inside `<think>` blocks.
    ThinkBlock,
    /// Nothing counts inside code fences and inline code.
    Code,
    /// Nothing counts inside web addresses.
    Url,
    /// Nothing counts inside quoted tool output.
    ToolOutput,
    /// Nothing counts inside quoted text and fields that show text.
    QuotedText,
    /// "cannot be undone", "if you cannot": negations that decline nothing.
    NegatedRefusal,
    /// An inability that lies in the state of the world, or an error that is passed on.
    ReportedError,
    /// "I cannot go on without the name": asks for a value and declines nothing.
    RefusalForInput,
    /// Refusals that no listed cue finds.
    UncuedRefusal,
    /// "Anything else?"
    CourtesyQuestion,
    /// "Would you like me to …?", "Let me know if …"
    Offer,
    /// Ask cues inside statements: "what is the" without a question.
    StatementCue,
    /// Requests for a value without a question mark or a listed cue.
    AskWithoutMark,
    /// Question marks of other scripts.
    QuestionMarks,
    /// Reports of completion that no listed cue finds.
    UncuedCompletion,
    /// The gold action counts only from the gold turn up to the return or the supply. A rule about cases.
    GoldWindow,
}

impl StrictRule {
    /// All rules, in the order in which they are documented.
    pub const ALL: [Self; 19] = [
        Self::DecoderValidCall,
        Self::ResultLikeJson,
        Self::MoreCallForms,
        Self::ThinkBlock,
        Self::Code,
        Self::Url,
        Self::ToolOutput,
        Self::QuotedText,
        Self::NegatedRefusal,
        Self::ReportedError,
        Self::RefusalForInput,
        Self::UncuedRefusal,
        Self::CourtesyQuestion,
        Self::Offer,
        Self::StatementCue,
        Self::AskWithoutMark,
        Self::QuestionMarks,
        Self::UncuedCompletion,
        Self::GoldWindow,
    ];

    /// The rule's id.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DecoderValidCall => "decoder-valid-call",
            Self::ResultLikeJson => "result-like-json",
            Self::MoreCallForms => "more-call-forms",
            Self::ThinkBlock => "think-block",
            Self::Code => "code",
            Self::Url => "url",
            Self::ToolOutput => "tool-output",
            Self::QuotedText => "quoted-text",
            Self::NegatedRefusal => "negated-refusal",
            Self::ReportedError => "reported-error",
            Self::RefusalForInput => "refusal-for-input",
            Self::UncuedRefusal => "uncued-refusal",
            Self::CourtesyQuestion => "courtesy-question",
            Self::Offer => "offer",
            Self::StatementCue => "statement-cue",
            Self::AskWithoutMark => "ask-without-mark",
            Self::QuestionMarks => "question-marks",
            Self::UncuedCompletion => "uncued-completion",
            Self::GoldWindow => "gold-window",
        }
    }

    /// Reads a rule's id.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == text)
    }
}

impl fmt::Display for StrictRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A list of rules that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no rule {0:?}; the rules are {list}", list = StrictRule::ALL.map(StrictRule::as_str).join(", "))]
pub struct StrictRulesError(pub String);

/// Which rules are on. The default is all; with none, `strict` gives the classes of `paper`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StrictRules(BTreeSet<StrictRule>);

impl Default for StrictRules {
    fn default() -> Self {
        Self::all()
    }
}

impl StrictRules {
    /// All rules.
    #[must_use]
    pub fn all() -> Self {
        Self(StrictRule::ALL.into())
    }

    /// No rule.
    #[must_use]
    pub fn none() -> Self {
        Self(BTreeSet::new())
    }

    /// Reads a list of ids, separated by commas or white space. `all` and `none` start from everything or nothing; an id
    /// adds its rule and `-id` takes it away. A list that begins with neither starts from nothing, or from everything if
    /// its first entry takes a rule away. An empty list is everything.
    ///
    /// # Errors
    /// An id that is no rule's.
    pub fn parse(text: &str) -> Result<Self, StrictRulesError> {
        let words: Vec<&str> = text.split([',', ' ', '\t', '\n']).filter(|word| !word.is_empty()).collect();
        let mut rules = match words.first() {
            Some(first) if !first.starts_with('-') => Self::none(),
            _ => Self::all(),
        };
        for word in words {
            match word {
                "all" => rules = Self::all(),
                "none" => rules = Self::none(),
                _ => {
                    let (id, on) = word.strip_prefix('-').map_or((word, true), |id| (id, false));
                    let rule = StrictRule::parse(id).ok_or_else(|| StrictRulesError(id.to_owned()))?;
                    if on {
                        rules.0.insert(rule);
                    } else {
                        rules.0.remove(&rule);
                    }
                }
            }
        }
        Ok(rules)
    }

    /// Is a rule on?
    #[must_use]
    pub fn has(&self, rule: StrictRule) -> bool {
        self.0.contains(&rule)
    }

    /// The same rules with one switched on.
    #[must_use]
    pub fn with(mut self, rule: StrictRule) -> Self {
        self.0.insert(rule);
        self
    }

    /// The same rules with one switched off.
    #[must_use]
    pub fn without(mut self, rule: StrictRule) -> Self {
        self.0.remove(&rule);
        self
    }

    /// The rules that are on, in the order of the documentation.
    pub fn iter(&self) -> impl Iterator<Item = StrictRule> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_and_are_those_of_serde() {
        for rule in StrictRule::ALL {
            assert_eq!(StrictRule::parse(rule.as_str()), Some(rule));
            assert_eq!(serde_json::to_value(rule).expect("a rule"), rule.as_str());
        }
        assert_eq!(StrictRules::all().iter().count(), StrictRule::ALL.len(), "no rule is listed twice");
    }

    #[test]
    fn lists_add_and_take_away() {
        let parse = |text: &str| StrictRules::parse(text).expect("valid");
        assert_eq!(parse(""), StrictRules::all());
        assert_eq!(parse("all"), StrictRules::all());
        assert_eq!(parse("none"), StrictRules::none());
        assert_eq!(parse("offer, url"), StrictRules::none().with(StrictRule::Offer).with(StrictRule::Url));
        assert_eq!(parse("-offer"), StrictRules::all().without(StrictRule::Offer));
        assert_eq!(parse("all -offer offer"), StrictRules::all());
        assert_eq!(StrictRules::parse("offers").map_err(|error| error.0), Err("offers".to_owned()));
    }
}
