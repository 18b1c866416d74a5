//! Tokens of Python literals: white space with comments and line joins, numbers, strings.

use std::fmt::Write as _;

use super::json::MAX_INTEGER_DIGITS;
use super::literal::Literal;
use super::literal_escape::{unescape_bytes, unescape_text};

/// A number token.
pub(super) enum Number {
    /// As [`Literal::Int`] writes it.
    Int(String),
    Float(f64),
    Imaginary(f64),
}

impl Number {
    pub(super) fn into_literal(self) -> Literal {
        match self {
            Self::Int(digits) => Literal::Int(digits),
            Self::Float(value) => Literal::Float(value),
            Self::Imaginary(value) => Literal::Complex(0.0, value),
        }
    }

    /// The value as a float; `None` for an imaginary number.
    pub(super) fn real(&self) -> Option<f64> {
        match self {
            Self::Int(digits) => Some(digits.parse().unwrap_or(f64::INFINITY)),
            Self::Float(value) => Some(*value),
            Self::Imaginary(_) => None,
        }
    }

    pub(super) fn negate(self) -> Self {
        match self {
            Self::Int(digits) if digits == "0" => Self::Int(digits),
            Self::Int(digits) => Self::Int(format!("-{digits}")),
            Self::Float(value) => Self::Float(-value),
            Self::Imaginary(value) => Self::Imaginary(-value),
        }
    }
}

