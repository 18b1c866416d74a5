//! Reads the `dialogue` table of a rubric: `window` is `all` or `since_last_write`, or `messages` is a number;
//! `arguments` says whether calls are shown with theirs, `aside` (true where absent) whether what stands beside the event is.

use super::fields::Fields;
use crate::rubric::problem::{ProblemKind, Problems};
use crate::rubric::{DialogueRule, Window};

pub(super) fn dialogue(top: &mut Fields<'_, '_>, problems: &mut Problems<'_>) -> Option<DialogueRule> {
    let value = top.raw("dialogue")?;
    let Some(table) = value.get_ref().as_table() else {
        top.wrong_type("dialogue", "a table", value, problems);
        return None;
    };
    let mut inner = Fields::new("the dialogue table".to_owned(), value.span().start, table);
    let window = match inner.raw("messages") {
        Some(_) => {
            let count = inner.number("messages", problems);
            count.map(|count| Window::Messages(u32::try_from(count).unwrap_or(u32::MAX)))
        }
        None => inner.word("window", &[Window::All, Window::SinceLastWrite], written, problems),
    };
    if inner.raw("messages").is_some() && inner.raw("window").is_some() {
        let message = "\"window\" and \"messages\" exclude one another".to_owned();
        problems.add(value.span().start, ProblemKind::Contradiction(message), Some("keep one of them".to_owned()));
    }
    let arguments = inner.boolean("arguments", problems);
    let aside = match inner.raw("aside") {
        Some(_) => inner.boolean("aside", problems),
        None => Some(true),
    };
    inner.finish(problems);
    Some(DialogueRule { window: window?, arguments: arguments?, aside: aside? })
}

fn written(window: Window) -> &'static str {
    match window {
        Window::All | Window::Messages(_) => "all",
        Window::SinceLastWrite => "since_last_write",
    }
}
