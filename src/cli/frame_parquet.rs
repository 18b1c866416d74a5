//! A table of texts as a Parquet file: one plain, uncompressed page per column and row group, all columns required UTF-8.
//!
//! This small part of the format is all that a frame needs, and the crate that writes all of it takes longer to build than
//! everything else here. Layout: Apache Parquet format 2.x (parquet.thrift), Thrift compact protocol. `scripts/prove engines`
//! reads the file back with DuckDB.

use std::io::{self, Write};

/// Rows in a row group: a page stays far below the format's 2 GiB.
const GROUP: usize = 100_000;

const BYTE_ARRAY: i64 = 6;
const PLAIN: i64 = 0;
const RLE: i64 = 3;

/// Writes rows of texts.
pub(super) struct ParquetWriter<W: Write> {
    out: W,
    offset: u64,
    columns: Vec<&'static str>,
    /// Per column: the plain values of the row group being made.
    values: Vec<Vec<u8>>,
    rows: usize,
    groups: Vec<Group>,
    metadata: Vec<(String, String)>,
}

/// A written row group: its rows, and per column the place and size of its page.
struct Group {
    rows: usize,
    chunks: Vec<(u64, u64)>,
}

impl<W: Write> ParquetWriter<W> {
    pub(super) fn new(mut out: W, columns: Vec<&'static str>, metadata: Vec<(String, String)>) -> io::Result<Self> {
        out.write_all(b"PAR1")?;
        let values = columns.iter().map(|_| Vec::new()).collect();
        Ok(Self { out, offset: 4, columns, values, rows: 0, groups: Vec::new(), metadata })
    }

    /// Adds a row: one text per column.
    pub(super) fn row<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> io::Result<()> {
        for (column, text) in self.values.iter_mut().zip(texts) {
            let length = u32::try_from(text.len()).map_err(io::Error::other)?;
            column.extend_from_slice(&length.to_le_bytes());
            column.extend_from_slice(text.as_bytes());
        }
        self.rows += 1;
        if self.rows == GROUP { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut chunks = Vec::new();
        for column in &mut self.values {
            let mut header = Thrift::default();
            header.int(1, 0, I32); // a data page
            header.int(2, column.len() as i64, I32);
            header.int(3, column.len() as i64, I32);
            header.structure(5, |page| {
                page.int(1, self.rows as i64, I32);
                page.int(2, PLAIN, I32);
                page.int(3, RLE, I32);
                page.int(4, RLE, I32);
            });
            let header = header.end();
            self.out.write_all(&header)?;
            self.out.write_all(column)?;
            let size = (header.len() + column.len()) as u64;
            chunks.push((self.offset, size));
            self.offset += size;
            column.clear();
        }
        self.groups.push(Group { rows: self.rows, chunks });
        self.rows = 0;
        Ok(())
    }

    /// Writes the footer.
    pub(super) fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.end_group()?;
        }
        let rows: usize = self.groups.iter().map(|group| group.rows).sum();
        let mut file = Thrift::default();
        file.int(1, 1, I32);
        file.list(2, STRUCT, self.columns.len() + 1, |list| {
            list.element(|root| {
                root.binary(4, "frame");
                root.int(5, self.columns.len() as i64, I32);
            });
            for name in &self.columns {
                list.element(|column| {
                    column.int(1, BYTE_ARRAY, I32);
                    column.int(3, 0, I32); // required
                    column.binary(4, name);
                    column.int(6, 0, I32); // UTF8
                    column.structure(10, |logical| logical.structure(1, |_| {}));
                });
            }
        });
        file.int(3, rows as i64, I64);
        file.list(4, STRUCT, self.groups.len(), |list| {
            for group in &self.groups {
                list.element(|out| self.group(group, out));
            }
        });
        file.list(5, STRUCT, self.metadata.len(), |list| {
            for (key, value) in &self.metadata {
                list.element(|pair| {
                    pair.binary(1, key);
                    pair.binary(2, value);
                });
            }
        });
        file.binary(6, concat!("dualrater version ", env!("CARGO_PKG_VERSION")));
        let footer = file.end();
        self.out.write_all(&footer)?;
        self.out.write_all(&u32::try_from(footer.len()).map_err(io::Error::other)?.to_le_bytes())?;
        self.out.write_all(b"PAR1")?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn group(&self, group: &Group, out: &mut Thrift) {
        out.list(1, STRUCT, self.columns.len(), |list| {
            for (name, (offset, size)) in self.columns.iter().zip(&group.chunks) {
                list.element(|chunk| {
                    chunk.int(2, *offset as i64, I64);
                    chunk.structure(3, |meta| {
                        meta.int(1, BYTE_ARRAY, I32);
                        meta.list(2, I32, 1, |list| list.number(PLAIN));
                        meta.list(3, BINARY, 1, |list| list.text(name));
                        meta.int(4, 0, I32); // uncompressed
                        meta.int(5, group.rows as i64, I64);
                        meta.int(6, *size as i64, I64);
                        meta.int(7, *size as i64, I64);
                        meta.int(9, *offset as i64, I64);
                    });
                });
            }
        });
        out.int(2, group.chunks.iter().map(|(_, size)| *size as i64).sum(), I64);
        out.int(3, group.rows as i64, I64);
    }
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// One struct in Thrift's compact protocol.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    last: u8,
}

