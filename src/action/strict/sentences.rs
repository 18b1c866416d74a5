//! Sentences of a text, roughly, with their places.

use std::ops::Range;

/// A sentence (or a line of a list).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) span: Range<usize>,
    /// It begins a line with something that is no letter: an item of a list.
    pub(super) item: bool,
    /// It is the first of its line.
    pub(super) starts_line: bool,
}

/// The most bytes of a sentence, so that no phrase is looked for in a long one over and over.
const LONGEST: usize = 4000;

/// Cuts a text behind `.`, `!` and question marks that white space or a closing bracket follows, and at line breaks (and at a space where a
/// sentence grows too long).
/// Every byte is in exactly one sentence; blank ones are left out.
pub(super) fn sentences(text: &str, is_question_mark: impl Fn(char) -> bool) -> Vec<Sentence> {
    let mut out = Vec::new();
    let (mut start, mut starts_line) = (0, true);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let next = chars.peek().map(|(_, next)| *next);
        // A number such as `1.` at the start of a line does not end a sentence.
        let numbered = c == '.' && starts_line && text.get(start..at).is_some_and(is_number);
        let stop = (matches!(c, '.' | '!') && !numbered || is_question_mark(c))
            && next.is_none_or(|next| next.is_whitespace() || matches!(next, ')' | '"' | '\'' | ']' | '”' | '’'));
        // Marks of other scripts end a sentence without a space.
        let wide = matches!(c, '。' | '！') || (is_question_mark(c) && c != '?');
        let long = end - start > LONGEST && (c.is_whitespace() || end - start > 2 * LONGEST);
        if c == '\n' || stop || wide || long {
            push(&mut out, text, start..end, starts_line);
            start = end;
            starts_line = c == '\n';
        }
    }
    push(&mut out, text, start..text.len(), starts_line);
    out
}

fn is_number(text: &str) -> bool {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '*' || c == '-');
    text.chars().all(|c| c.is_ascii_digit())
}

fn push(out: &mut Vec<Sentence>, text: &str, span: Range<usize>, starts_line: bool) {
    let sentence = text.get(span.clone()).unwrap_or_default();
    let Some(first) = sentence.chars().find(|c| !c.is_whitespace()) else { return };
    out.push(Sentence { span, item: starts_line && !first.is_alphabetic(), starts_line });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_marks_and_lines() {
        let text = "It costs 1.5. Which one (a or b)? Say:\n1. Fund it?\n- Stop\nNo。Why？Yes";
        let cut: Vec<(&str, bool)> = sentences(text, |c| matches!(c, '?' | '？'))
            .into_iter()
            .map(|sentence| (text.get(sentence.span).unwrap_or_default().trim(), sentence.item))
            .collect();
        assert_eq!(
            cut,
            [
                ("It costs 1.5.", false),
                ("Which one (a or b)?", false),
                ("Say:", false),
                ("1. Fund it?", true),
                ("- Stop", true),
                ("No。", false),
                ("Why？", false),
                ("Yes", false)
            ]
        );
    }
}
