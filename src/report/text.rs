//! Text that others wrote: control and bidirectional-override characters made visible, so that nothing in a model's output
//! can hide, reorder or drive what a reader sees.

/// The text with such characters replaced; line breaks and tabs stay.
pub fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
            '\u{7f}' => '\u{2421}',
            '\u{80}'..='\u{9f}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}' => '\u{fffd}',
            _ => c,
        })
        .collect()
}

/// The text on one line.
pub(super) fn one_line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}
