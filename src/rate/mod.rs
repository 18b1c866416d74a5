//! Rating: what a rater may see of a case, what a valid answer is, and the files by which both travel. Pure apart from
//! `Read` and `Write` on streams that are handed in: it opens no file and no database and reads no clock.
//!
//! The one core of sheets, prompts, pages and packets: [`rater_case`] decides what is shown, [`check_import`] what is
//! taken.

mod addressed;
mod answer;
mod calls;
mod cells;
mod check;
mod delimited;
mod exchange;
#[cfg(test)]
mod fixture;
mod inert;
mod json;
mod jsonl;
mod markdown;
mod notes;
mod order;
mod prompts;
mod reply;
mod sheet;
mod text;
mod view;

pub mod adjudication;

pub use addressed::{Address, AddressKind, addressed, addressed_text};
pub use calls::{Argument, Call, Piece, pieces};
pub use check::{
    AcceptedRating, BatchExpectation, ExpectedCase, ImportOutcome, MappedValue, StoredRating, check_import,
};
pub use exchange::{AnswerFile, AnswerForm, AnswerRow, LineProblem, Meta, RawAnswer};
pub use inert::{code_span, fenced, visible};
pub use jsonl::{JsonlWriter, read_jsonl};
pub use markdown::case_markdown;
pub use notes::{CaseNote, note_of, read_notes};
pub use order::{by_ticket, derived_seed, rater_order};
pub use prompts::{Prompt, PromptWriter, prompt, prompt_markdown, read_markdown};
pub use reply::{Reply, check_reply};
pub use sheet::{SheetWriter, read_csv};
pub use view::{
    CaseView, ConditionView, EntryView, LabelForm, RaterCase, SectionView, SourceRun, TurnView, rater_case,
};