impl Thrift {
    /// Field ids only grow, by less than 16.
    fn field(&mut self, id: u8, kind: u8) {
        self.bytes.push(((id - self.last) << 4) | kind);
        self.last = id;
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push((value as u8 & 0x7f) | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn number(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)).cast_unsigned());
    }

    fn text(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn int(&mut self, id: u8, value: i64, kind: u8) {
        self.field(id, kind);
        self.number(value);
    }

    fn binary(&mut self, id: u8, text: &str) {
        self.field(id, BINARY);
        self.text(text);
    }

    fn structure(&mut self, id: u8, fill: impl FnOnce(&mut Self)) {
        self.field(id, STRUCT);
        self.element(fill);
    }

    /// A struct as an element of a list.
    fn element(&mut self, fill: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.last);
        fill(self);
        self.bytes.push(0);
        self.last = outer;
    }

    fn list(&mut self, id: u8, kind: u8, length: usize, fill: impl FnOnce(&mut Self)) {
        self.field(id, LIST);
        if length < 15 {
            self.bytes.push(((length as u8) << 4) | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            self.varint(length as u64);
        }
        fill(self);
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_zigzag_varints_as_the_thrift_specification_has_them() {
        // Compact protocol: 0 → 00, -1 → 01, 1 → 02, 50399 → 0xBE 0x93 0x06 after zigzag (100798).
        for (value, bytes) in [(0, vec![0]), (-1, vec![1]), (1, vec![2]), (50_399, vec![0xbe, 0x93, 0x06])] {
            let mut out = Thrift::default();
            out.number(value);
            assert_eq!(out.bytes, bytes, "{value}");
        }
    }

    #[test]
    fn a_file_begins_and_ends_with_the_mark_and_points_at_its_footer() {
        let mut writer = ParquetWriter::new(Vec::new(), vec!["item_id", "stratum"], Vec::new()).expect("memory");
        writer.row(["läufe/日本語", "A"]).expect("memory");
        let bytes = writer.finish().expect("memory");
        assert_eq!((&bytes[..4], &bytes[bytes.len() - 4..]), (&b"PAR1"[..], &b"PAR1"[..]));
        let length = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().expect("4 bytes")) as usize;
        assert_eq!(bytes[bytes.len() - 8 - length], 0x15, "the footer opens with field 1, an integer");
        assert!(bytes.windows(15).any(|part| part == "läufe/日本語".as_bytes().get(..15).expect("longer")));
    }
}
