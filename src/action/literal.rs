//! Python literals as values: what `ast.literal_eval` can build, with Python's equality of dictionary keys.

use std::collections::BTreeMap;

/// A Python value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    None,
    Bool(bool),
    /// Decimal digits with a sign where negative; no leading zeros, no `-0`. Literals in base 2, 8 or 16 beyond 128 bits keep
    /// their digits behind the base's letter: only the decimal form of a number can be written as JSON.
    Int(String),
    Float(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
    Text(String),
    Bytes(Vec<u8>),
    Ellipsis,
    List(Vec<Literal>),
    Tuple(Vec<Literal>),
    /// Its elements do not matter: a set cannot be written as JSON.
    Set,
    Dict(Dict),
}

/// A dictionary in order of first insertion; a later value of an equal key takes the place of the earlier.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Dict {
    entries: Vec<(Literal, Literal)>,
    index: BTreeMap<String, usize>,
}

impl Dict {
    /// Sets a key. `None`: the key cannot be hashed.
    pub(super) fn insert(&mut self, key: Literal, value: Literal) -> Option<()> {
        let hash = key.hash_key()?;
        if let Some(entry) = self.index.get(&hash).and_then(|at| self.entries.get_mut(*at)) {
            entry.1 = value;
        } else {
            self.index.insert(hash, self.entries.len());
            self.entries.push((key, value));
        }
        Some(())
    }

    pub(super) fn get(&self, key: &str) -> Option<&Literal> {
        let at = self.index.get(&text_key(key))?;
        self.entries.get(*at).map(|(_, value)| value)
    }

    pub(super) fn entries(&self) -> &[(Literal, Literal)] {
        &self.entries
    }
}

impl Literal {
    /// A text that is equal for two values exactly when Python calls them equal as keys. `None`: not hashable.
    pub(super) fn hash_key(&self) -> Option<String> {
        Some(match self {
            Self::None => "none".to_owned(),
            Self::Ellipsis => "...".to_owned(),
            Self::Bool(value) => format!("n{}", u8::from(*value)),
            Self::Int(digits) => format!("n{digits}"),
            Self::Float(value) => float_key(*value),
            Self::Complex(real, imaginary) if *imaginary == 0.0 => float_key(*real),
            Self::Complex(real, imaginary) => format!("c{}+{}", float_key(*real), float_key(*imaginary)),
            Self::Text(text) => text_key(text),
            Self::Bytes(bytes) => format!("b{bytes:?}"),
            Self::Tuple(items) => {
                let mut key = "t".to_owned();
                for item in items {
                    let part = item.hash_key()?;
                    key.extend([part.len().to_string().as_str(), ":", part.as_str()]);
                }
                key
            }
            Self::List(_) | Self::Set | Self::Dict(_) => return None,
        })
    }
}

fn text_key(text: &str) -> String {
    format!("s{text}")
}

/// Floats with a whole value are equal to the integer.
fn float_key(value: f64) -> String {
    if value == 0.0 {
        "n0".to_owned()
    } else if value.is_finite() && value.fract() == 0.0 {
        format!("n{value:.0}")
    } else {
        format!("f{value:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_equal_as_in_python_3_11() {
        let key = |value: Literal| value.hash_key();
        let int = |digits: &str| Literal::Int(digits.to_owned());
        // 1 == 1.0 == True == 1+0j, 2**53 == 9007199254740992.0, 10**22 == 1e22, 10**23 != 1e23, -0.0 == 0
        assert_eq!(key(int("1")), key(Literal::Bool(true)));
        assert_eq!(key(int("1")), key(Literal::Float(1.0)));
        assert_eq!(key(int("1")), key(Literal::Complex(1.0, 0.0)));
        assert_eq!(key(int("9007199254740992")), key(Literal::Float(9_007_199_254_740_992.0)));
        assert_eq!(key(int("10000000000000000000000")), key(Literal::Float(1e22)));
        assert_ne!(key(int("100000000000000000000000")), key(Literal::Float(1e23)));
        assert_eq!(key(int("0")), key(Literal::Float(-0.0)));
        assert_ne!(key(Literal::Text("1".into())), key(int("1")));
        assert_ne!(key(Literal::Text("1".into())), key(Literal::Bytes(b"1".to_vec())));
        let pair = |a: &str, b: &str| Literal::Tuple(vec![Literal::Text(a.into()), Literal::Text(b.into())]);
        assert_ne!(key(pair("a", "bc")), key(pair("ab", "c")));
        assert_eq!(key(Literal::Tuple(vec![int("1")])), key(Literal::Tuple(vec![Literal::Float(1.0)])));
        assert_eq!(key(Literal::Tuple(vec![Literal::List(vec![])])), None);
    }
}
