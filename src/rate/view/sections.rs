//! Sections of a case as a rubric shows them: those that its `show` list names, dialogues cut to its window, arguments
//! of calls left out where it says so.

use serde::Serialize;

use crate::digest::Canonical;
use crate::model::{CaseText, SectionEntry, SectionKind};
use crate::rubric::{DialogueRule, Rubric, Shown, Window};

/// A section as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SectionView {
    /// What it holds.
    pub kind: SectionKind,
    /// Heading.
    pub title: String,
    /// Its entries in order.
    pub entries: Vec<EntryView>,
}

/// An entry as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntryView {
    /// Who speaks or what is said.
    pub speaker: String,
    /// The text.
    pub text: String,
    /// It is what the question is about.
    pub marked: bool,
}

/// The sections that a rubric shows, and what must be said about their gaps.
pub(super) fn sections(rubric: &Rubric, case: &CaseText) -> (Vec<SectionView>, Vec<String>) {
    let rule = rubric.dialogue.unwrap_or_default();
    let mut notes = Vec::new();
    let mut views = Vec::new();
    for section in case.sections.iter().filter(|section| rubric.shows(item(section.kind))) {
        let entries = match section.kind {
            SectionKind::Dialogue => {
                let (entries, hidden) = window(rule.window, &section.entries);
                if hidden > 0 {
                    notes.push(format!("Of the dialogue before this, {hidden} earlier messages are not shown."));
                }
                entries
            }
            SectionKind::WriteEvent | SectionKind::Policy | SectionKind::Task => section.entries.as_slice(),
        };
        let view = |entry: &SectionEntry| shown(rule, entry);
        views.push(SectionView {
            kind: section.kind,
            title: section.title.clone(),
            entries: entries.iter().filter(|entry| rule.aside || !entry.aside).map(view).collect(),
        });
    }
    (views, notes)
}

fn item(kind: SectionKind) -> Shown {
    match kind {
        SectionKind::Task => Shown::Task,
        SectionKind::Policy => Shown::Policy,
        SectionKind::Dialogue => Shown::Dialogue,
        SectionKind::WriteEvent => Shown::WriteEvent,
    }
}

fn shown(rule: DialogueRule, entry: &SectionEntry) -> EntryView {
    let brief = entry.without_arguments.as_ref().filter(|_| !rule.arguments);
    EntryView { speaker: entry.speaker.clone(), text: brief.unwrap_or(&entry.text).clone(), marked: entry.marked }
}

/// The entries of a window and how many messages stand before it.
fn window(window: Window, entries: &[SectionEntry]) -> (&[SectionEntry], usize) {
    let start = match window {
        Window::All => 0,
        Window::SinceLastWrite => since_last_write(entries),
        Window::Messages(count) => last_messages(entries, count),
    };
    let (before, rest) = entries.split_at(start.min(entries.len()));
    (rest, messages(before))
}

fn messages(entries: &[SectionEntry]) -> usize {
    let mut indexes: Vec<u32> = entries.iter().map(|entry| entry.message).collect();
    indexes.dedup();
    indexes.len()
}

/// The entry behind the last write that was followed by a word of the user. Writes that follow one another without a
/// word of the user between them stay together: one approval may have covered all of them.
fn since_last_write(entries: &[SectionEntry]) -> usize {
    let Some(word) = entries.iter().rposition(|entry| entry.speaker == "user") else { return 0 };
    let before = entries.get(..word).unwrap_or_default();
    before.iter().rposition(|entry| entry.write).map_or(0, |write| write + 1)
}

/// The first entry of the last `count` messages.
fn last_messages(entries: &[SectionEntry], count: u32) -> usize {
    let mut seen = 0;
    let mut last = None;
    for (index, entry) in entries.iter().enumerate().rev() {
        if last != Some(entry.message) {
            if seen == count {
                return index + 1;
            }
            seen += 1;
            last = Some(entry.message);
        }
    }
    0
}

/// Writes sections into a digest; nothing at all where there are none, so that digests of cases without them stay.
pub(super) fn write(mut writer: Canonical, sections: &[SectionView]) -> Canonical {
    if sections.is_empty() {
        return writer;
    }
    writer = writer.text("sections/1").number(sections.len() as u64);
    for section in sections {
        writer = writer.text(section.kind.as_str()).text(&section.title).number(section.entries.len() as u64);
        for entry in &section.entries {
            writer = writer.text(&entry.speaker).text(&entry.text).text(if entry.marked { "1" } else { "0" });
        }
    }
    writer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialogue(spec: &[(&str, u32, bool)]) -> Vec<SectionEntry> {
        let entry = |(speaker, message, write): &(&str, u32, bool)| SectionEntry {
            speaker: (*speaker).to_owned(),
            message: *message,
            write: *write,
            ..SectionEntry::default()
        };
        spec.iter().map(entry).collect()
    }

    /// Counted by hand: user 1, assistant 2, user 3 | write 4, result 5, assistant 6, user 7 | write 8.
    #[test]
    fn the_window_begins_behind_the_last_write_that_the_user_answered() {
        let talk = dialogue(&[
            ("user", 1, false),
            ("assistant", 2, false),
            ("user", 3, false),
            ("call", 4, true),
            ("result", 5, false),
            ("assistant", 6, false),
            ("user", 7, false),
        ]);
        assert_eq!(window(Window::SinceLastWrite, &talk), (&talk[4..], 4));
        assert_eq!(window(Window::All, &talk), (&talk[..], 0));
        // A second write on the same approval: everything that led to the first stays.
        let mut batch = talk.clone();
        batch.extend(dialogue(&[("call", 8, true), ("result", 9, false)]));
        assert_eq!(window(Window::SinceLastWrite, &batch), (&batch[4..], 4));
        assert_eq!(window(Window::SinceLastWrite, &[]), (&[][..], 0));
    }

    #[test]
    fn a_window_of_messages_counts_messages_and_not_entries() {
        let talk = dialogue(&[("user", 1, false), ("assistant", 2, false), ("call", 2, false), ("result", 3, false)]);
        assert_eq!(window(Window::Messages(2), &talk), (&talk[1..], 1));
        assert_eq!(window(Window::Messages(10), &talk), (&talk[..], 0));
        assert_eq!(window(Window::Messages(0), &talk).0.len(), 0);
    }
}
