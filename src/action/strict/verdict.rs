//! The verdict of the rule set `strict` on an emission: is it a call, and if not, which cues are left.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::classifier::{CallForm, Classified, Classifier};
use super::super::cues::CueMatch;
use super::super::forms::is_blank;
use super::super::json::{JsonError, lenient_json_with_repairs};
use super::super::space::trim;
use super::calls::{fenced, holds_arguments, is_tool_name, json_calls, python_calls, tag_calls};
use super::cues::text_class;
use super::masks::Masks;
use super::rules::{StrictRule, StrictRules};
use crate::model::ActionClass;

/// What a rule did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// It ignored a cue of this class, or a call.
    Ignores(ActionClass),
    /// It added a cue of this class, or a call.
    Adds(ActionClass),
}

impl RuleEffect {
    /// The class that was ignored or added.
    #[must_use]
    pub fn class(self) -> ActionClass {
        match self {
            Self::Ignores(class) | Self::Adds(class) => class,
        }
    }
}

/// A rule at work in an emission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleHit {
    /// The rule.
    pub rule: StrictRule,
    /// The cue or phrase (for a call its form).
    pub cue: String,
    /// Where it begins, in bytes of the original text; 0 for a value that is no text.
    pub offset: usize,
    /// What the rule did with it.
    pub effect: RuleEffect,
}

/// What the rule set `strict` says about one emission.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StrictVerdict {
    /// The class; `None`: nothing to classify.
    pub class: Option<ActionClass>,
    /// In which shape it is a tool call.
    pub form: Option<CallForm>,
    /// The cue that decided.
    pub cue: Option<CueMatch>,
    /// The tools called.
    pub calls: Vec<String>,
    /// Every rule that ignored or added something, in the order of the text.
    pub fired: Vec<RuleHit>,
}

impl From<StrictVerdict> for Classified {
    fn from(verdict: StrictVerdict) -> Self {
        Self { class: verdict.class, form: verdict.form, cue: verdict.cue, calls: verdict.calls }
    }
}

/// Classifies one saved emission under the rule set `strict` with some of its rules.
#[must_use]
pub fn strict(value: &Value, rules: &StrictRules) -> StrictVerdict {
    let paper = Classifier::paper().classify(value);
    match value {
        Value::String(text) => of_text(text, paper, rules),
        _ => of_value(value, paper, rules),
    }
}

/// Classifies one saved emission, given as the JSON text of its value in the lenient dialect.
///
/// # Errors
/// The text is not one JSON value.
pub fn strict_json(text: &str, rules: &StrictRules) -> Result<StrictVerdict, JsonError> {
    let paper = Classifier::paper().classify_json(text)?;
    let value = match serde_json::from_str::<Value>(text) {
        Ok(value) => value,
        Err(_) => lenient_json_with_repairs(text)?.0,
    };
    Ok(match &value {
        Value::String(text) => of_text(text, paper, rules),
        _ => of_value(&value, paper, rules),
    })
}

/// The keys of an object that is a result, an answer or a message rather than a tool.
const RESULT_KEYS: [&str; 16] = [
    "result",
    "results",
    "response",
    "output",
    "outputs",
    "error",
    "errors",
    "status",
    "message",
    "data",
    "content",
    "text",
    "answer",
    "observation",
    "value",
    "thought",
];

fn is_result(names: &[String]) -> bool {
    names.iter().any(|name| RESULT_KEYS.contains(&name.to_ascii_lowercase().as_str()))
}

fn call(form: CallForm, calls: Vec<String>, fired: Vec<RuleHit>) -> StrictVerdict {
    StrictVerdict { class: Some(ActionClass::ToolCall), form: Some(form), cue: None, calls, fired }
}

fn hit(rule: StrictRule, form: CallForm, offset: usize, effect: fn(ActionClass) -> RuleEffect) -> RuleHit {
    RuleHit { rule, cue: form.as_str().to_owned(), offset, effect: effect(ActionClass::ToolCall) }
}

