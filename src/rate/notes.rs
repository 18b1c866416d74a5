//! What a packet's answers file says beside the answers: marks on cases, seconds spent, the chain's head.

use super::exchange::AnswerRow;
use super::json::Pairs;

/// What a line says about its case beside the answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaseNote {
    /// The line, from 1.
    pub line: u64,
    /// The rater's flag with its note.
    pub flag: Option<String>,
    /// The rater knew the case before.
    pub known: bool,
    /// Seconds before the rater's eyes.
    pub seconds: Option<u32>,
    /// Head of the chain when the packet was written.
    pub head: Option<String>,
}

/// Reads the notes of JSON lines; a line without any, or that is no object, has none.
#[must_use]
pub fn read_notes(bytes: &[u8]) -> Vec<CaseNote> {
    let text = String::from_utf8_lossy(bytes);
    let note = |(line, text): (u64, &str)| {
        let object = Pairs::read(text.trim_start_matches('\u{feff}').trim())?;
        let found = CaseNote {
            line,
            flag: object.text("flag"),
            known: object.get("known").is_some_and(|value| value.get() == "true"),
            seconds: object.get("seconds").and_then(|value| value.get().parse().ok()),
            head: object.text("chain_head"),
        };
        let said = found.flag.is_some() || found.known || found.seconds.is_some() || found.head.is_some();
        said.then_some(found)
    };
    (1..).zip(text.split('\n')).filter_map(note).collect()
}

/// The note that stands in the line of a row.
#[must_use]
pub fn note_of<'n>(notes: &'n [CaseNote], row: &AnswerRow) -> Option<&'n CaseNote> {
    notes.iter().find(|note| note.line == row.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_line_by_line() {
        let text = "{\"case\":\"a\",\"flag\":\"look\",\"known\":true,\"seconds\":42,\"chain_head\":\"ff\"}\n\nno json\n{\"case\":\"b\",\"labels\":{}}\n{\"flag\":null,\"known\":false,\"seconds\":-3}\n{\"seconds\":7}";
        let notes = read_notes(text.as_bytes());
        assert_eq!(
            notes,
            [
                CaseNote {
                    line: 1,
                    flag: Some("look".to_owned()),
                    known: true,
                    seconds: Some(42),
                    head: Some("ff".to_owned()),
                },
                CaseNote { line: 6, seconds: Some(7), ..CaseNote::default() },
            ]
        );
    }
}
