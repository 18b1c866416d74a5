//! Hostile text made inert: characters that act instead of being read become visible, and blocks get delimiters that
//! their content cannot close.

use std::fmt::Write as _;

/// Text with every acting or invisible character written as `⟦U+XXXX⟧`: control codes (terminal escapes among them),
/// direction controls, zero-width and other invisible format characters, tags and variation selectors beyond the
/// emoji ones. Line feeds and tabs stay; a carriage return before a line feed is dropped. `⟦` itself is written the
/// same way, so what the text really held can always be told. Joiners (U+200C, U+200D) stay, as scripts and emoji need
/// them.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        if acts(c) {
            // Writing to a String cannot fail.
            let _ = write!(out, "⟦U+{:04X}⟧", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

fn acts(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '⟦'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        c => c.is_control(),
    }
}

/// A fenced block of [`visible`] text. The fence is longer than any run of backticks in the text, so nothing in it can
/// end the block.
#[must_use]
pub fn fenced(text: &str) -> String {
    let text = visible(text);
    let fence = "`".repeat(longest_run(&text).saturating_add(1).max(3));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}\n")
}

/// An inline code span of [`visible`] text on one line.
#[must_use]
pub fn code_span(text: &str) -> String {
    let text = visible(text).replace('\n', "⟦U+000A⟧").replace('\t', "⟦U+0009⟧");
    let fence = "`".repeat(longest_run(&text).saturating_add(1));
    // CommonMark drops one blank at each end; without it a backtick at an end would join the fence.
    let pad = if text.is_empty() || text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acting_characters_become_visible() {
        assert_eq!(visible("a\u{1b}[31mb"), "a⟦U+001B⟧[31mb");
        assert_eq!(visible("\u{202e}evil\u{2066}"), "⟦U+202E⟧evil⟦U+2066⟧");
        assert_eq!(visible("\u{9b}31m\u{0}\u{7f}"), "⟦U+009B⟧31m⟦U+0000⟧⟦U+007F⟧");
        assert_eq!(visible("\u{e0041}"), "⟦U+E0041⟧");
        assert_eq!(visible("one\r\ntwo\rthree"), "one\ntwo⟦U+000D⟧three");
        assert_eq!(visible("⟦U+001B⟧"), "⟦U+27E6⟧U+001B⟧");
    }

    #[test]
    fn ordinary_text_of_any_script_stays() {
        for text in ["Zürich, 東京, नमस्ते", "العربية עברית", "👩\u{200d}💻 ❤\u{fe0f}", "a\tb\nc", "می\u{200c}خواهم"]
        {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn fences_outgrow_their_content() {
        assert_eq!(fenced("a"), "```\na\n```\n");
        assert_eq!(fenced("a\n"), "```\na\n```\n");
        assert_eq!(fenced("````\nx"), "`````\n````\nx\n`````\n");
        assert_eq!(code_span("a`b``c"), "```a`b``c```");
        assert_eq!(code_span("`"), "`` ` ``");
        assert_eq!(code_span("a\nb"), "`a⟦U+000A⟧b`");
    }

    proptest::proptest! {
        #[test]
        fn no_line_of_the_content_is_as_long_a_fence(text in "[`\\na\\u{1b}]{0,40}") {
            let block = fenced(&text);
            let lines: Vec<&str> = block.lines().collect();
            let fence = lines[0];
            proptest::prop_assert!(fence.chars().all(|c| c == '`') && fence.len() >= 3);
            proptest::prop_assert_eq!(*lines.last().expect("lines"), fence);
            for line in &lines[1..lines.len() - 1] {
                proptest::prop_assert!(!line.contains(fence));
            }
        }

        #[test]
        fn visible_text_never_acts_and_is_told_apart(one in ".*", two in ".*") {
            proptest::prop_assert!(!visible(&one).chars().any(|c| acts(c) && c != '⟦'));
            let unbroken = |text: &str| text.replace("\r\n", "\n");
            if unbroken(&one) != unbroken(&two) {
                proptest::prop_assert_ne!(visible(&one), visible(&two));
            }
        }
    }
}
