//! The report as Markdown (GitHub's dialect: tables). What others wrote is escaped; nothing of it becomes markup or HTML.

use std::fmt::Write as _;

use super::document::{Block, Document, Fact, Table};
use super::text::one_line;

/// The document as Markdown.
pub(super) fn text(document: &Document) -> String {
    let mut out = format!("# {}\n\n{}\n", escape(&document.title), escape(&document.subtitle));
    for section in &document.sections {
        let _ = write!(out, "\n## {}\n", escape(&section.title));
        for block in &section.blocks {
            out.push('\n');
            out += &part(block);
        }
    }
    out
}

fn part(block: &Block) -> String {
    match block {
        Block::Lead(sentences) => format!("{}\n", escape(&sentences.join(" "))),
        Block::Paragraph(text) => format!("{}\n", escape(text)),
        Block::Heading(text) => format!("### {}\n", escape(text)),
        Block::Warnings(items) => {
            format!("**Before you use these numbers**\n\n{}", items.iter().map(|item| bullet(item)).collect::<String>())
        }
        Block::List(items) => items.iter().map(|item| bullet(item)).collect(),
        Block::Facts(facts) => {
            let line = |(name, fact): &(String, Fact)| {
                let (Fact::Text(value) | Fact::Code(value)) = fact;
                bullet(&format!("{name}: {value}"))
            };
            facts.iter().map(line).collect()
        }
        Block::Table(found) => table(found),
        // A figure shows what the tables say.
        Block::Figure(_) => String::new(),
    }
}

fn bullet(text: &str) -> String {
    format!("- {}\n", escape(text))
}

fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = format!("**{}**\n\n", escape(&table.caption));
    if table.rows.is_empty() {
        return out + "None.\n";
    }
    out += &line(table.columns.iter().map(|column| escape(&column.head)).collect());
    let rule = |numeric: bool| if numeric { "---:" } else { "---" }.to_owned();
    out += &line(table.columns.iter().map(|column| rule(column.numeric)).collect());
    for row in &table.rows {
        out += &line(row.cells.iter().map(|cell| escape(&cell.shown())).collect());
    }
    if let Some(note) = &table.note {
        let _ = write!(out, "\n{}\n", escape(note));
    }
    out
}

/// On one line, with every character that could be markup disarmed. Underscores inside words are none.
pub(super) fn escape(text: &str) -> String {
    let line = one_line(text);
    let mut out = String::with_capacity(line.len() + 8);
    let mut before: Option<char> = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let after = rest.peek().copied();
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '_' if inside(before, after) => out.push(c),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '|' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            '-' | '+' | '=' if before.is_none() => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
        before = Some(c);
    }
    out
}

fn inside(before: Option<char>, after: Option<char>) -> bool {
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    word(before) && word(after)
}
