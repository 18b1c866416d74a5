//! Is a text a valid answer to a label? Survives what spreadsheets do to cells, and says what it changed.

use super::spelling::did_you_mean;
use super::{Label, LabelKind, NaPolicy};
use crate::model::{LabelId, RatingValue};

/// A text that was read as an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The answer; `None`: not answered yet.
    pub value: Option<RatingValue>,
    /// The text as it stood, where it was not the written form of the value already.
    pub mapped_from: Option<String>,
}

/// Why a text is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// Not one of the label's answers.
    #[error("{found:?} is no answer to {label}")]
    NotAValue {
        /// The label.
        label: LabelId,
        /// The text, shortened.
        found: String,
        /// What it takes.
        allowed: Vec<String>,
    },
    /// A truth value where 0 or 1 was asked for.
    #[error("{found:?} is no answer to {label}: it takes 0 or 1")]
    TruthValue {
        /// The label.
        label: LabelId,
        /// The text.
        found: String,
    },
    /// A spreadsheet's error value.
    #[error("{found:?} in {label} is a spreadsheet's error, not an answer")]
    SpreadsheetError {
        /// The label.
        label: LabelId,
        /// The text.
        found: String,
    },
    /// *n.a.* for a label that applies to every case.
    #[error("{label} applies to every case, so n.a. is no answer")]
    AlwaysApplies {
        /// The label.
        label: LabelId,
        /// May it be answered with *cannot judge*?
        may_cannot_judge: bool,
    },
    /// *cannot judge* for a label that does not allow it.
    #[error("{label} cannot be answered with cannot_judge")]
    MustJudge {
        /// The label.
        label: LabelId,
    },
}

impl ValueError {
    /// What the rater can do.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NotAValue { found, allowed, .. } => did_you_mean(found, allowed.iter().map(String::as_str)),
            Self::TruthValue { .. } => "write 1 for yes and 0 for no; truth values are not guessed".to_owned(),
            Self::SpreadsheetError { .. } => "type n.a. as text if the label does not apply".to_owned(),
            Self::AlwaysApplies { may_cannot_judge: true, .. } => {
                "write cannot_judge where the text that the label asks about was not saved".to_owned()
            }
            Self::AlwaysApplies { .. } | Self::MustJudge { .. } => "choose one of the label's values".to_owned(),
        }
    }
}

/// Reads a text as an answer to a label. Repaired and reported in [`Answer::mapped_from`]: a byte order mark, blanks of
/// any kind around the answer, the apostrophe that marks text in a spreadsheet, `1.0` or `1,0` for `1`, full-width
/// digits, spellings of *n.a.* and *cannot judge*, letter case, blanks and hyphens in choices, and a choice's title
/// for its id. Truth values and spreadsheet errors are refused, not guessed. A blank text is no answer yet.
///
/// # Errors
/// Why the text is no answer to this label.
pub fn check_value(label: &Label, raw: &str) -> Result<Answer, ValueError> {
    let text = clean(raw);
    if text.is_empty() {
        return Ok(Answer { value: None, mapped_from: None });
    }
    let value = read(label, &text)?;
    let mapped_from = (value.as_str() != raw).then(|| raw.to_owned());
    Ok(Answer { value: Some(value), mapped_from })
}

fn read(label: &Label, text: &str) -> Result<RatingValue, ValueError> {
    match reserved(text) {
        Some(RatingValue::NotApplicable) if label.na == NaPolicy::Never => {
            return Err(ValueError::AlwaysApplies {
                label: label.id.clone(),
                may_cannot_judge: label.may_cannot_judge,
            });
        }
        Some(RatingValue::CannotJudge) if !label.may_cannot_judge => {
            return Err(ValueError::MustJudge { label: label.id.clone() });
        }
        Some(value) => return Ok(value),
        None => {}
    }
    let found = match &label.kind {
        LabelKind::Binary => binary(text),
        LabelKind::Choice(choices) => {
            let key = choice_key(text);
            let by_id = choices.iter().find(|choice| choice.id == key);
            by_id.or_else(|| choices.iter().find(|choice| choice_key(&choice.title) == key)).map(|c| c.id.as_str())
        }
    };
    found.map(|value| RatingValue::Value(value.to_owned())).ok_or_else(|| refusal(label, text))
}

fn refusal(label: &Label, text: &str) -> ValueError {
    let (label_id, found) = (label.id.clone(), shorten(text));
    let lower = text.to_lowercase();
    if label.kind == LabelKind::Binary && ["true", "false", "yes", "no", "y", "n"].contains(&lower.as_str()) {
        return ValueError::TruthValue { label: label_id, found };
    }
    let errors = ["#n/a", "#na", "#name?", "#value!", "#ref!", "#div/0!", "#null!", "#num!", "nan"];
    if errors.contains(&lower.as_str()) {
        return ValueError::SpreadsheetError { label: label_id, found };
    }
    ValueError::NotAValue { label: label_id, found, allowed: allowed(label) }
}

/// Every answer that a label takes, in its written form.
pub(super) fn allowed(label: &Label) -> Vec<String> {
    let mut answers: Vec<String> = label.values().into_iter().map(str::to_owned).collect();
    if label.na != NaPolicy::Never {
        answers.push(RatingValue::NOT_APPLICABLE.to_owned());
    }
    if label.may_cannot_judge {
        answers.push(RatingValue::CANNOT_JUDGE.to_owned());
    }
    answers
}

/// *n.a.* and *cannot judge* in the spellings that people use.
fn reserved(text: &str) -> Option<RatingValue> {
    let key: String =
        text.to_lowercase().chars().filter(|c| !c.is_whitespace() && !"._-/\\'\u{2019}".contains(*c)).collect();
    match key.as_str() {
        "na" | "notapplicable" => Some(RatingValue::NotApplicable),
        "cannotjudge" | "cantjudge" => Some(RatingValue::CannotJudge),
        _ => None,
    }
}

/// Would a choice of this name be mistaken for *n.a.* or *cannot judge*?
pub(super) fn is_reserved_answer(text: &str) -> bool {
    reserved(text).is_some()
}

/// `0` or `1`, also with decimals that are all zero.
fn binary(text: &str) -> Option<&'static str> {
    let (whole, decimals) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    if decimals.is_empty() || decimals.chars().any(|c| c != '0') {
        return None;
    }
    match whole {
        "0" => Some("0"),
        "1" => Some("1"),
        _ => None,
    }
}

/// A choice's name without letter case, with `_` for blanks and hyphens.
pub(super) fn choice_key(text: &str) -> String {
    let separated = |c: char| c.is_whitespace() || c == '_' || c == '-';
    let parts: Vec<&str> = text.split(separated).filter(|part| !part.is_empty()).collect();
    parts.join("_").to_lowercase()
}

/// Without the blanks, marks and full-width forms that editors and spreadsheets add.
fn clean(raw: &str) -> String {
    let blank = |c: char| c.is_whitespace() || c.is_control() || "\u{feff}\u{200b}\u{200c}\u{200d}\u{2060}".contains(c);
    let text = raw.trim_matches(blank);
    let text = text.strip_prefix('\'').unwrap_or(text).trim_matches(blank);
    text.chars()
        .map(|c| match u32::from(c) {
            code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(c),
            _ => c,
        })
        .collect()
}

fn shorten(text: &str) -> String {
    const LIMIT: usize = 60;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
