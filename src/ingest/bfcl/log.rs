//! The run's own log (`inference_log`): the user's words per turn, and the turn at which held-out tools came back.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The words that BFCL puts in the user's mouth when held-out tools come back.
const RETURN_PHRASE: &str = "I have updated some more functions you can choose from";

/// What a log tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunLog {
    /// The user's words per turn.
    pub user_turns: Vec<String>,
    /// The first turn at which the user says that tools came back.
    pub return_turn: Option<u32>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// A turn of the log; its steps are passed over.
#[derive(Deserialize)]
struct Turn<'a> {
    #[serde(borrow)]
    begin_of_turn_query: Vec<Message<'a>>,
}

/// Reads a log; `None` where it has another shape (old or foreign logs are left out, never guessed at).
pub fn read_log(json: &str) -> Option<RunLog> {
    let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    let mut log = RunLog::default();
    for item in items {
        if !item.get().starts_with('{') {
            continue;
        }
        let turn: Turn<'_> = serde_json::from_str(item.get()).ok()?;
        let words: Vec<String> =
            turn.begin_of_turn_query.iter().filter(|message| has_role(message, "user")).map(content).collect();
        let words = words.join("\n");
        if log.return_turn.is_none() && words.contains(RETURN_PHRASE) {
            log.return_turn = u32::try_from(log.user_turns.len()).ok();
        }
        log.user_turns.push(words);
    }
    (!log.user_turns.is_empty()).then_some(log)
}

fn has_role(message: &Message<'_>, role: &str) -> bool {
    message.role.is_some_and(|raw| raw.get().trim_matches('"') == role)
}

/// The text of a message; content that is not a text (a list of parts, null) is given as its JSON.
fn content(message: &Message<'_>) -> String {
    let Some(json) = message.content.map(RawValue::get) else { return String::new() };
    serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned())
}

/// Does this turn's text say that held-out tools came back?
pub(super) fn announces_return(words: &str) -> bool {
    words.contains(RETURN_PHRASE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gives_the_users_words_and_the_turn_of_return() {
        let json = r#"[[{"role":"state_info","content":{}}],
          {"begin_of_turn_query":[{"role":"system","content":"tools"},{"role":"user","content":"Go"}],
           "step_1":[{"role":"tool","content":"second"}],
           "step_0":[{"role":"assistant","content":[{"ls":"{}"}]},{"role":"tool","content":"first"}]},
          {"begin_of_turn_query":[{"role":"user","content":"[]\nI have updated some more functions you can choose from. What about now?"}]}]"#;
        let log = read_log(json).expect("readable");
        assert_eq!(log.user_turns[0], "Go");
        assert_eq!(log.return_turn, Some(1));
    }

    #[test]
    fn another_shape_is_left_out() {
        assert_eq!(read_log("{}"), None);
        assert_eq!(read_log("[]"), None);
        assert_eq!(read_log(r#"[{"query":1}]"#), None);
    }
}
