//! The body of a reply: a chat completion, or an error that says what to do next.

use serde_json::Value;

/// A chat completion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_field_names, reason = "the server's own names")]
pub(super) struct Completion {
    pub content: String,
    pub refusal: Option<String>,
    pub finish_reason: Option<String>,
    pub model: Option<String>,
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
}

/// Reads a completion; `Err`: the body is none.
pub(super) fn completion(body: &str) -> Result<Completion, String> {
    let value: Value = serde_json::from_str(body).map_err(|error| format!("the reply is no JSON: {error}"))?;
    let choice = value.pointer("/choices/0").ok_or("the reply holds no choice")?;
    let message = choice.get("message").ok_or("the reply's choice holds no message")?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let content = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        // Content in parts, as some servers send it.
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    };
    let tokens = |name: &str| value.get("usage")?.get(name)?.as_u64();
    Ok(Completion {
        content,
        refusal: text(message.get("refusal")).filter(|refusal| !refusal.trim().is_empty()),
        finish_reason: text(choice.get("finish_reason")),
        model: text(value.get("model")),
        prompt_tokens: tokens("prompt_tokens"),
        completion_tokens: tokens("completion_tokens"),
    })
}

/// The part of a reply that is meant as the answer: what follows a block of thoughts, if there is one.
pub(super) fn spoken(content: &str) -> &str {
    content.rsplit_once("</think>").map_or(content, |(_, answer)| answer)
}

/// What a status and its body mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Read it.
    Answered,
    /// Send it again later.
    Later(String),
    /// The server does not know `response_format` with a schema.
    NoSchema(String),
    /// The case does not fit into the model's context.
    TooLong(String),
    /// The server's filter refuses the case.
    Filtered(String),
    /// No request of this kind will be answered: stop.
    Never(String),
}

/// Reads a status and its body. `structured`: was a schema sent?
pub(super) fn meaning(status: u16, body: &str, structured: bool) -> Meaning {
    if (200..300).contains(&status) {
        return Meaning::Answered;
    }
    let lower = body.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let said = format!("HTTP {status}: {}", server_message(body));
    let about_schema = ["response_format", "json_schema", "structured output", "json schema", "guided", "grammar"];
    if structured && matches!(status, 400 | 404 | 415 | 422 | 500 | 501) && has(&about_schema) {
        return Meaning::NoSchema(said);
    }
    let too_long =
        ["context length", "context_length", "maximum context", "context window", "too long", "too many tokens"];
    if status == 413 || (matches!(status, 400 | 422) && has(&too_long)) {
        return Meaning::TooLong(said);
    }
    if matches!(status, 400 | 422) && has(&["content_filter", "content_policy", "content management policy"]) {
        return Meaning::Filtered(said);
    }
    if status == 429 && has(&["insufficient_quota", "billing"]) {
        return Meaning::Never(said);
    }
    match status {
        408 | 409 | 425 | 429 | 500 | 502..=599 => Meaning::Later(said),
        _ => Meaning::Never(said),
    }
}

/// The server's own words about an error, shortened.
pub(super) fn server_message(body: &str) -> String {
    const LIMIT: usize = 300;
    let value: Option<Value> = serde_json::from_str(body).ok();
    let paths = ["/error/message", "/message", "/detail", "/error"];
    let found = value.as_ref().and_then(|value| paths.iter().find_map(|path| value.pointer(path)?.as_str()));
    let text = found.unwrap_or(body).trim();
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None if text.is_empty() => "(no message)".to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape of OpenAI's published example of a chat completion, and of vLLM's and llama.cpp's replies.
    #[test]
    fn completions_are_read() {
        let body = r#"{"id":"chatcmpl-1","object":"chat.completion","model":"m-2024","choices":[{"index":0,"message":
            {"role":"assistant","content":"{}","refusal":null},"finish_reason":"stop"}],
            "usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#;
        let read = completion(body).expect("a completion");
        assert_eq!((read.content.as_str(), read.refusal, read.finish_reason.as_deref()), ("{}", None, Some("stop")));
        assert_eq!(
            (read.prompt_tokens, read.completion_tokens, read.model.as_deref()),
            (Some(9), Some(12), Some("m-2024"))
        );
        let parts = r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}"#;
        assert_eq!(completion(parts).expect("parts").content, "ab");
        let refused = r#"{"choices":[{"message":{"content":null,"refusal":"I can't."}}]}"#;
        assert_eq!(completion(refused).expect("refusal").refusal.as_deref(), Some("I can't."));
    }

    #[test]
    fn what_is_no_completion_says_so() {
        for body in ["", "<html>", "{}", "[]", "{\"choices\":[]}", "{\"choices\":[{}]}", "null"] {
            assert!(completion(body).is_err(), "{body}");
        }
        assert!(completion(&"[".repeat(100_000)).is_err());
        assert_eq!(spoken("<think>{\"labels\": {}}</think>\n{}"), "\n{}");
        assert_eq!(spoken("{}"), "{}");
    }

    #[test]
    fn statuses_mean_what_to_do() {
        let of = |status, body: &str| meaning(status, body, true);
        assert_eq!(of(200, ""), Meaning::Answered);
        for status in [408, 429, 500, 502, 503, 504, 529] {
            assert!(matches!(of(status, "busy"), Meaning::Later(_)), "{status}");
        }
        for status in [301, 400, 401, 403, 404] {
            assert!(matches!(of(status, "no"), Meaning::Never(_)), "{status}");
        }
        let schema = r#"{"error":{"message":"'response_format' of type json_schema is not supported"}}"#;
        assert!(matches!(of(400, schema), Meaning::NoSchema(_)));
        assert!(matches!(meaning(400, schema, false), Meaning::Never(_)));
        let long =
            r#"{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8192"}}"#;
        assert!(matches!(of(400, long), Meaning::TooLong(_)));
        assert!(matches!(of(400, r#"{"error":{"code":"content_filter"}}"#), Meaning::Filtered(_)));
        assert!(matches!(of(429, r#"{"error":{"code":"insufficient_quota"}}"#), Meaning::Never(_)));
    }
}
