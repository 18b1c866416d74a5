//! What kinds of action a message of the agent shows. Other than in BFCL a message can have several labels, or none, and
//! the labels of a text are read on messages with calls too.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::action::{Classifier, RuleSet};
use crate::model::ActionClass;

/// The labels of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MessageLabels {
    /// It makes calls, or its text has the form of a call.
    pub tool_call: bool,
    /// It asks the user.
    pub ask: bool,
    /// It declines and does not ask.
    pub refuse: bool,
    /// It reports completion.
    pub confirm: bool,
    /// A call in text form only, which the benchmark never executes.
    pub text_form: bool,
    /// It asks under the rule set `strict`, whose ask rule is that of BFCL.
    pub strict_ask: bool,
}

impl MessageLabels {
    /// The labels as bits, in the order of the fields.
    #[must_use]
    pub fn bits(self) -> u8 {
        let flags = [self.tool_call, self.ask, self.refuse, self.confirm, self.text_form, self.strict_ask];
        flags.iter().enumerate().fold(0, |bits, (place, flag)| bits | (u8::from(*flag) << place))
    }

    /// The labels of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            tool_call: self.tool_call | other.tool_call,
            ask: self.ask | other.ask,
            refuse: self.refuse | other.refuse,
            confirm: self.confirm | other.confirm,
            text_form: self.text_form | other.text_form,
            strict_ask: self.strict_ask | other.strict_ask,
        }
    }
}

/// Cues of asking beside those of BFCL.
const ASK: [&str; 7] =
    ["please send", "could you send", "kindly send", "send me", "give me", "i'd like to know", "i would like to know"];

/// What makes a question a greeting or a farewell.
const COURTESY: [&str; 11] = [
    "how can i help",
    "how may i help",
    "how can i assist",
    "how may i assist",
    "what can i help",
    "what can i do for you",
    "what brings you",
    "is there anything else",
    "anything else i can",
    "anything else you need",
    "anything else for you",
];

/// What can have been done to a request, in the order of the published list.
const DONE: [&str; 15] = [
    "cancelled",
    "canceled",
    "booked",
    "updated",
    "submitted",
    "issued",
    "processed",
    "modified",
    "confirmed",
    "refunded",
    "exchanged",
    "returned",
    "added",
    "changed",
    "completed",
];

/// The completion phrases of the published list that do not end in one of [`DONE`].
const CONFIRM: [&str; 7] = [
    "request is in",
    "request has been",
    "transferred to a human agent",
    "transferring you to a human",
    "transferring to a human",
    "your refund will be",
    "your refund has been",
];

/// The 63 completion phrases: `has been` and `have been` with all 15 words, `i've` with all but the last, `i have` with
/// the first 12.
static PHRASES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let heads = [("has been", 15), ("have been", 15), ("i've", 14), ("i have", 12)];
    let made =
        heads.iter().flat_map(|(head, count)| DONE.iter().take(*count).map(move |word| format!("{head} {word}")));
    made.chain(CONFIRM.map(str::to_owned)).collect()
});

static FENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)```(?:[A-Za-z]*\n)?(.*?)```").expect("a fixed pattern"));
static SENTENCE_END: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[.!]+\s+").expect("a fixed pattern"));

/// The labels of a message of the agent: its text, and whether it makes calls.
#[must_use]
pub fn message_labels(content: Option<&str>, calls: bool) -> MessageLabels {
    let mut labels = MessageLabels { tool_call: calls, ..MessageLabels::default() };
    let text = unfenced(content.unwrap_or_default());
    let text = trim(&text);
    if text.is_empty() {
        return labels;
    }
    if Classifier::call_form(text).is_some() {
        labels.text_form = !calls;
        labels.tool_call = true;
    }
    let paper = Classifier::paper();
    let comparable = paper.comparable(text);
    let cues = paper.cues(text);
    // The question mark alone is no cue here: which questions count is decided below.
    let cue = |class: ActionClass| cues.iter().any(|cue| cue.class == class && cue.cue != "?");
    labels.ask = cue(ActionClass::Ask) || ASK.iter().any(|cue| comparable.contains(cue)) || asks(&comparable);
    labels.refuse = cue(ActionClass::Refuse) && !labels.ask;
    labels.confirm = PHRASES.iter().any(|phrase| comparable.contains(phrase.as_str()));
    labels.strict_ask = strict_ask(content.unwrap_or_default());
    labels
}

