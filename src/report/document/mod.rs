//! A view laid out for reading: sections of paragraphs, tables and figures. Every text format is made from this, so that
//! a number that stands on the page stands in the Markdown text and in the tables too.

mod agreement;
mod cases;
mod estimates;
mod forest;
mod gar;
mod independence;
mod mechanical;
mod nonresponse;
mod origin;
mod rates;
mod sides;
mod table;

pub(super) use forest::{Forest, Mark, MarkKind};
pub(super) use table::{Cell, Column, Row, Table};

use super::View;
use crate::agree::Undefined;
use crate::agree::diagnose::{Finding, Kind};

/// A report as a sequence of sections.
pub(super) struct Document {
    pub title: String,
    /// One line under the title.
    pub subtitle: String,
    pub sections: Vec<Section>,
}

/// A section.
pub(super) struct Section {
    /// Its place on the page; a short name.
    pub id: &'static str,
    pub title: String,
    pub blocks: Vec<Block>,
}

/// A part of a section.
pub(super) enum Block {
    /// The sentences that say what the audit says.
    Lead(Vec<String>),
    Paragraph(String),
    /// A heading inside a section.
    Heading(String),
    /// Warnings.
    Warnings(Vec<String>),
    /// Findings or other sentences, one item each.
    List(Vec<String>),
    /// Name and value.
    Facts(Vec<(String, Fact)>),
    Table(Table),
    Figure(Forest),
}

/// A value in a list of facts.
pub(super) enum Fact {
    Text(String),
    /// A digest, a command line: set in a fixed-width face.
    Code(String),
}

impl Document {
    /// All tables in order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }
}

/// Lays out a view.
pub(super) fn of(view: &View) -> Document {
    let header = &view.header;
    let mut sections = vec![Section { id: "summary", title: "What this audit says".to_owned(), blocks: summary(view) }];
    sections.push(cases::section(view));
    sections.push(agreement::section(view));
    sections.push(independence::section(view));
    sections.extend(mechanical::section(view));
    sections.extend(independence::judges(view));
    sections.extend(rates::sections(view));
    sections.extend(nonresponse::section(view));
    sections.push(gar::section(view));
    sections.extend(estimates::section(view));
    sections.push(sides::section(view));
    sections.extend(sides::list(view));
    sections.push(origin::section(view));
    Document {
        title: format!("Audit report: {}", header.batch),
        subtitle: format!(
            "{} cases, {} and {}, rubric {}, made {}",
            header.cases, header.pair[0], header.pair[1], header.rubric, view.provenance.generated_at
        ),
        sections,
    }
}

/// The findings of some kinds, one sentence or two each.
fn findings(view: &View, wanted: impl Fn(Kind) -> bool) -> Option<Block> {
    let texts: Vec<String> = view.findings.iter().filter(|f| wanted(f.kind)).map(Finding::sentence).collect();
    (!texts.is_empty()).then_some(Block::List(texts))
}

/// Why a coefficient or its interval is missing, in a few words.
fn remark(reason: Option<Undefined>) -> &'static str {
    match reason {
        None => "",
        Some(Undefined::NoUnits) => "no pairs",
        Some(Undefined::OneCategory) => "one category only",
        Some(Undefined::ConstantRater) => "one side constant",
        Some(Undefined::Degenerate) => "standard error 0",
        Some(Undefined::TooManyUndefined) => "bootstrap undefined",
        Some(Undefined::NoReplicates) => "no bootstrap",
        // Reasons that cannot arise for two raters' nominal labels have their whole sentence.
        Some(other) => other.text(),
    }
}

fn summary(view: &View) -> Vec<Block> {
    let mut blocks = vec![Block::Lead(view.lead.clone())];
    if !view.warnings.is_empty() {
        blocks.push(Block::Warnings(view.warnings.iter().map(|warning| warning.text.clone()).collect()));
    }
    blocks
}
