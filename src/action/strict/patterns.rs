//! The phrases of the rule set `strict`, read from their table and compiled once.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::digest::Canonical;

/// The table of phrases as data: per field a list of regular expressions (`strict.toml` says how they are written).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrictTable {
    rules: String,
    question_marks: Vec<String>,
    negated_refusal: Vec<String>,
    speaker: Vec<String>,
    attempt: Vec<String>,
    request: Vec<String>,
    capability: Vec<String>,
    call_report: Vec<String>,
    state: Vec<String>,
    refusal_for_input: Vec<String>,
    uncued_refusal: Vec<String>,
    courtesy_question: Vec<String>,
    offer: Vec<String>,
    conditional_offer: Vec<String>,
    ask_core: Vec<String>,
    open_question: Vec<String>,
    statement_cues: Vec<String>,
    plan_cues: Vec<String>,
    question_verbs: Vec<String>,
    incomplete: Vec<String>,
    ask_without_mark: Vec<String>,
    uncued_completion: Vec<String>,
}

impl StrictTable {
    /// The table, compiled in.
    pub const STRICT: &str = include_str!("strict.toml");

    /// Digest of the parsed table, so that comments and layout do not matter.
    ///
    /// # Errors
    /// The text is not such a table.
    pub fn digest(toml: &str) -> Result<String, toml::de::Error> {
        let table: Self = toml::from_str(toml)?;
        let mut canonical = Canonical::new("strict-table").text(&table.rules).list(&table.question_marks);
        for list in table.lists() {
            canonical = canonical.list(list);
        }
        Ok(canonical.finish())
    }

    fn lists(&self) -> [&[String]; 20] {
        [
            &self.negated_refusal,
            &self.speaker,
            &self.attempt,
            &self.request,
            &self.capability,
            &self.call_report,
            &self.state,
            &self.refusal_for_input,
            &self.uncued_refusal,
            &self.courtesy_question,
            &self.offer,
            &self.conditional_offer,
            &self.ask_core,
            &self.open_question,
            &self.statement_cues,
            &self.plan_cues,
            &self.question_verbs,
            &self.incomplete,
            &self.ask_without_mark,
            &self.uncued_completion,
        ]
    }
}

/// The compiled table.
pub(super) struct Patterns {
    pub(super) question_marks: Vec<char>,
    pub(super) negated_refusal: Regex,
    pub(super) speaker: Regex,
    pub(super) attempt: Regex,
    pub(super) request: Regex,
    pub(super) capability: Regex,
    pub(super) call_report: Regex,
    pub(super) state: Regex,
    pub(super) refusal_for_input: Regex,
    pub(super) uncued_refusal: Regex,
    pub(super) courtesy_question: Regex,
    pub(super) offer: Regex,
    pub(super) conditional_offer: Regex,
    pub(super) ask_core: Regex,
    pub(super) open_question: Regex,
    pub(super) statement_cues: Vec<String>,
    pub(super) plan_cues: Vec<String>,
    pub(super) question_verbs: Vec<String>,
    pub(super) incomplete: Regex,
    pub(super) ask_without_mark: Regex,
    pub(super) uncued_completion: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let table: StrictTable = toml::from_str(StrictTable::STRICT).expect("the compiled-in table is valid (tested)");
    Patterns::compile(&table).expect("the compiled-in phrases are valid (tested)")
});

impl Patterns {
    pub(super) fn strict() -> &'static Self {
        &PATTERNS
    }

    fn compile(table: &StrictTable) -> Result<Self, regex::Error> {
        Ok(Self {
            question_marks: table.question_marks.iter().filter_map(|mark| mark.chars().next()).collect(),
            negated_refusal: any(&table.negated_refusal)?,
            speaker: any(&table.speaker)?,
            attempt: any(&table.attempt)?,
            request: any(&table.request)?,
            capability: any(&table.capability)?,
            call_report: any(&table.call_report)?,
            state: any(&table.state)?,
            refusal_for_input: any(&table.refusal_for_input)?,
            uncued_refusal: any(&table.uncued_refusal)?,
            courtesy_question: any(&table.courtesy_question)?,
            offer: any(&table.offer)?,
            conditional_offer: any(&table.conditional_offer)?,
            ask_core: any(&table.ask_core)?,
            open_question: any(&table.open_question)?,
            statement_cues: table.statement_cues.clone(),
            plan_cues: table.plan_cues.clone(),
            question_verbs: table.question_verbs.clone(),
            incomplete: any(&table.incomplete)?,
            ask_without_mark: any(&table.ask_without_mark)?,
            uncued_completion: any(&table.uncued_completion)?,
        })
    }
}

/// One expression for a list of phrases.
fn any(phrases: &[String]) -> Result<Regex, regex::Error> {
    let alternatives: Vec<String> = phrases
        .iter()
        .map(|phrase| format!("(?:{})", phrase.replace('\'', "['\u{2018}\u{2019}\u{201a}\u{201b}\u{b4}\u{2bc}]")))
        .map(|phrase| spaces(&phrase))
        .collect();
    regex::RegexBuilder::new(&alternatives.join("|")).case_insensitive(true).size_limit(1 << 24).build()
}

/// Lets a space of a phrase stand for a run of spaces, and a space with `?` behind it for a run or nothing.
fn spaces(phrase: &str) -> String {
    // A word border between ASCII characters: the phrases are English, and the fast engine knows no other.
    let phrase = phrase.replace(r"\b", r"(?-u:\b)");
    phrase.replace(" ?", "\0").replace(' ', r"[\x20\t]+").replace('\0', r"[\x20\t]*")
}
