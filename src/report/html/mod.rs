//! The report as one HTML page: style inside, no script, nothing loaded from anywhere.

mod forest;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::document::{Block, Cell, Document, Fact, Section, Table};
use super::text::visible;

const STYLE: &str = include_str!("style.css");

/// A page may not load or run anything, whatever a run file tried to smuggle into it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The page.
pub(super) fn page(document: &Document) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (visible(&document.title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (visible(&document.title)) }
                    p.subtitle { (visible(&document.subtitle)) }
                    nav aria-label="Sections" {
                        ul {
                            @for section in &document.sections {
                                li { a href={ "#" (section.id) } { (section.title) } }
                            }
                        }
                    }
                }
                main { @for section in &document.sections { (part(section)) } }
            }
        }
    };
    markup.into_string()
}

/// Text in which no line ends between a number and its percent sign.
fn words(text: &str) -> String {
    visible(text).replace(" %", "\u{a0}%")
}

fn part(section: &Section) -> Markup {
    let heading = format!("{}-title", section.id);
    html! {
        section id=(section.id) aria-labelledby=(heading) {
            h2 id=(heading) { (section.title) }
            @for block in &section.blocks { (render(block)) }
        }
    }
}

fn render(block: &Block) -> Markup {
    match block {
        Block::Lead(sentences) => html! { div.lead { @for sentence in sentences { p { (words(sentence)) } } } },
        Block::Paragraph(text) => html! { p { (words(text)) } },
        Block::Heading(text) => html! { h3 { (words(text)) } },
        Block::Warnings(items) => html! {
            aside.warnings aria-label="Before you use these numbers" {
                h3 { "Before you use these numbers" }
                ul { @for item in items { li { (words(item)) } } }
            }
        },
        Block::List(items) => html! { ul.findings { @for item in items { li { (words(item)) } } } },
        Block::Facts(facts) => html! {
            dl {
                @for (name, fact) in facts {
                    dt { (name) }
                    dd {
                        @match fact {
                            Fact::Text(text) => (words(text)),
                            Fact::Code(text) => code { (visible(text)) },
                        }
                    }
                }
            }
        },
        Block::Table(found) => table(found),
        Block::Figure(figure) => forest::figure(figure),
    }
}

fn table(table: &Table) -> Markup {
    let caption = words(&table.caption);
    if table.rows.is_empty() {
        return html! { p.empty { (caption) ": none." } };
    }
    let body = html! {
        @if !table.folded { p.caption { (caption) } }
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table aria-label=(caption) {
                thead {
                    tr {
                        @for column in &table.columns {
                            th scope="col" class=[column.numeric.then_some("number")] { (words(&column.head)) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr class=[row.detail.then_some("detail")] {
                            @for (place, (cell, column)) in row.cells.iter().zip(&table.columns).enumerate() {
                                (data(cell, place == 0, column.numeric))
                            }
                        }
                    }
                }
            }
        }
        @if let Some(note) = &table.note { p.note { (words(note)) } }
    };
    if table.folded {
        let rows = table.rows.len();
        html! {
            details { summary { (caption) span.count { (rows) @if rows == 1 { " row" } @else { " rows" } } } (body) }
        }
    } else {
        body
    }
}

fn data(cell: &Cell, first: bool, numeric: bool) -> Markup {
    let shown = cell.shown();
    let long = matches!(cell, Cell::Text(_)) && shown.chars().count() > 40;
    let class = if numeric {
        Some("number")
    } else if long {
        Some("long")
    } else {
        None
    };
    let content = html! { @if matches!(cell, Cell::Code(_)) { code { (shown) } } @else { (words(&shown)) } };
    if first {
        html! { th scope="row" class=[class] { (content) } }
    } else {
        html! { td class=[class] { (content) } }
    }
}
