//! A parser of Python literals: accepts what `ast.literal_eval` accepts of a text that begins with a bracket.
//!
//! Recursive, but never deeper than Python's own limit of 200 brackets inside each other.
//! A top-level tuple without brackets is refused: as an emission it is no call either way.

use super::literal::{Dict, Literal};
use super::literal_token::{Number, Tokens};

/// Python's limit on brackets inside each other.
const MAX_DEPTH: usize = 200;

/// An expression before it is known to be a value. Python folds a sign or a sum only over plain numbers.
enum Expression {
    /// A number without a sign (in as many parentheses as you like).
    Number(Number),
    /// A number with a sign.
    Signed(Number),
    Value(Literal),
}

/// Reads the text as one Python literal. `None`: Python refuses it (syntax, an operation that is no literal, a key that
/// cannot be hashed).
pub(super) fn parse_literal(text: &str) -> Option<Literal> {
    if text.contains('\0') {
        return None;
    }
    let unified = if text.contains('\r') { Some(text.replace("\r\n", "\n").replace('\r', "\n")) } else { None };
    let mut parser = Parser { tokens: Tokens::new(unified.as_deref().unwrap_or(text)), depth: 0 };
    let value = parser.value()?;
    parser.tokens.space()?;
    parser.tokens.at_end().then_some(value)
}

struct Parser<'t> {
    tokens: Tokens<'t>,
    depth: usize,
}

impl Parser<'_> {
    fn value(&mut self) -> Option<Literal> {
        Some(match self.expression()? {
            Expression::Number(number) | Expression::Signed(number) => number.into_literal(),
            Expression::Value(value) => value,
        })
    }

    /// An operand, or a real number with or without a sign, plus or minus an imaginary one.
    fn expression(&mut self) -> Option<Expression> {
        let left = self.operand()?;
        self.tokens.space()?;
        let minus = match self.tokens.peek() {
            Some(b'+') => false,
            Some(b'-') => true,
            _ => return Some(left),
        };
        self.tokens.step();
        self.tokens.space()?;
        let (Expression::Number(left) | Expression::Signed(left)) = left else { return None };
        let Expression::Number(Number::Imaginary(imaginary)) = self.atom()? else { return None };
        let real = left.real()?;
        self.tokens.space()?;
        // A second sum or difference has a sum on its left, which is no number.
        if matches!(self.tokens.peek(), Some(b'+' | b'-')) {
            return None;
        }
        Some(Expression::Value(Literal::Complex(real, if minus { -imaginary } else { imaginary })))
    }

    /// At most one sign, and only before a plain number.
    fn operand(&mut self) -> Option<Expression> {
        self.tokens.space()?;
        let minus = match self.tokens.peek() {
            Some(b'+') => false,
            Some(b'-') => true,
            _ => return self.atom(),
        };
        self.tokens.step();
        self.tokens.space()?;
        let Expression::Number(number) = self.atom()? else { return None };
        Some(Expression::Signed(if minus { number.negate() } else { number }))
    }

    fn atom(&mut self) -> Option<Expression> {
        let byte = self.tokens.peek()?;
        match byte {
            b'(' | b'[' | b'{' => {
                if self.depth >= MAX_DEPTH {
                    return None;
                }
                self.depth += 1;
                self.tokens.step();
                let result = match byte {
                    b'(' => self.parentheses(),
                    b'[' => self.items(b']').map(|items| Expression::Value(Literal::List(items))),
                    _ => self.braces().map(Expression::Value),
                };
                self.depth -= 1;
                result
            }
            b'0'..=b'9' => self.tokens.number().map(Expression::Number),
            b'.' => {
                if self.tokens.eat("...") {
                    return Some(Expression::Value(Literal::Ellipsis));
                }
                self.tokens.number().map(Expression::Number)
            }
            b'"' | b'\'' => self.tokens.strings().map(Expression::Value),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Option<Expression> {
        if self.tokens.at_string() {
            return self.tokens.strings().map(Expression::Value);
        }
        let value = match self.tokens.word() {
            "None" => Literal::None,
            "True" => Literal::Bool(true),
            "False" => Literal::Bool(false),
            "set" => {
                self.tokens.space()?;
                if self.depth >= MAX_DEPTH || !self.tokens.eat("(") {
                    return None;
                }
                self.tokens.space()?;
                self.tokens.eat(")").then_some(Literal::Set)?
            }
            _ => return None,
        };
        Some(Expression::Value(value))
    }

    /// `()`, `(x)` (which is just x), `(x,)`, `(x, y)`.
    fn parentheses(&mut self) -> Option<Expression> {
        self.tokens.space()?;
        if self.tokens.eat(")") {
            return Some(Expression::Value(Literal::Tuple(Vec::new())));
        }
        let first = self.expression()?;
        self.tokens.space()?;
        if self.tokens.eat(")") {
            return Some(first);
        }
        if !self.tokens.eat(",") {
            return None;
        }
        let first = match first {
            Expression::Number(number) | Expression::Signed(number) => number.into_literal(),
            Expression::Value(value) => value,
        };
        let mut items = self.items(b')')?;
        items.insert(0, first);
        Some(Expression::Value(Literal::Tuple(items)))
    }

    /// Values up to the closing bracket, with an optional comma behind the last.
    fn items(&mut self, close: u8) -> Option<Vec<Literal>> {
        let mut items = Vec::new();
        loop {
            self.tokens.space()?;
            if self.tokens.peek() == Some(close) {
                self.tokens.step();
                return Some(items);
            }
            items.push(self.value()?);
            self.comma_before(close)?;
        }
    }

    /// A dictionary or a set.
    fn braces(&mut self) -> Option<Literal> {
        let mut dict = Dict::default();
        self.tokens.space()?;
        if self.tokens.eat("}") {
            return Some(Literal::Dict(dict));
        }
        let mut key = self.value()?;
        self.tokens.space()?;
        if self.tokens.peek() != Some(b':') {
            self.comma_before(b'}')?;
            let hashable = key.hash_key().is_some() && self.items(b'}')?.iter().all(|item| item.hash_key().is_some());
            return hashable.then_some(Literal::Set);
        }
        loop {
            self.tokens.space()?;
            if !self.tokens.eat(":") {
                return None;
            }
            let value = self.value()?;
            dict.insert(key, value)?;
            self.comma_before(b'}')?;
            self.tokens.space()?;
            if self.tokens.eat("}") {
                return Some(Literal::Dict(dict));
            }
            key = self.value()?;
        }
    }

    /// Steps over a comma, unless the closing bracket comes next.
    fn comma_before(&mut self, close: u8) -> Option<()> {
        self.tokens.space()?;
        (self.tokens.eat(",") || self.tokens.peek() == Some(close)).then_some(())
    }
}
