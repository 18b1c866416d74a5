//! JSON as the reference release's language reads it: `NaN`, `Infinity` and `-Infinity` are numbers, the last of two equal
//! keys wins, a lone surrogate escape is a character. Everything else is strict.
//!
//! The parser keeps its own stack, so that nesting in hostile text cannot overflow the machine's.

use serde_json::{Map, Number, Value};

/// The most arrays and objects inside each other. The reference release gives up near its recursion limit of 1000.
const MAX_DEPTH: usize = 1000;
/// The reference release's language refuses to read or write integers with more digits.
pub(super) const MAX_INTEGER_DIGITS: usize = 4300;

/// Why a text is not JSON, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {offset}: {problem}")]
pub struct JsonError {
    /// The byte of the text, from 0.
    pub offset: usize,
    /// What is wrong there.
    pub problem: JsonProblem,
}

/// What is wrong in a text that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JsonProblem {
    /// The text ends inside a value.
    #[error("the text ends too early")]
    End,
    /// A character that cannot stand here.
    #[error("{0:?} cannot stand here")]
    Unexpected(char),
    /// A control character inside a string.
    #[error("the control character {0:?} must be escaped in a string")]
    Control(char),
    /// An escape that does not exist.
    #[error("no such escape")]
    Escape,
    /// Too many brackets inside each other.
    #[error("more than {MAX_DEPTH} brackets inside each other")]
    TooDeep,
    /// Something stands behind the value.
    #[error("there is more text behind the value")]
    Trailing,
}

/// What a value had to lose to fit into standard JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JsonRepairs {
    /// A lone surrogate escape became U+FFFD.
    pub lone_surrogates: bool,
    /// `NaN`, an infinity or a number beyond the range of 64-bit floats became null.
    pub non_finite: bool,
    /// An integer beyond 64 bits became the nearest float.
    pub wide_integers: bool,
    /// An integer has more than 4300 digits, which the reference release's language refuses.
    pub refused_integers: bool,
}

/// Reads one JSON value in the lenient dialect. What standard JSON cannot hold becomes U+FFFD (lone surrogates), null
/// (`NaN`, infinities) or the nearest float (integers beyond 64 bits); [`lenient_json_with_repairs`] says whether.
///
/// # Errors
/// The text is not JSON in this dialect, or nests more than 1000 brackets.
pub fn lenient_json(text: &str) -> Result<Value, JsonError> {
    lenient_json_with_repairs(text).map(|(value, _)| value)
}

/// As [`lenient_json`], with a report of what was replaced.
///
/// # Errors
/// As [`lenient_json`].
pub fn lenient_json_with_repairs(text: &str) -> Result<(Value, JsonRepairs), JsonError> {
    let mut parser = Parser { text, at: 0, repairs: JsonRepairs::default() };
    let value = parser.document()?;
    Ok((value, parser.repairs))
}

/// An array or object whose end was not seen yet.
enum Open {
    Array(Vec<Value>),
    /// The members so far and the key of the value to come.
    Object(Map<String, Value>, String),
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    repairs: JsonRepairs,
}

