//! One conversation of a chat log: what its line must hold, and its emissions.

use serde_json::{Map, Value, json};

use crate::model::{ActionClass, Category, Verdict};
use crate::tau2::{Message, ToolCall, read_message};

/// Fields of a line that are read; others are counted and not stored.
const FIELDS: [&str; 5] = ["id", "messages", "category", "gold_action", "verdict"];

/// A conversation.
#[derive(Debug, PartialEq)]
pub(super) struct ChatRecord {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// The user's own word for its kind.
    pub own_category: Option<String>,
    /// The kind of unit: by the gold action.
    pub category: Category,
    /// The verdict, if there is one.
    pub verdict: Option<Verdict>,
    /// All messages.
    pub messages: Vec<Message>,
    /// The user's words per turn.
    pub user_turns: Vec<String>,
    /// Turn → step → one JSON value.
    pub turns: Vec<Vec<String>>,
    /// What is odd.
    pub notes: Vec<&'static str>,
    /// A field that is not read.
    pub stranger: Option<String>,
}

/// Reads a line. The complaint names the field and what it must be, and quotes no value but a wrong word.
pub(super) fn read(object: &Map<String, Value>) -> Result<ChatRecord, String> {
    let Some(list) = object.get("messages") else {
        return Err("the field messages is missing".to_owned());
    };
    let Value::Array(list) = list else {
        return Err("messages is not a list".to_owned());
    };
    let own_category = word(object, "category")?;
    let gold = match word(object, "gold_action")? {
        Some(word) => Some(
            gold_of(&word)
                .ok_or_else(|| format!("gold_action is {:?}, not tool_call, refuse, ask or confirm", short(&word)))?,
        ),
        // A category of BFCL says what it asks for.
        None => own_category
            .as_deref()
            .and_then(|word| Category::ALL.into_iter().find(|known| known.as_str() == word))
            .map(Category::gold_action),
    };
    let mut record = ChatRecord {
        id: id(object)?,
        own_category,
        category: category_of(gold),
        verdict: verdict(object)?,
        messages: Vec::with_capacity(list.len()),
        user_turns: Vec::new(),
        turns: Vec::new(),
        notes: Vec::new(),
        stranger: object.keys().find(|key| !FIELDS.contains(&key.as_str())).cloned(),
    };
    if record.stranger.is_some() {
        record.notes.push("field that is not read");
    }
    for (index, value) in list.iter().enumerate() {
        let path = format!("messages[{index}]");
        let message = read_message(&modern(value), &path).map_err(|error| error.to_string())?;
        record.take(message);
    }
    if !record.messages.iter().any(|message| message.role == "assistant") {
        record.notes.push("conversation without a message of the agent");
    }
    Ok(record)
}

impl ChatRecord {
    fn take(&mut self, message: Message) {
        let text = message.content.as_deref().unwrap_or_default();
        match message.role.as_str() {
            "user" => {
                let answered = self.turns.last().is_some_and(|steps| !steps.is_empty());
                match self.user_turns.last_mut().filter(|_| !answered) {
                    // Two messages of the user in a row are one turn.
                    Some(words) => {
                        words.push('\n');
                        words.push_str(text);
                        self.notes.push("several messages of the user in a row");
                    }
                    None => {
                        self.user_turns.push(text.to_owned());
                        self.turns.push(Vec::new());
                    }
                }
            }
            "assistant" => {
                if self.turns.is_empty() {
                    // A greeting before the user says anything.
                    self.user_turns.push(String::new());
                    self.turns.push(Vec::new());
                    self.notes.push("the agent speaks first");
                }
                let mut steps = Vec::new();
                if !text.is_empty() {
                    steps.push(Value::String(text.to_owned()).to_string());
                }
                if !message.calls.is_empty() {
                    steps.push(Value::Array(message.calls.iter().map(call).collect()).to_string());
                }
                match steps.len() {
                    0 => self.notes.push("empty message of the agent"),
                    2 => self.notes.push("text beside calls (two emissions)"),
                    _ => {}
                }
                if let Some(turn) = self.turns.last_mut() {
                    turn.extend(steps);
                }
            }
            "system" | "developer" | "tool" => {}
            _ => self.notes.push("message of an unknown role"),
        }
        self.messages.push(message);
    }
}

fn call(call: &ToolCall) -> Value {
    json!({ "name": call.name, "arguments": call.arguments })
}

/// The older forms of OpenAI's messages in the words of the newer ones: `function_call`, the role `function`, and a
/// `refusal` in place of content.
fn modern(value: &Value) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let mut object = object.clone();
    if let Some(call) = object.remove("function_call").filter(|call| !call.is_null())
        && object.get("tool_calls").is_none_or(Value::is_null)
    {
        object.insert("tool_calls".to_owned(), json!([call]));
    }
    if object.get("role").and_then(Value::as_str) == Some("function") {
        object.insert("role".to_owned(), json!("tool"));
    }
    if object.get("content").is_none_or(Value::is_null)
        && let Some(refusal) = object.remove("refusal").filter(Value::is_string)
    {
        object.insert("content".to_owned(), refusal);
    }
    Value::Object(object)
}

