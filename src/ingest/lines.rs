//! Reads a file of JSON lines one line at a time, with the digest of its bytes; memory is one line.
//!
//! Lines end at `\n` only; a trailing `\r` belongs to the line and JSON ignores it. A byte order mark at the start is
//! dropped and noted.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::Oddities;
use crate::error::{Error, Place, Result};

/// A line with its number (from 1).
pub struct SourceLine<'a> {
    /// The number, from 1.
    pub number: u64,
    /// The text without the line feed.
    pub text: &'a str,
}

/// Reads a line as an object. (A derived reader would take a list for an object, field by field.)
///
/// # Errors
/// Not JSON, not an object, or not of this shape.
pub fn parse_object<'a, T: serde::Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    if text.trim_start().starts_with('{') {
        serde_json::from_str(text)
    } else {
        // Gives the reader's own error for what is no JSON at all.
        serde_json::from_str::<serde::de::IgnoredAny>(text)?;
        Err(serde::de::Error::custom("the line is JSON but not an object"))
    }
}

/// Streams the lines of one file.
pub struct LineReader {
    path: PathBuf,
    reader: BufReader<File>,
    hasher: Sha256,
    buffer: Vec<u8>,
    number: u64,
    bytes: u64,
    start: usize,
}

impl LineReader {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|source| Error::io("read", path, &source))?;
        Ok(Self {
            path: path.to_path_buf(),
            reader: BufReader::with_capacity(1 << 18, file),
            hasher: Sha256::new(),
            buffer: Vec::new(),
            number: 0,
            bytes: 0,
            start: 0,
        })
    }

    /// The next line that is not blank; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read, or the line is not UTF-8 (with its column).
    pub fn next_line(&mut self, oddities: &mut Oddities) -> Result<Option<SourceLine<'_>>> {
        loop {
            self.buffer.clear();
            let read = self
                .reader
                .read_until(b'\n', &mut self.buffer)
                .map_err(|source| Error::io("read", &self.path, &source))?;
            if read == 0 {
                return Ok(None);
            }
            self.hasher.update(&self.buffer);
            self.bytes += read as u64;
            self.number += 1;
            self.start = 0;
            if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                oddities.note("byte order mark", 1, "");
                self.start = 3;
            }
            if self.buffer.last() == Some(&b'\n') {
                self.buffer.pop();
            }
            if self.buffer.last() == Some(&b'\r') {
                oddities.note("line ends in CRLF", self.number, "");
            }
            if self.buffer[self.start..].iter().any(|byte| !byte.is_ascii_whitespace()) {
                break;
            }
        }
        let place =
            |column: usize| Place { file: self.path.clone(), line: Some(self.number), column: Some(column as u64 + 1) };
        match std::str::from_utf8(&self.buffer[self.start..]) {
            Ok(text) => Ok(Some(SourceLine { number: self.number, text })),
            Err(source) => Err(Error::data("the line is not UTF-8")
                .at(place(self.start + source.valid_up_to()))
                .hint("save the file as UTF-8, or use --skip-bad-lines to go on without the line")),
        }
    }

    /// Reads the rest and returns the file's SHA-256 and size.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn finish(mut self) -> Result<(String, u64)> {
        loop {
            let chunk = self.reader.fill_buf().map_err(|source| Error::io("read", &self.path, &source))?;
            if chunk.is_empty() {
                break;
            }
            let length = chunk.len();
            self.hasher.update(chunk);
            self.bytes += length as u64;
            self.reader.consume(length);
        }
        let digest = self.hasher.finalize();
        let hex = digest.iter().fold(String::with_capacity(64), |mut text, byte| {
            use std::fmt::Write as _;
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok((hex, self.bytes))
    }

    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The SHA-256 and size of a file, without reading it as lines.
///
/// # Errors
/// The file cannot be read.
pub fn file_digest(path: &Path) -> Result<(String, u64)> {
    LineReader::open(path)?.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::sha256_hex;

    fn read(content: &[u8]) -> (Vec<(u64, String)>, Oddities, String) {
        let folder = tempfile::tempdir().expect("temp dir");
        let path = folder.path().join("f.json");
        std::fs::write(&path, content).expect("write");
        let mut reader = LineReader::open(&path).expect("open");
        let mut oddities = Oddities::default();
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line(&mut oddities).expect("line") {
            lines.push((line.number, line.text.to_owned()));
        }
        let (digest, _) = reader.finish().expect("finish");
        (lines, oddities, digest)
    }

    #[test]
    fn bom_crlf_and_blank_lines_are_survived_and_counted() {
        let content = b"\xef\xbb\xbf{}\r\n\n  \n[1]\n{\"a\":1}";
        let (lines, oddities, digest) = read(content);
        assert_eq!(lines, [(1, "{}\r".to_owned()), (4, "[1]".to_owned()), (5, "{\"a\":1}".to_owned())]);
        assert_eq!((oddities.count("byte order mark"), oddities.count("line ends in CRLF")), (1, 1));
        assert_eq!(digest, sha256_hex(content));
    }

    #[test]
    fn a_line_that_is_not_utf8_names_its_column() {
        let folder = tempfile::tempdir().expect("temp dir");
        let path = folder.path().join("f.json");
        std::fs::write(&path, b"{}\n{\"a\":\"\xff\"}\n").expect("write");
        let mut reader = LineReader::open(&path).expect("open");
        let mut oddities = Oddities::default();
        assert!(reader.next_line(&mut oddities).expect("first").is_some());
        let error = reader.next_line(&mut oddities).err().expect("not UTF-8");
        assert_eq!(error.place().and_then(|place| place.column), Some(7));
        assert_eq!(error.place().and_then(|place| place.line), Some(2));
    }
}
