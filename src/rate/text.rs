//! Small texts for messages.

use super::inert::visible;

/// Untrusted text on one line of Markdown: visible, without line breaks, and with Markdown's own marks escaped.
pub(super) fn plain_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '\n' | '\t' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '&' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Untrusted text for a message: shortened and escaped, in quotes.
pub(super) fn quoted(text: &str) -> String {
    const LIMIT: usize = 60;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{:?}", format!("{}…", text.get(..end).unwrap_or_default())),
        None => format!("{text:?}"),
    }
}
