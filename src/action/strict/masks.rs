//! Parts of a text in which the model does not speak for itself: reasoning blocks, code, addresses, tool output, quotes.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::rules::{StrictRule, StrictRules};

/// Finds the parts of a text that one rule masks.
type Finder = fn(&str) -> Vec<Range<usize>>;

/// The masked parts of a text, and the text with them blanked out.
pub(super) struct Masks {
    /// Per byte the rule that masks it.
    rules: Vec<Option<StrictRule>>,
    /// The text of the same length in bytes with spaces in the masked parts (line breaks stay).
    pub(super) text: String,
}

impl Masks {
    /// Masks a text by the rules that are on. The rules come one after the other, and each sees what the earlier ones
    /// left: a quote mark inside a reasoning block opens nothing.
    pub(super) fn of(text: &str, rules: &StrictRules) -> Self {
        let mut masks = Self { rules: vec![None; text.len()], text: text.to_owned() };
        let finders: [(StrictRule, Finder); 5] = [
            (StrictRule::ThinkBlock, think_blocks),
            (StrictRule::Code, code),
            (StrictRule::Url, |text| all(&URL, text)),
            (StrictRule::ToolOutput, tool_output),
            (StrictRule::QuotedText, quoted_text),
        ];
        for (rule, find) in finders {
            if rules.has(rule) {
                let spans = find(&masks.text);
                masks.text = blank(&masks.text, &spans);
                for span in spans {
                    for byte in masks.rules.get_mut(span).unwrap_or_default() {
                        byte.get_or_insert(rule);
                    }
                }
            }
        }
        masks
    }

    /// The rule that masks a byte of the original text.
    pub(super) fn rule_at(&self, offset: usize) -> Option<StrictRule> {
        self.rules.get(offset).copied().flatten()
    }
}

/// Puts a space for every byte of the spans, except line breaks.
fn blank(text: &str, spans: &[Range<usize>]) -> String {
    let mut sorted: Vec<&Range<usize>> = spans.iter().collect();
    sorted.sort_by_key(|span| (span.start, span.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in sorted {
        let start = span.start.max(at);
        let (Some(kept), Some(masked)) = (text.get(at..start), text.get(start..span.end)) else { continue };
        out.push_str(kept);
        for c in masked.chars() {
            if c == '\n' { out.push('\n') } else { (0..c.len_utf8()).for_each(|_| out.push(' ')) }
        }
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

fn all(pattern: &Regex, text: &str) -> Vec<Range<usize>> {
    pattern.find_iter(text).map(|found| found.range()).collect()
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a fixed pattern")
}

static URL: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)(?-u:\b)(?:https?://|www\.)[^\s<>]+"));

/// `<think>` up to its end, or up to a tool call or the end of the text where it is not closed. A `</think>` without a
/// beginning closes a block that the chat template has opened.
fn think_blocks(text: &str) -> Vec<Range<usize>> {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";
    let mut spans = Vec::new();
    let mut at = 0;
    let opened = text.find(OPEN);
    if let Some(close) = text.find(CLOSE)
        && opened.is_none_or(|open| close < open)
    {
        at = close + CLOSE.len();
        spans.push(0..at);
    }
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(OPEN)).map(|found| found + at) {
        let rest = text.get(start..).unwrap_or_default();
        let end = match (rest.find(CLOSE), rest.find("<tool_call")) {
            (Some(close), _) => close + CLOSE.len(),
            (None, Some(call)) => call,
            (None, None) => rest.len(),
        };
        spans.push(start..start + end);
        at = start + end;
    }
    spans
}

/// Fenced blocks, closed or up to the end, and inline code on one line.
fn code(text: &str) -> Vec<Range<usize>> {
    static FENCE: LazyLock<Regex> = LazyLock::new(|| regex(r"(?s)```.*?(?:```|\z)|~~~.*?(?:~~~|\z)"));
    static INLINE: LazyLock<Regex> = LazyLock::new(|| regex(r"`[^`\n]+`"));
    let fences = all(&FENCE, text);
    let rest = blank(text, &fences);
    let mut spans = all(&INLINE, &rest);
    spans.extend(fences);
    spans
}

/// Tool answers in tags, quoted lines, and JSON values inside the text.
fn tool_output(text: &str) -> Vec<Range<usize>> {
    static BLOCK: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?is)<tool_(?:response|result|output)>.*?(?:</tool_(?:response|result|output)>|\z)|<function_results>.*?(?:</function_results>|\z)",
        )
    });
    static LINE: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^[ \t]*>[^\n]*"));
    static JSON: LazyLock<Regex> = LazyLock::new(|| regex(r#"\{\s*["']|\[\s*[{"']"#));
    let mut spans = all(&BLOCK, text);
    spans.extend(all(&LINE, text));
    // After many openings that do not close, the rest is left as it is.
    let (mut at, mut unclosed) = (0, 0);
    while let Some(found) = text.get(at..).filter(|_| unclosed < 200).and_then(|rest| JSON.find(rest)) {
        let start = at + found.start();
        if let Some(end) = balanced(text, start) {
            spans.push(start..end);
            at = end;
        } else {
            unclosed += 1;
            at = start + 1;
        }
    }
    spans
}

/// The end of a bracketed value that begins at a byte, skipping what stands in double quotes. `None`: it is not closed
/// within a few thousand bytes.
fn balanced(text: &str, start: usize) -> Option<usize> {
    const LIMIT: usize = 4000;
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.as_bytes().get(start..)?.iter().enumerate().take(LIMIT) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(start + at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The most bytes that a pair of quote marks can hold.
const QUOTE_LIMIT: usize = 1500;

/// Text in quotes (of one paragraph), and fields that show the text of a message, a tweet, a ticket or an error.
fn quoted_text(text: &str) -> Vec<Range<usize>> {
    static FIELD: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?im)^[^\w\n]*(?:(?:new|old|tweet|ticket|message|error|comment|post|updated|full) )?(?:content|message|description|text|title|comment|error|body|subject|resolution)[*_]*[ ]?:[*_]*[^\n]+",
        )
    });
    let mut spans = pairs(text, is_double);
    let mut rest = blank(text, &spans);
    let fields = all(&FIELD, &rest);
    rest = blank(&rest, &fields);
    spans.extend(fields);
    spans.extend(pairs(&rest, is_single));
    spans
}

