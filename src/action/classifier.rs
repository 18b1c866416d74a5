//! The classifier: forms, then the normaliser, then cues, and what it says about an emission.

use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::called;
use super::cues::{CueError, CueFinder, CueMatch, CueTable};
use super::forms::{TextForm, is_blank, text_form};
use super::json::{JsonError, lenient_json_with_repairs};
use super::normalise::{literal_calls, structured_calls};
use super::rule_set::{RuleSet, RuleSetError};
use super::strict::{StrictRules, strict, strict_json};
use crate::model::ActionClass;

/// In which shape an emission is a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallForm {
    /// A text that begins with `[name(`.
    PythonList,
    /// A text with `<tool_call` in it.
    XmlTag,
    /// A text that begins with `[{"name":`.
    JsonList,
    /// A text that begins with `{"name":"…",` and has arguments or parameters later.
    JsonObject,
    /// Another structure that the normaliser rewrites as a JSON list of calls: a value, or a text that holds one.
    NormalisedJson,
    /// A dictionary, or a list of dictionaries, whose keys are the tools (an API answer).
    ApiNames,
}

impl CallForm {
    /// All forms.
    pub const ALL: [Self; 6] =
        [Self::PythonList, Self::XmlTag, Self::JsonList, Self::JsonObject, Self::NormalisedJson, Self::ApiNames];

    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PythonList => "python_list",
            Self::XmlTag => "xml_tag",
            Self::JsonList => "json_list",
            Self::JsonObject => "json_object",
            Self::NormalisedJson => "normalised_json",
            Self::ApiNames => "api_names",
        }
    }

    /// Reads the written form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.as_str() == text)
    }
}

impl fmt::Display for CallForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<TextForm> for CallForm {
    fn from(form: TextForm) -> Self {
        match form {
            TextForm::PythonList => Self::PythonList,
            TextForm::XmlTag => Self::XmlTag,
            TextForm::JsonList => Self::JsonList,
            TextForm::JsonObject => Self::JsonObject,
        }
    }
}

/// What a classifier says about one emission.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Classified {
    /// The class; `None`: nothing to classify (a blank text, an empty list, null, …).
    pub class: Option<ActionClass>,
    /// In which shape it is a tool call; `None` for all other classes.
    pub form: Option<CallForm>,
    /// The cue that decided; `None` for `tool_call`, `other` and nothing.
    pub cue: Option<CueMatch>,
    /// The tools called, as far as the emission gives them away, in order and with repeats.
    pub calls: Vec<String>,
}

impl Classified {
    fn call(form: CallForm, calls: Vec<String>) -> Self {
        Self { class: Some(ActionClass::ToolCall), form: Some(form), cue: None, calls }
    }
}

/// The published classifier over a cue table, or the rule set `strict` on top of it.
pub struct Classifier {
    table: CueTable,
    finder: CueFinder,
    /// The rules of the set `strict`; `None`: the published classifier alone.
    strict: Option<StrictRules>,
}

static STRICT: LazyLock<Classifier> = LazyLock::new(|| {
    let paper =
        CueTable::parse(CueTable::PAPER).and_then(Classifier::new).expect("the compiled-in table is valid (tested)");
    Classifier { strict: Some(StrictRules::all()), ..paper }
});

static PAPER: LazyLock<Classifier> = LazyLock::new(|| {
    CueTable::parse(CueTable::PAPER).and_then(Classifier::new).expect("the compiled-in table is valid (tested)")
});

impl Classifier {
    /// A classifier with this table of cues.
    ///
    /// # Errors
    /// The table is too large for an automaton, or holds an entry that is no character.
    pub fn new(table: CueTable) -> Result<Self, CueError> {
        let finder = CueFinder::new(&table)?;
        Ok(Self { table, finder, strict: None })
    }

    /// The rule set `paper` over its compiled-in table, built once.
    #[must_use]
    pub fn paper() -> &'static Self {
        &PAPER
    }

    /// The compiled-in classifier of a rule set.
    ///
    /// # Errors
    /// The rule set is not available (all are, today).
    pub fn of(rules: RuleSet) -> Result<&'static Self, RuleSetError> {
        match rules {
            RuleSet::Paper => Ok(Self::paper()),
            RuleSet::Strict => Ok(&STRICT),
        }
    }

    /// The table of cues.
    #[must_use]
    pub fn table(&self) -> &CueTable {
        &self.table
    }

    /// Classifies one saved emission: a text, a list of calls, or whatever else a run file holds at that place.
    #[must_use]
    pub fn classify(&self, value: &Value) -> Classified {
        if let Some(rules) = &self.strict {
            return strict(value, rules).into();
        }
        match value {
            Value::String(text) => self.text(text, true),
            _ => structured(value),
        }
    }

    /// Classifies one saved emission given as the JSON text of its value, in the lenient dialect.
    ///
    /// # Errors
    /// The text is not one JSON value.
    pub fn classify_json(&self, text: &str) -> Result<Classified, JsonError> {
        if let Some(rules) = &self.strict {
            return strict_json(text, rules).map(Into::into);
        }
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            return Ok(self.classify(&value));
        }
        let (value, repairs) = lenient_json_with_repairs(text)?;
        Ok(match &value {
            // The reference release cannot read a text with a lone surrogate as Python.
            Value::String(text) => self.text(text, !repairs.lone_surrogates),
            _ => structured(&value),
        })
    }

    /// Classifies a text.
    #[must_use]
    pub fn classify_text(&self, text: &str) -> Classified {
        if let Some(rules) = &self.strict {
            return strict(&Value::String(text.to_owned()), rules).into();
        }
        self.text(text, true)
    }

    /// The form in which a text is a call by its shape alone (nothing is normalised), if it is one.
    #[must_use]
    pub fn call_form(text: &str) -> Option<CallForm> {
        text_form(text).map(Into::into)
    }

    /// A text as cues are compared with it: quotes made ASCII by the table, then lower-cased.
    #[must_use]
    pub fn comparable(&self, text: &str) -> String {
        self.finder.comparable(text)
    }

    /// Every cue of the table in a text, overlapping ones too.
    #[must_use]
    pub fn cues(&self, text: &str) -> Vec<CueMatch> {
        self.finder.all(text)
    }

    fn text(&self, text: &str, python: bool) -> Classified {
        if let Some(form) = text_form(text) {
            return Classified::call(form.into(), called::in_text(text, form));
        }
        if let Some(calls) = literal_calls(text, python) {
            return Classified::call(CallForm::NormalisedJson, calls.names);
        }
        if is_blank(text) {
            return Classified::default();
        }
        let cue = self.finder.decide(text);
        let class = cue.as_ref().map_or(ActionClass::Other, |cue| cue.class);
        Classified { class: Some(class), form: None, cue, calls: Vec::new() }
    }
}

fn structured(value: &Value) -> Classified {
    if let Some(names) = structured_calls(value) {
        return Classified::call(CallForm::NormalisedJson, names);
    }
    match called::api_names(value) {
        Some(names) if !names.is_empty() => Classified::call(CallForm::ApiNames, names),
        _ => Classified::default(),
    }
}
