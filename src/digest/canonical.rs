//! Canonical bytes: a byte string that only depends on the values put in, so that equal values have equal digests.
//!
//! Rule (stable; digests are stored): every field is its length in bytes as 64-bit little endian, then its bytes in
//! UTF-8. Lists write their element count the same way before their elements. An absent field is the single byte 0,
//! a present one the byte 1 and the field. Unordered collections are sorted by the caller before they are written.

use sha2::{Digest as _, Sha256};

/// SHA-256 of some bytes as 64 lower-case hex digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    out
}

/// Writes canonical bytes straight into a running SHA-256.
#[derive(Default)]
pub struct Canonical {
    hasher: Sha256,
}

impl Canonical {
    /// An empty canonical writer for values of one type; the tag keeps digests of different types apart.
    #[must_use]
    pub fn new(tag: &str) -> Self {
        Self::default().text(tag)
    }

    /// Adds a text field.
    #[must_use]
    pub fn text(mut self, value: &str) -> Self {
        self.push(value);
        self
    }

    /// Adds an optional text field.
    #[must_use]
    pub fn optional(mut self, value: Option<&str>) -> Self {
        match value {
            None => self.hasher.update([0]),
            Some(text) => {
                self.hasher.update([1]);
                self.push(text);
            }
        }
        self
    }

    /// Adds an integer as its decimal digits.
    #[must_use]
    pub fn number(self, value: u64) -> Self {
        self.text(&value.to_string())
    }

    /// Adds a list of texts.
    #[must_use]
    pub fn list<T: AsRef<str>>(mut self, values: &[T]) -> Self {
        self.hasher.update((values.len() as u64).to_le_bytes());
        for value in values {
            self.push(value.as_ref());
        }
        self
    }

    /// Adds a text field in place (for loops).
    pub fn push(&mut self, value: &str) {
        self.hasher.update((value.len() as u64).to_le_bytes());
        self.hasher.update(value.as_bytes());
    }

    /// The digest of everything written, as 64 lower-case hex digits.
    #[must_use]
    pub fn finish(self) -> String {
        hex(&self.hasher.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha256_of_abc_is_the_value_in_fips_180() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn field_borders_matter() {
        let one = Canonical::new("t").text("ab").text("c").finish();
        let two = Canonical::new("t").text("a").text("bc").finish();
        assert_ne!(one, two);
        assert_ne!(Canonical::new("t").optional(None).finish(), Canonical::new("t").optional(Some("")).finish());
    }

    #[test]
    fn bytes_are_those_of_the_written_rule() {
        // "t" then "ab": lengths as 64-bit little endian before the bytes, hashed as one string.
        let mut bytes = Vec::new();
        bytes.extend([1, 0, 0, 0, 0, 0, 0, 0, b't']);
        bytes.extend([2, 0, 0, 0, 0, 0, 0, 0, b'a', b'b']);
        assert_eq!(Canonical::new("t").text("ab").finish(), sha256_hex(&bytes));
    }
}