/// A value that is no text: calls by its keys.
fn of_value(value: &Value, paper: Classified, rules: &StrictRules) -> StrictVerdict {
    let Some(form) = paper.form else {
        return StrictVerdict { class: paper.class, ..StrictVerdict::default() };
    };
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let readable = match form {
        CallForm::ApiNames => items
            .iter()
            .filter_map(Value::as_object)
            .all(|item| item.iter().all(|(name, arguments)| is_tool_name(name) && holds_arguments(arguments))),
        _ => paper.calls.iter().all(|name| is_tool_name(name)),
    };
    let refused = if rules.has(StrictRule::ResultLikeJson) && is_result(&paper.calls) {
        Some(StrictRule::ResultLikeJson)
    } else if rules.has(StrictRule::DecoderValidCall) && !readable {
        Some(StrictRule::DecoderValidCall)
    } else {
        None
    };
    match refused {
        Some(rule) => StrictVerdict {
            class: Some(ActionClass::Other),
            fired: vec![hit(rule, form, 0, RuleEffect::Ignores)],
            ..StrictVerdict::default()
        },
        None => call(form, paper.calls, Vec::new()),
    }
}

fn of_text(text: &str, paper: Classified, rules: &StrictRules) -> StrictVerdict {
    if is_blank(text) {
        return StrictVerdict::default();
    }
    // The text without its reasoning, for whatever looks for calls.
    let unthought = if rules.has(StrictRule::ThinkBlock) && text.contains("think>") {
        Masks::of(text, &StrictRules::none().with(StrictRule::ThinkBlock)).text
    } else {
        text.to_owned()
    };
    let mut fired = Vec::new();
    if let Some(form) = paper.form {
        match written_call(&unthought, form, paper, rules) {
            Ok(calls) => return call(form, calls, fired),
            Err(rule) => fired.push(hit(rule, form, text.len() - text.trim_start().len(), RuleEffect::Ignores)),
        }
    }
    if rules.has(StrictRule::MoreCallForms)
        && !fired.iter().any(|hit| hit.rule == StrictRule::ResultLikeJson)
        && let Some((form, calls)) = more_forms(&unthought)
        && !(rules.has(StrictRule::ResultLikeJson) && is_result(&calls))
    {
        let offset = unthought.len() - unthought.trim_start().len();
        fired.push(hit(StrictRule::MoreCallForms, form, offset, RuleEffect::Adds));
        return call(form, calls, fired);
    }
    let (class, cue) = text_class(text, rules, &mut fired);
    fired.sort_by_key(|hit| hit.offset);
    StrictVerdict { class: Some(class), form: None, cue, calls: Vec::new(), fired }
}

/// The tools of a text in a published form, or the rule that refuses it.
fn written_call(
    unthought: &str,
    form: CallForm,
    paper: Classified,
    rules: &StrictRules,
) -> Result<Vec<String>, StrictRule> {
    if rules.has(StrictRule::ResultLikeJson) && form == CallForm::NormalisedJson && is_result(&paper.calls) {
        return Err(StrictRule::ResultLikeJson);
    }
    if form == CallForm::XmlTag
        && rules.has(StrictRule::ThinkBlock)
        && !unthought.to_ascii_lowercase().contains("<tool_call")
    {
        return Err(StrictRule::ThinkBlock);
    }
    if !rules.has(StrictRule::DecoderValidCall) {
        return Ok(paper.calls);
    }
    let found = match form {
        CallForm::PythonList => python_calls(unthought, false),
        CallForm::XmlTag => Some(tag_calls(unthought)).filter(|names| !names.is_empty()),
        CallForm::NormalisedJson => paper.calls.iter().all(|name| is_tool_name(name)).then_some(paper.calls),
        CallForm::JsonList | CallForm::JsonObject | CallForm::ApiNames => json_calls(unthought),
    };
    found.ok_or(StrictRule::DecoderValidCall)
}

/// Calls that decoders read and the published forms miss: behind a reasoning block, inside a fence, with dotted names, or
/// without the outer bracket.
fn more_forms(unthought: &str) -> Option<(CallForm, Vec<String>)> {
    let body = fenced(unthought).unwrap_or_else(|| trim(unthought));
    if body.starts_with(['[', '{'])
        && let Some(names) = json_calls(body)
    {
        return Some((CallForm::JsonList, names));
    }
    if !body.ends_with([')', ']']) {
        return None;
    }
    python_calls(body, true).map(|names| (CallForm::PythonList, names))
}