impl Parser<'_> {
    fn document(&mut self) -> Result<Value, JsonError> {
        let mut open: Vec<Open> = Vec::new();
        'value: loop {
            let mut value = match self.begin(open.len())? {
                Begun::Whole(value) => value,
                Begun::Open(container) => {
                    open.push(container);
                    continue 'value;
                }
            };
            loop {
                match open.pop() {
                    None => {
                        self.space();
                        return if self.at == self.text.len() {
                            Ok(value)
                        } else {
                            Err(self.fail(JsonProblem::Trailing))
                        };
                    }
                    Some(Open::Array(mut items)) => {
                        items.push(value);
                        if self.comma_or(b']')? {
                            open.push(Open::Array(items));
                            continue 'value;
                        }
                        value = Value::Array(items);
                    }
                    Some(Open::Object(mut members, key)) => {
                        members.insert(key, value);
                        if self.comma_or(b'}')? {
                            let key = self.key()?;
                            open.push(Open::Object(members, key));
                            continue 'value;
                        }
                        value = Value::Object(members);
                    }
                }
            }
        }
    }

    /// Reads a scalar or an empty container whole, or opens a container.
    fn begin(&mut self, depth: usize) -> Result<Begun, JsonError> {
        self.space();
        match self.peek() {
            Some(b'[') => {
                self.enter(depth)?;
                if self.eat("]") {
                    return Ok(Begun::Whole(Value::Array(Vec::new())));
                }
                Ok(Begun::Open(Open::Array(Vec::new())))
            }
            Some(b'{') => {
                self.enter(depth)?;
                if self.eat("}") {
                    return Ok(Begun::Whole(Value::Object(Map::new())));
                }
                let key = self.key()?;
                Ok(Begun::Open(Open::Object(Map::new(), key)))
            }
            _ => self.scalar().map(Begun::Whole),
        }
    }

    /// Steps over an opening bracket and the space behind it.
    fn enter(&mut self, depth: usize) -> Result<(), JsonError> {
        if depth >= MAX_DEPTH {
            return Err(self.fail(JsonProblem::TooDeep));
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    /// After a value: `true` for a comma, `false` for the closing bracket.
    fn comma_or(&mut self, close: u8) -> Result<bool, JsonError> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn key(&mut self) -> Result<String, JsonError> {
        self.space();
        if self.peek() != Some(b'"') {
            return Err(self.unexpected());
        }
        let key = self.string()?;
        self.space();
        if self.eat(":") { Ok(key) } else { Err(self.unexpected()) }
    }

    fn scalar(&mut self) -> Result<Value, JsonError> {
        match self.peek() {
            Some(b'"') => return self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => return self.number(),
            _ => {}
        }
        for (word, value) in [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)] {
            if self.eat(word) {
                return Ok(value);
            }
        }
        if self.eat("NaN") || self.eat("Infinity") {
            self.repairs.non_finite = true;
            return Ok(Value::Null);
        }
        Err(self.unexpected())
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        if self.eat("-Infinity") {
            self.repairs.non_finite = true;
            return Ok(Value::Null);
        }
        let _ = self.eat("-");
        let whole = self.at;
        if !self.eat("0") && self.digits() == 0 {
            return Err(self.unexpected());
        }
        let digits = self.at - whole;
        let integer_end = self.at;
        self.fraction();
        self.exponent();
        let text = self.text.get(start..self.at).unwrap_or_default();
        if self.at == integer_end {
            // `-0` is the integer 0.
            if let Ok(integer) = text.parse::<i64>() {
                return Ok(Value::from(integer));
            }
            if let Ok(integer) = text.parse::<u64>() {
                return Ok(Value::from(integer));
            }
            self.repairs.wide_integers = true;
            self.repairs.refused_integers |= digits > MAX_INTEGER_DIGITS;
        }
        // A float's text always parses; beyond the range it is an infinity, which JSON cannot hold.
        let number = text.parse::<f64>().ok().and_then(Number::from_f64);
        self.repairs.non_finite |= number.is_none();
        Ok(number.map_or(Value::Null, Value::Number))
    }

    /// `.5`, only if a digit follows the point; otherwise the number ends before it.
    fn fraction(&mut self) {
        let back = self.at;
        if self.eat(".") && self.digits() == 0 {
            self.at = back;
        }
    }

    /// `e5`, `E+5`, only if a digit follows.
    fn exponent(&mut self) {
        let back = self.at;
        if self.eat("e") || self.eat("E") {
            let _ = self.eat("+") || self.eat("-");
            if self.digits() == 0 {
                self.at = back;
            }
        }
    }

    fn digits(&mut self) -> usize {
        let rest = self.rest();
        let count = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.at += count;
        count
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20);
            let Some(plain) = plain else {
                self.at = self.text.len();
                return Err(self.fail(JsonProblem::End));
            };
            out.push_str(rest.get(..plain).unwrap_or_default());
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(byte) => return Err(self.fail(JsonProblem::Control(char::from(byte)))),
                None => return Err(self.fail(JsonProblem::End)),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.at += 1;
        let letter = self.peek().ok_or_else(|| self.fail(JsonProblem::End))?;
        self.at += 1;
        Ok(match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.code_unit().ok_or(JsonError { offset: start, problem: JsonProblem::Escape })?,
            _ => return Err(JsonError { offset: start, problem: JsonProblem::Escape }),
        })
    }

    /// Four hexadecimal digits, and the low surrogate's escape behind a high one.
    fn code_unit(&mut self) -> Option<char> {
        let unit = self.hex4(self.at)?;
        self.at += 4;
        if (0xd800..0xdc00).contains(&unit)
            && self.rest().starts_with("\\u")
            && let Some(low) = self.hex4(self.at + 2).filter(|low| (0xdc00..0xe000).contains(low))
        {
            self.at += 6;
            return char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
        }
        Some(char::from_u32(unit).unwrap_or_else(|| {
            self.repairs.lone_surrogates = true;
            char::REPLACEMENT_CHARACTER
        }))
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at + 4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn eat(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fail(&self, problem: JsonProblem) -> JsonError {
        JsonError { offset: self.at, problem }
    }

    fn unexpected(&self) -> JsonError {
        self.fail(self.rest().chars().next().map_or(JsonProblem::End, JsonProblem::Unexpected))
    }
}

/// What [`Parser::begin`] found.
enum Begun {
    Whole(Value),
    Open(Open),
}