fn word(object: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(word)) => Ok(Some(word.clone()).filter(|word| !word.is_empty())),
        Some(_) => Err(format!("{key} is not a text")),
    }
}

fn id(object: &Map<String, Value>) -> Result<Option<String>, String> {
    match object.get("id") {
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        _ => word(object, "id"),
    }
}

fn verdict(object: &Map<String, Value>) -> Result<Option<Verdict>, String> {
    let wrong = || "verdict is none of PASS, FAIL, true, false, 1, 0, null".to_owned();
    match object.get("verdict") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(true)) => Ok(Some(Verdict::Pass)),
        Some(Value::Bool(false)) => Ok(Some(Verdict::Fail)),
        Some(Value::Number(number)) => match number.as_f64() {
            Some(1.0) => Ok(Some(Verdict::Pass)),
            Some(0.0) => Ok(Some(Verdict::Fail)),
            _ => Err(wrong()),
        },
        Some(Value::String(word)) => match word.to_ascii_lowercase().as_str() {
            "" => Ok(None),
            "pass" | "passed" => Ok(Some(Verdict::Pass)),
            "fail" | "failed" => Ok(Some(Verdict::Fail)),
            _ => Err(wrong()),
        },
        Some(_) => Err(wrong()),
    }
}

fn gold_of(word: &str) -> Option<ActionClass> {
    ActionClass::parse(word).filter(|class| *class != ActionClass::Other)
}

fn category_of(gold: Option<ActionClass>) -> Category {
    match gold {
        Some(ActionClass::ToolCall) => Category::ChatToolCall,
        Some(ActionClass::Refuse) => Category::ChatRefuse,
        Some(ActionClass::Ask) => Category::ChatAsk,
        Some(ActionClass::Confirm) => Category::ChatConfirm,
        Some(ActionClass::Other) | None => Category::Chat,
    }
}

fn short(word: &str) -> String {
    word.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::needless_pass_by_value, reason = "the tests write their values in place")]
    fn record(value: Value) -> Result<ChatRecord, String> {
        read(value.as_object().expect("an object"))
    }

    #[test]
    fn turns_begin_with_the_user_and_hold_what_the_agent_says_and_calls() {
        let found = record(json!({
            "id": 7, "gold_action": "ask", "verdict": true, "category": "refunds",
            "messages": [
                { "role": "system", "content": "Be kind." },
                { "role": "assistant", "content": "Hello!" },
                { "role": "user", "content": [{ "type": "text", "text": "Refund it." }] },
                { "role": "user", "content": "Please." },
                { "role": "assistant", "content": "One moment.",
                  "tool_calls": [{ "id": "1", "type": "function", "function": { "name": "get", "arguments": "{\"a\": 1}" } }] },
                { "role": "tool", "tool_call_id": "1", "content": "Error: none" },
                { "role": "assistant", "content": null, "refusal": "I cannot." },
                { "role": "user", "content": "Why?" },
                { "role": "assistant", "function_call": { "name": "end", "arguments": "" } },
            ],
        }))
        .expect("read");
        assert_eq!(found.user_turns, ["", "Refund it.\nPlease.", "Why?"]);
        let turns: Vec<Vec<&str>> =
            found.turns.iter().map(|steps| steps.iter().map(String::as_str).collect()).collect();
        assert_eq!(turns[0], [r#""Hello!""#]);
        assert_eq!(turns[1], [r#""One moment.""#, r#"[{"name":"get","arguments":{"a":1}}]"#, r#""I cannot.""#]);
        assert_eq!(turns[2], [r#"[{"name":"end","arguments":""}]"#]);
        assert_eq!(
            (found.id.as_deref(), found.category, found.verdict),
            (Some("7"), Category::ChatAsk, Some(Verdict::Pass))
        );
        assert_eq!(found.own_category.as_deref(), Some("refunds"));
        assert!(found.messages[5].failed());
    }

    #[test]
    fn complaints_name_the_field() {
        let wrong = |value: Value| record(value).expect_err("refused");
        assert_eq!(wrong(json!({})), "the field messages is missing");
        assert_eq!(wrong(json!({ "messages": {} })), "messages is not a list");
        assert_eq!(wrong(json!({ "messages": [{ "content": "x" }] })), "messages[0].role is missing, not a text");
        let gold = json!({ "messages": [], "gold_action": "call" });
        assert_eq!(wrong(gold), "gold_action is \"call\", not tool_call, refuse, ask or confirm");
        assert!(wrong(json!({ "messages": [], "verdict": "maybe" })).starts_with("verdict is none of"));
    }

    #[test]
    fn a_category_of_the_benchmark_says_what_it_asks_for() {
        let of = |value: Value| record(value).expect("read").category;
        assert_eq!(of(json!({ "messages": [], "category": "miss_param" })), Category::ChatAsk);
        assert_eq!(
            of(json!({ "messages": [], "category": "miss_param", "gold_action": "refuse" })),
            Category::ChatRefuse
        );
        assert_eq!(of(json!({ "messages": [], "category": "mine" })), Category::Chat);
    }
}
