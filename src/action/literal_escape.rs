//! Escapes in Python strings and bytes.

/// Resolves the escapes of a text. Unknown ones stay as they are. `None`: a broken `\x`, `\u`, `\U` or `\N`.
///
/// `\N{…}` with a well-formed name becomes U+FFFD: which names exist is not known here. So does a lone surrogate.
pub(super) fn unescape_text(body: &str) -> Option<String> {
    let mut out = String::with_capacity(body.len());
    let mut high: Option<u32> = None;
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at)?);
        if at > 0 {
            high = None;
        }
        let letter = rest.get(at + 1..)?.chars().next()?;
        rest = rest.get(at + 1 + letter.len_utf8()..)?;
        let width = match letter {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        if width > 0 {
            let digits = rest.get(..width).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            rest = rest.get(width..)?;
            let code = u32::from_str_radix(digits, 16).ok().filter(|code| *code <= 0x10_ffff)?;
            // Two surrogates in a row are written back as the same two, that is, as one character.
            match (high.take(), code) {
                (Some(first), 0xdc00..=0xdfff) => {
                    out.pop();
                    out.push(char::from_u32(0x10000 + ((first - 0xd800) << 10) + (code - 0xdc00))?);
                }
                (_, 0xd800..=0xdbff) => {
                    high = Some(code);
                    out.push(char::REPLACEMENT_CHARACTER);
                }
                _ => out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)),
            }
            continue;
        }
        high = None;
        match letter {
            'N' => {
                let name = rest.strip_prefix('{')?;
                let end = name.find('}').filter(|end| *end > 0)?;
                let well_formed = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '(' | ')');
                if !name.get(..end)?.chars().all(well_formed) {
                    return None;
                }
                rest = name.get(end + 1..)?;
                out.push(char::REPLACEMENT_CHARACTER);
            }
            '0'..='7' => {
                let (code, behind) = octal(letter, rest);
                rest = behind;
                out.push(char::from_u32(code)?);
            }
            // A joined line.
            '\n' => {}
            _ => match simple_escape(letter) {
                Some(c) => out.push(c),
                None => out.extend(['\\', letter]),
            },
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Resolves the escapes of bytes; `\u`, `\U` and `\N` are none.
pub(super) fn unescape_bytes(body: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        out.extend(rest.get(..at)?.bytes());
        let letter = rest.get(at + 1..)?.chars().next()?;
        rest = rest.get(at + 2..)?;
        match letter {
            'x' => {
                let digits = rest.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
                out.push(u8::from_str_radix(digits, 16).ok()?);
                rest = rest.get(2..)?;
            }
            '0'..='7' => {
                let (code, behind) = octal(letter, rest);
                rest = behind;
                out.push(code as u8);
            }
            // A joined line.
            '\n' => {}
            _ => match simple_escape(letter) {
                Some(c) => out.push(c as u8),
                None => out.extend([b'\\', letter as u8]),
            },
        }
    }
    out.extend(rest.bytes());
    Some(out)
}

/// One to three octal digits, the first of which was read.
fn octal(first: char, rest: &str) -> (u32, &str) {
    let more = rest.bytes().take(2).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
    let code =
        rest.bytes().take(more).fold(first.to_digit(8).unwrap_or(0), |code, byte| code * 8 + u32::from(byte - b'0'));
    (code, rest.get(more..).unwrap_or_default())
}

/// The character of a one-letter escape. `None`: no such escape.
fn simple_escape(letter: char) -> Option<char> {
    Some(match letter {
        '\\' | '\'' | '"' => letter,
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        _ => return None,
    })
}
