//! Untrusted text on a page: made visible, long text folded, reasoning dimmed, calls as `name(argument=value)`.

use maud::{Markup, html};

use super::compare::{CallMark, Stretch};
use crate::rate::{Call, visible};

/// Longer texts are folded.
const LONG: usize = 1400;
const MANY_LINES: usize = 24;
/// The grader's explanations are read last, if at all: they fold earlier.
const LONG_REMARK: usize = 600;
/// What a fold shows of its text.
const PREVIEW: usize = 420;
const PREVIEW_LINES: usize = 7;

/// A text in which blanks and line breaks count.
pub(super) fn block(text: &str) -> Markup {
    let parts = thoughts(text);
    html! {
        @for (thought, part) in parts {
            @if thought { (reasoning(part)) } @else if !part.trim().is_empty() { (folded(part, &html! { (visible(part)) })) }
        }
        @if text.trim().is_empty() { p.empty { "(empty)" } }
    }
}

/// What the grader or the run says about a case.
pub(super) fn remark(text: &str) -> Markup {
    folded_above(LONG_REMARK, text, &html! { (visible(text)) })
}

/// A text of which the stretches that the other condition lacks are marked.
pub(super) fn marked(text: &str, stretches: &[Stretch<'_>]) -> Markup {
    let shown = html! {
        @for (both, word) in merged(stretches) {
            @if both { (visible(&word)) } @else { mark { (visible(&word)) } }
        }
    };
    folded(text, &shown)
}

fn merged(stretches: &[Stretch<'_>]) -> Vec<(bool, String)> {
    let mut runs: Vec<(bool, String)> = Vec::new();
    for (both, word) in stretches {
        match runs.last_mut() {
            Some((last, run)) if last == both => run.push_str(word),
            _ => runs.push((*both, (*word).to_owned())),
        }
    }
    runs
}

/// A call; `mark` says how it stands to the other condition, `held_out` whether its tool is held out in this case.
pub(super) fn call(call: &Call, mark: &CallMark, held_out: bool) -> Markup {
    let changed = |index: usize| matches!(mark, CallMark::Changed(places) if places.contains(&index));
    let only = *mark == CallMark::Only;
    let name = name(&call.name);
    let shown = html! {
        @if only { ins.only title="only in this condition" { span.tool { (name) } } } @else { span.tool { (name) } }
        "("
        @for (index, argument) in call.arguments.iter().enumerate() {
            @if index > 0 { ", " }
            @if changed(index) {
                mark title="differs in the other condition" { (self::name(&argument.name)) "=" (visible(&argument.value)) }
            } @else {
                span.argument { (self::name(&argument.name)) "=" } (visible(&argument.value))
            }
        }
        ")"
    };
    let text = call.to_string();
    html! {
        div.call .only-here[only] {
            (folded(&text, &shown))
            @if held_out { span.held-out { "held-out tool" } }
        }
    }
}

/// A name as it stands, or in quotes where it could be mistaken for more than a name; as `Call`'s own text form.
fn name(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.<>|:/".contains(c);
    if !text.is_empty() && text.chars().all(plain) { visible(text) } else { visible(&format!("{text:?}")) }
}

fn reasoning(text: &str) -> Markup {
    let length = text.chars().count();
    html! {
        details.thought {
            summary { "Reasoning, " (length) " characters" }
            div.text { (visible(text.trim_matches('\n'))) }
        }
    }
}

/// `shown`, or a fold of it where the text is long.
fn folded(text: &str, shown: &Markup) -> Markup {
    folded_above(LONG, text, shown)
}

fn folded_above(longest: usize, text: &str, shown: &Markup) -> Markup {
    let count = text.chars().count();
    if count <= longest && text.lines().count() <= MANY_LINES {
        return html! { div.text dir="auto" { (shown) } };
    }
    let lines: String = text.split_inclusive('\n').take(PREVIEW_LINES).collect();
    let preview: String = lines.chars().take(PREVIEW).collect();
    html! {
        details.long {
            summary {
                span.text.preview dir="auto" { (visible(preview.trim_end())) " …" }
                span.more { "Show all " (count) " characters" }
                span.less { "Fold" }
            }
            div.text dir="auto" { (shown) }
        }
    }
}

/// Splits a text into what is said and what stands in `<think>` blocks. An end without a beginning closes a block that
/// the template opened; a beginning without an end goes on to the end.
fn thoughts(text: &str) -> Vec<(bool, &str)> {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";
    let mut parts = Vec::new();
    let mut rest = text;
    if let Some(end) = text.find(CLOSE)
        && text.find(OPEN).is_none_or(|start| start > end)
        && let Some((thought, after)) = text.split_once(CLOSE)
    {
        parts.push((true, thought));
        rest = after;
    }
    while let Some((said, after)) = rest.split_once(OPEN) {
        parts.push((false, said));
        let (thought, after) = after.split_once(CLOSE).unwrap_or((after, ""));
        if !thought.trim().is_empty() {
            parts.push((true, thought));
        }
        rest = after;
    }
    parts.push((false, rest));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_told_from_words() {
        assert_eq!(thoughts("plain"), [(false, "plain")]);
        assert_eq!(thoughts("<think>a</think>b"), [(false, ""), (true, "a"), (false, "b")]);
        assert_eq!(thoughts("a</think>b"), [(true, "a"), (false, "b")]);
        assert_eq!(thoughts("x<think>a"), [(false, "x"), (true, "a"), (false, "")]);
        assert_eq!(thoughts("<think>\n</think>b"), [(false, ""), (false, "b")]);
    }

    #[test]
    fn hostile_text_is_escaped_wherever_it_stands() {
        let evil = "<script>alert(1)</script>\u{202e}\" onload=\"x";
        let argument = crate::rate::Argument { name: evil.to_owned(), value: evil.to_owned() };
        let hostile = Call { name: evil.to_owned(), arguments: vec![argument] };
        let long = evil.repeat(100);
        for shown in [
            block(evil),
            block(&long),
            block(&format!("<think>{evil}</think>")),
            remark(evil),
            remark(&long),
            call(&hostile, &CallMark::Only, true),
            call(&hostile, &CallMark::Changed([0].into()), false),
            marked(evil, &[(false, evil)]),
        ] {
            let shown = shown.into_string();
            assert!(!shown.contains("<script"), "{shown}");
            assert!(!shown.contains("\" onload"), "{shown}");
            assert!(!shown.contains('\u{202e}'), "{shown}");
        }
    }
}