/// The closing marks of a double quote mark that opens.
fn is_double(open: char, _before: Option<char>) -> Option<&'static [char]> {
    match open {
        '"' => Some(&['"', '”']),
        '“' | '„' => Some(&['”', '“', '"']),
        '«' => Some(&['»']),
        _ => None,
    }
}

/// The closing marks of a single quote mark that opens: it follows no letter, so that an apostrophe opens nothing.
fn is_single(open: char, before: Option<char>) -> Option<&'static [char]> {
    let opens = before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '{' | ':' | '*' | ',' | '/' | '>'));
    (opens && matches!(open, '\'' | '‘')).then_some(&['\'', '’'])
}

/// The quoted parts of a text. A closing single mark stands before no letter; no pair spans a blank line.
fn pairs(text: &str, closing: fn(char, Option<char>) -> Option<&'static [char]>) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut before = None;
    let mut skip = 0;
    for (start, c) in text.char_indices() {
        if start >= skip
            && let Some(marks) = closing(c, before)
            && let Some(end) = closed(text, start + c.len_utf8(), marks)
        {
            spans.push(start..end);
            skip = end;
        }
        before = Some(c);
    }
    spans
}

/// The end of a quoted part whose inside begins at a byte.
fn closed(text: &str, start: usize, marks: &[char]) -> Option<usize> {
    let mut chars = text.get(start..)?.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        if at > QUOTE_LIMIT || (c == '\n' && (next == Some('\n') || marks.contains(&'\''))) {
            return None;
        }
        let apostrophe = matches!(c, '\'' | '’') && next.is_some_and(char::is_alphanumeric);
        if marks.contains(&c) && !apostrophe && at > 0 {
            return Some(start + at + c.len_utf8());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a text, with runs of spaces as one.
    fn left(text: &str) -> String {
        let masks = Masks::of(text, &StrictRules::all());
        assert_eq!(masks.text.len(), text.len(), "{text}");
        masks.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_the_model_does_not_say_itself_is_blanked() {
        for (text, rest) in [
            ("<think>Can I? I cannot.</think>\nDone.", "Done."),
            ("<think>No end? <tool_call>{}", "<tool_call>{}"),
            ("<think>No end? I cannot", ""),
            ("It was opened by the template?</think> Done.", "Done."),
            ("a ```py\nx?\n``` b `c?` d", "a b d"),
            ("a ```open? ", "a"),
            ("See https://example.org/a?b=c now", "See now"),
            ("It said {\"error\": \"cannot {\"} and went on", "It said and went on"),
            ("> cannot do\nBut I did", "But I did"),
            ("To Ann: \"Can you?\" and 'Can't wait!' sent", "To Ann: and sent"),
            ("Don't you see the users' files? It's 'a.txt'.", "Don't you see the users' files? It's ."),
            ("- **Content:** Why not?\nSent.", "Sent."),
            ("“Why?” ‘Why?’ done", "done"),
            ("It is 5\" wide. Which one?", "It is 5\" wide. Which one?"),
        ] {
            assert_eq!(left(text), rest, "{text}");
        }
    }

    #[test]
    fn a_byte_knows_the_rule_that_masks_it() {
        let masks = Masks::of("<think>a</think> `b` c", &StrictRules::all());
        assert_eq!(masks.rule_at(8), Some(StrictRule::ThinkBlock));
        assert_eq!(masks.rule_at(18), Some(StrictRule::Code));
        assert_eq!(masks.rule_at(21), None);
        assert_eq!(Masks::of("<think>a</think>", &StrictRules::none()).rule_at(8), None);
    }
}
