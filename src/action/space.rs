//! White space and word characters as the reference release's language sees them.

use std::sync::LazyLock;

use regex::Regex;

/// Is this white space? Unicode white space, and U+001C to U+001F besides; U+FEFF is not.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The text without white space at its ends.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The text without white space at its start.
pub(super) fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// Can this character be part of a word? Letters, everything with a numeric property, and `_`; not combining marks
/// (so `char::is_alphanumeric`, which takes some of them, will not do).
pub(super) fn is_word(c: char) -> bool {
    static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\p{L}\p{N}]").expect("a fixed pattern"));
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    WORD.is_match(c.encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_the_list_printed_by_python_3_11() {
        // `[hex(c) for c in range(0x110000) if chr(c).isspace()]`, which equals the matches of `\s`.
        let python: Vec<char> = "\t\n\u{b}\u{c}\r\u{1c}\u{1d}\u{1e}\u{1f} \u{85}\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\
            \u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}"
            .chars()
            .collect();
        let ours: Vec<char> = ('\0'..=char::MAX).filter(|c| is_space(*c)).collect();
        assert_eq!(ours, python);
    }

    #[test]
    fn word_characters_take_numbers_and_leave_marks() {
        // Answers of Python 3.11's `re.match(r"\w", c)`.
        for (c, word) in [('a', true), ('_', true), ('7', true), ('²', true), ('½', true), ('中', true), ('Ⅷ', true)]
        {
            assert_eq!(is_word(c), word, "{c:?}");
        }
        for c in ['-', ' ', '\u{301}', '\u{903}', '\u{345}', '>', '\u{feff}', '°', '€'] {
            assert!(!is_word(c), "{c:?}");
        }
    }
}