/// Under `strict` the text that the user saw is read: what a wrapper of JSON holds, not the wrapper.
fn strict_ask(content: &str) -> bool {
    let unwrapped = super::simulation::unwrapped(content);
    let text = unwrapped.as_deref().unwrap_or(content);
    let strict = Classifier::of(RuleSet::Strict).map(|classifier| classifier.classify_text(text).class);
    strict.ok().flatten() == Some(ActionClass::Ask)
}

/// A question in a sentence that is no courtesy. Sentences end at `.` or `!` and white space, not at `?`.
fn asks(text: &str) -> bool {
    let courteous = |piece: &str| COURTESY.iter().any(|pattern| piece.contains(pattern));
    text.contains('?') && SENTENCE_END.split(text).any(|piece| piece.contains('?') && !courteous(piece))
}

/// Every fenced block replaced by its trimmed inside.
fn unfenced(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains("```") {
        return text.into();
    }
    FENCE.replace_all(text, |found: &regex::Captures<'_>| {
        trim(found.get(1).map_or("", |inside| inside.as_str())).to_owned()
    })
}

/// Without white space at the ends, as the reference release's language sees it.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> [bool; 4] {
        let found = message_labels(Some(text), false);
        [found.tool_call, found.ask, found.refuse, found.confirm]
    }

    #[test]
    fn the_published_lists_have_63_and_7_phrases() {
        assert_eq!((PHRASES.len(), ASK.len(), COURTESY.len()), (63, 7, 11));
        assert!(PHRASES.contains(&"i have returned".to_owned()));
        assert!(!PHRASES.contains(&"i have added".to_owned()));
        assert!(!PHRASES.contains(&"i've completed".to_owned()));
    }

    /// The rules of the reference release, one example each; a message may have several labels or none.
    #[test]
    fn labels_follow_the_published_rules() {
        assert_eq!(labels("Hi! How can I help you today?"), [false; 4]);
        assert_eq!(labels("Done. Is there anything else?"), [false; 4]);
        // A real question after a greeting in one piece is lost: pieces do not end at a question mark.
        assert_eq!(labels("How can I help you? Which order"), [false; 4]);
        assert_eq!(labels("How can I help you! Which order?"), [false, true, false, false]);
        assert_eq!(labels("I cannot do that."), [false, false, true, false]);
        assert_eq!(labels("I cannot do that. Which order?"), [false, true, false, false]);
        assert_eq!(labels("Your order has been cancelled."), [false, false, false, true]);
        assert_eq!(labels("I\u{2019}ve booked it. Please send me the code."), [false, true, false, true]);
        assert_eq!(labels("```json\n[{\"name\": \"f\"}]\n```"), [true, false, false, false]);
        assert_eq!(labels("``` \n ```"), [false; 4]);
        assert_eq!(labels("Noted."), [false; 4]);
    }

    #[test]
    fn a_call_in_text_form_is_shown_as_one() {
        assert!(message_labels(Some("[f(x=1)]"), false).text_form);
        assert!(!message_labels(Some("[f(x=1)]"), true).text_form);
        assert!(message_labels(None, true).tool_call);
        assert_eq!(message_labels(None, false), MessageLabels::default());
    }

    #[test]
    fn strict_reads_through_a_wrapper_of_json() {
        let wrapped = r#"{"message": "Anything else?"}"#;
        assert!(
            message_labels(Some(wrapped), false).strict_ask == message_labels(Some("Anything else?"), false).strict_ask
        );
        assert!(message_labels(Some(r#"{"message": "Which order number is it?"}"#), false).strict_ask);
    }
}