/// A text being read token by token. Inside brackets throughout, so a line break is white space.
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Steps over one ASCII character.
    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    pub(super) fn eat(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Steps over blanks, line breaks, comments and joined lines. `None`: a backslash that joins nothing.
    pub(super) fn space(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\x0c') => self.at += 1,
                Some(b'#') => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                Some(b'\\') => {
                    let joins = self.rest().starts_with("\\\n") && self.rest().len() > 2;
                    if !joins {
                        return None;
                    }
                    self.at += 2;
                }
                _ => return Some(()),
            }
        }
    }

    /// The identifier that begins here; empty if none does.
    pub(super) fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c: char| !is_identifier(c)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// A number, which no letter may touch.
    pub(super) fn number(&mut self) -> Option<Number> {
        let number = match self.text.as_bytes().get(self.at..self.at + 2) {
            Some([b'0', b'x' | b'X']) => self.radix(16)?,
            Some([b'0', b'o' | b'O']) => self.radix(8)?,
            Some([b'0', b'b' | b'B']) => self.radix(2)?,
            _ => self.decimal()?,
        };
        if self.rest().starts_with(is_identifier) { None } else { Some(number) }
    }

    /// `0x1f`, `0o17`, `0b11`; an underscore may stand before each digit.
    fn radix(&mut self, radix: u32) -> Option<Number> {
        self.at += 2;
        let mut digits = String::new();
        loop {
            let _ = self.eat("_");
            let run = self.take_while(|byte| char::from(byte).is_digit(radix));
            if run.is_empty() {
                return None;
            }
            digits.push_str(run);
            if self.peek() != Some(b'_') {
                break;
            }
        }
        let digits = digits.trim_start_matches('0').to_ascii_lowercase();
        Some(Number::Int(match u128::from_str_radix(&digits, radix) {
            Ok(value) => value.to_string(),
            Err(_) if digits.is_empty() => "0".to_owned(),
            Err(_) => wide_decimal(&digits, radix),
        }))
    }

    fn decimal(&mut self) -> Option<Number> {
        let mut text = self.digits()?;
        let whole = text.len();
        let mut float = false;
        if self.eat(".") {
            float = true;
            text.push('.');
            let fraction = self.digits()?;
            if whole == 0 && fraction.is_empty() {
                return None;
            }
            text.push_str(&fraction);
        }
        if self.eat("e") || self.eat("E") {
            float = true;
            text.push('e');
            if self.eat("-") {
                text.push('-');
            } else {
                let _ = self.eat("+");
            }
            let exponent = self.digits()?;
            if exponent.is_empty() {
                return None;
            }
            text.push_str(&exponent);
        }
        if self.eat("j") || self.eat("J") {
            return text.parse().ok().map(Number::Imaginary);
        }
        if float {
            return text.parse().ok().map(Number::Float);
        }
        let digits = text.trim_start_matches('0');
        match (digits.is_empty(), digits.len() == text.len()) {
            (true, _) => Some(Number::Int("0".to_owned())),
            // No leading zeros, and no more digits than Python reads.
            (false, true) if whole <= MAX_INTEGER_DIGITS => Some(Number::Int(text)),
            _ => None,
        }
    }

    /// Digits with single underscores between them, without the underscores. `None`: an underscore in the wrong place.
    fn digits(&mut self) -> Option<String> {
        let mut digits = self.take_while(|byte| byte.is_ascii_digit()).to_owned();
        while !digits.is_empty() && self.eat("_") {
            let run = self.take_while(|byte| byte.is_ascii_digit());
            if run.is_empty() {
                return None;
            }
            digits.push_str(run);
        }
        Some(digits)
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.bytes().position(|byte| !accept(byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// Does a string, with or without a prefix, begin here?
    pub(super) fn at_string(&self) -> bool {
        Prefix::of(self.rest()).is_some()
    }

    /// One string, or several next to each other, which are joined; texts and bytes do not mix.
    pub(super) fn strings(&mut self) -> Option<Literal> {
        let mut joined = self.string()?;
        loop {
            self.space()?;
            if !self.at_string() {
                return Some(joined);
            }
            match (&mut joined, self.string()?) {
                (Literal::Text(text), Literal::Text(more)) => text.push_str(&more),
                (Literal::Bytes(bytes), Literal::Bytes(more)) => bytes.extend(more),
                _ => return None,
            }
        }
    }

    fn string(&mut self) -> Option<Literal> {
        let prefix = Prefix::of(self.rest())?;
        self.at += prefix.length;
        let body = self.quoted()?;
        if prefix.bytes {
            if !body.is_ascii() {
                return None;
            }
            return if prefix.raw {
                Some(Literal::Bytes(body.as_bytes().to_vec()))
            } else {
                unescape_bytes(body).map(Literal::Bytes)
            };
        }
        if prefix.raw { Some(Literal::Text(body.to_owned())) } else { unescape_text(body).map(Literal::Text) }
    }

    /// What stands between the quotes, escapes untouched.
    fn quoted(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let quote = *rest.as_bytes().first()?;
        let width = if rest.len() > 2 && rest.bytes().take(3).all(|byte| byte == quote) { 3 } else { 1 };
        let body = rest.get(width..)?;
        let bytes = body.as_bytes();
        let mut at = 0;
        loop {
            match *bytes.get(at)? {
                b'\\' => at += 2,
                b'\n' if width == 1 => return None,
                byte if byte == quote && (width == 1 || bytes.get(at..at + 3)?.iter().all(|next| *next == quote)) => {
                    self.at += at + 2 * width;
                    return body.get(..at);
                }
                _ => at += 1,
            }
        }
    }
}

/// Letters before a string's quote.
struct Prefix {
    length: usize,
    raw: bool,
    bytes: bool,
}

impl Prefix {
    /// The prefix of the string that begins a text; `None`: no string begins there.
    fn of(text: &str) -> Option<Self> {
        let length = text.bytes().take(3).position(|byte| byte == b'"' || byte == b'\'')?;
        let (raw, bytes) = match text.get(..length)?.to_ascii_lowercase().as_str() {
            "" | "u" => (false, false),
            "r" => (true, false),
            "b" => (false, true),
            "rb" | "br" => (true, true),
            _ => return None,
        };
        Some(Self { length, raw, bytes })
    }
}

fn is_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}

/// The decimal form of an integer beyond 128 bits, or, where Python would refuse to write it, its digits as they are
/// behind the letter of its base.
fn wide_decimal(digits: &str, radix: u32) -> String {
    // Python writes at most 4300 decimal digits, which no more than this many digits of the base can make.
    let bits = digits.len() * radix.ilog2() as usize;
    let letter = match radix {
        16 => 'x',
        8 => 'o',
        _ => 'b',
    };
    if bits > 14_400 {
        return format!("{letter}{digits}");
    }
    // Little-endian groups of nine decimal digits.
    let mut groups: Vec<u32> = vec![0];
    for digit in digits.chars().filter_map(|c| c.to_digit(radix)) {
        let mut carry = u64::from(digit);
        for group in &mut groups {
            carry += u64::from(*group) * u64::from(radix);
            *group = (carry % 1_000_000_000) as u32;
            carry /= 1_000_000_000;
        }
        if carry > 0 {
            groups.push(carry as u32);
        }
    }
    let mut decimal = String::new();
    for group in groups.iter().rev() {
        // Writing to a String cannot fail.
        let _ = write!(decimal, "{group:09}");
    }
    decimal.drain(..decimal.len() - decimal.trim_start_matches('0').len());
    if decimal.len() > MAX_INTEGER_DIGITS { format!("{letter}{digits}") } else { decimal }
}
