//! What raters see, as HTML. A case is rendered from [`crate::rate::CaseView`] and nothing else; all text from runs and
//! data sets goes through [`crate::rate::visible`] and maud's escaping. The page of the server and the offline packet are
//! made of the same parts.

mod case;
mod compare;
mod form;
mod rubric;
mod shell;
mod text;

pub(super) use case::case;
pub(super) use form::{Level, Questions, answers, offers, questions};
pub(super) use rubric::advice;
pub(super) use shell::{Assets, Page, SCRIPT, STYLE, document, keys, progress};
