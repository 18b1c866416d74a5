//! Forest plots as SVG, drawn by hand: shapes tell series apart without colour, text stands beside every mark.

use maud::{Markup, html};

use super::words;

use crate::report::document::{Forest, Mark, MarkKind};
use crate::report::number;
use crate::report::text::one_line;

/// Width of the plot itself, the gap beside it, and what a character of text takes, in the drawing's own units.
const PLOT: f64 = 300.0;
const GAP: f64 = 14.0;
const CHARACTER: f64 = 7.2;
const TOP: f64 = 10.0;
/// Height of a row of one mark or line, and of each further one.
const ROW: f64 = 20.0;
const LINE: f64 = 13.0;

/// Where the columns of a drawing end: as wide as their texts need, so that it fits a small screen where it can.
#[derive(Clone, Copy)]
struct Columns {
    labels_end: f64,
    plot_start: f64,
    text: f64,
    width: f64,
}

impl Columns {
    fn of(forest: &Forest) -> Self {
        let longest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0) as f64 * CHARACTER;
        let labels_end =
            longest(&mut forest.rows.iter().flat_map(|row| &row.label).map(|line| shorten(line).chars().count())) + 4.0;
        let plot_start = labels_end + GAP;
        let text = plot_start + PLOT + GAP;
        let width =
            text + longest(&mut forest.rows.iter().flat_map(|row| &row.text).map(|line| shorten(line).chars().count()));
        Self { labels_end, plot_start, text, width }
    }
}

/// The figure with its legend.
pub(super) fn figure(forest: &Forest) -> Markup {
    let (title, description) = (format!("figure-{}-title", forest.name), format!("figure-{}-text", forest.name));
    let columns = Columns::of(forest);
    let mut y = TOP;
    let mut rows = Vec::new();
    for row in &forest.rows {
        let lines = row.marks.len().max(row.label.len()).max(row.text.len());
        let height = ROW + LINE * lines.saturating_sub(1) as f64;
        rows.push((row, y, height));
        y += height;
    }
    let (bottom, height) = (y + 4.0, y + 30.0);
    html! {
        figure {
            figcaption { (words(&forest.title)) }
            div.scroll tabindex="0" role="region" aria-label=(words(&forest.title)) {
                svg viewBox={ "0 0 " (columns.width) " " (height) } width=(columns.width) height=(height) role="img"
                    aria-labelledby={ (title) " " (description) } {
                    title id=(title) { (words(&forest.title)) }
                    desc id=(description) { (one_line(&forest.description)) }
                    @for tick in &forest.ticks {
                        @let x = place(forest, columns, *tick);
                        line.grid x1=(x) x2=(x) y1=(TOP) y2=(bottom) {}
                        text.axis x=(x) y=(bottom + 16.0) text-anchor="middle" { (tick_text(forest, *tick)) }
                    }
                    @if let Some(reference) = forest.reference {
                        @let x = place(forest, columns, reference);
                        line.reference x1=(x) x2=(x) y1=(TOP) y2=(bottom) {}
                    }
                    @for (row, y, height) in &rows {
                        @let middle = y + height / 2.0;
                        @for (index, line) in row.label.iter().enumerate() {
                            text class=(if row.detail { "label detail" } else { "label" }) x=(columns.labels_end)
                                y=(middle + offset(index, row.label.len()) + 4.0) text-anchor="end" { (shorten(line)) }
                        }
                        @for (index, mark) in row.marks.iter().enumerate() {
                            (draw(forest, columns, mark, middle + offset(index, row.marks.len()), row.detail))
                        }
                        @for (index, line) in row.text.iter().enumerate() {
                            text class=(if row.detail { "value detail" } else { "value" }) x=(columns.text)
                                y=(middle + offset(index, row.text.len()) + 4.0) { (shorten(line)) }
                        }
                    }
                }
            }
            @if !forest.legend.is_empty() {
                ul.legend {
                    @for (kind, text) in &forest.legend {
                        li {
                            svg width="16" height="12" viewBox="0 0 16 12" aria-hidden="true" { (shape(*kind, 8.0, 6.0, 4.5)) }
                            (text)
                        }
                    }
                }
            }
        }
    }
}

/// Where one of several lines stands, from the middle of its row.
fn offset(index: usize, of: usize) -> f64 {
    (index as f64 - (of as f64 - 1.0) / 2.0) * LINE
}

/// The horizontal place of a value; values outside the axis stand at its end.
fn place(forest: &Forest, columns: Columns, value: f64) -> String {
    let share = ((value - forest.low) / (forest.high - forest.low)).clamp(0.0, 1.0);
    format!("{:.1}", columns.plot_start + share * PLOT)
}

fn tick_text(forest: &Forest, tick: f64) -> String {
    if forest.percent { format!("{:.0} %", tick * 100.0) } else { number::fixed(Some(tick), 1) }
}

fn draw(forest: &Forest, columns: Columns, mark: &Mark, y: f64, detail: bool) -> Markup {
    let x: f64 = place(forest, columns, mark.value).parse().unwrap_or(columns.plot_start);
    let size = if detail { 3.2 } else { 4.5 };
    html! {
        @if let Some([low, high]) = mark.interval {
            line class={ "interval " (class(mark.kind)) } x1=(place(forest, columns, low)) x2=(place(forest, columns, high)) y1=(y) y2=(y) {}
        }
        (shape(mark.kind, x, y, size))
    }
}

fn class(kind: MarkKind) -> &'static str {
    match kind {
        MarkKind::Disc => "disc",
        MarkKind::Ring => "ring",
        MarkKind::Diamond => "diamond",
    }
}

fn shape(kind: MarkKind, x: f64, y: f64, size: f64) -> Markup {
    let class = class(kind);
    html! {
        @if kind == MarkKind::Diamond {
            @let reach = size + 0.8;
            path class=(class) d={ "M" (x - reach) " " (y) "L" (x) " " (y - reach) "L" (x + reach) " " (y) "L" (x) " " (y + reach) "Z" } {}
        } @else {
            circle class=(class) cx=(x) cy=(y) r=(size) {}
        }
    }
}

fn shorten(text: &str) -> String {
    const LIMIT: usize = 30;
    let line = one_line(text);
    match line.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
