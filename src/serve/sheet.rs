//! Everything about one case that its page and the script's answer need: questions, drafts, messages, marks, progress.

use std::collections::BTreeMap;

use serde::Serialize;

use super::look::Level;
use super::room::{Room, State as CaseState, Tour};
use super::save::{Saved, Target};
use super::status::duration;
use crate::error::Result;
use crate::model::LabelId;
use crate::rate::{LineProblem, RaterCase, rater_case};
use crate::store::{Draft, Marks, Store};

/// What is said under questions.
pub(super) type Messages = BTreeMap<LabelId, (Level, String)>;

/// Everything about one case that its page needs.
pub(super) struct Sheet {
    pub number: usize,
    pub case: RaterCase,
    pub drafts: BTreeMap<LabelId, Draft>,
    pub messages: Messages,
    pub marks: Marks,
    pub tour: Tour,
}

impl Sheet {
    pub(super) fn read(store: &Store, room: &Room, number: usize, saved: &Saved) -> Result<Option<Self>> {
        let Some(stored) = room.at(number) else { return Ok(None) };
        let own = store.own(&room.batch, &room.rater);
        let ratings = own.ratings_of(&stored.identity)?;
        let text = store.case_text(&room.batch, stored)?;
        let case = rater_case(&room.rubric, &text, &ratings);
        let drafts = own.drafts()?.remove(&stored.identity).unwrap_or_default();
        let tour = room.tour(&own)?;
        let marks = tour.stops.get(number - 1).map(|stop| stop.marks.clone()).unwrap_or_default();
        let category = crate::model::Category::parse(&stored.category);
        // Why a draft with a value is no answer is found again when the page is opened again.
        let waiting = match category {
            Some(category) if saved.problems.is_empty() => {
                let (digest, events) = (case.digest.clone(), text.events().cloned());
                Target { room, case: stored, category, digest, events }.judge(&ratings, &drafts)
            }
            _ => Vec::new(),
        };
        let mut messages = Messages::new();
        note(&mut messages, &saved.warnings, Level::Note);
        note(&mut messages, &waiting, Level::Refused);
        note(&mut messages, &saved.problems, Level::Refused);
        explain(&mut messages, &drafts);
        Ok(Some(Self { number, case, drafts, messages, marks, tour }))
    }
}

fn note(messages: &mut Messages, problems: &[LineProblem], level: Level) {
    for problem in problems {
        let Some(label) = problem.label.as_deref().and_then(|label| LabelId::parse(label).ok()) else { continue };
        let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
        messages.insert(label, (level, format!("{}{hint}", problem.message)));
    }
}

/// A broken rule names one label, but concerns two: a stored answer keeps standing and says so, and every draft that was
/// not taken says why.
fn explain(messages: &mut Messages, drafts: &BTreeMap<LabelId, Draft>) {
    let refused = messages.values().find(|(level, _)| *level == Level::Refused).map(|(_, text)| text.clone());
    for (label, (level, _)) in messages.iter_mut() {
        if !drafts.contains_key(label) {
            *level = Level::Note;
        }
    }
    let Some(refused) = refused else { return };
    for (label, _) in drafts.iter().filter(|(_, draft)| !draft.value.is_empty()) {
        let message = messages.entry(label.clone()).or_insert_with(|| (Level::Refused, refused.clone()));
        if message.0 == Level::Note {
            *message = (Level::Refused, refused.clone());
        }
    }
}

/// The state of a case, for the script.
#[derive(Serialize)]
pub(super) struct CaseReply {
    questions: Vec<QuestionReply>,
    complete: bool,
    done: usize,
    total: usize,
    left: String,
    next_open: Option<usize>,
}

#[derive(Serialize)]
struct QuestionReply {
    label: LabelId,
    value: String,
    rationale: String,
    state: &'static str,
    level: Option<Level>,
    message: Option<String>,
}

impl CaseReply {
    pub(super) fn new(sheet: &Sheet) -> Self {
        let question = |form: &crate::rate::LabelForm| {
            let stored = form.value.as_ref().map_or("", crate::model::RatingValue::as_str);
            let draft = sheet.drafts.get(&form.label);
            let value = draft.map(|draft| draft.value.as_str()).filter(|value| !value.is_empty()).unwrap_or(stored);
            let message = sheet.messages.get(&form.label);
            QuestionReply {
                label: form.label.clone(),
                value: value.to_owned(),
                rationale: draft.map_or(&form.rationale, |draft| &draft.rationale).clone(),
                state: match (draft, stored) {
                    (Some(_), _) => "draft",
                    (None, "") => "open",
                    (None, _) => "saved",
                },
                level: message.map(|(level, _)| *level),
                message: message.map(|(_, text)| crate::rate::visible(text)),
            }
        };
        let state = sheet.tour.stops.get(sheet.number - 1).map(|stop| stop.state);
        Self {
            questions: sheet.case.labels.iter().map(question).collect(),
            complete: state == Some(CaseState::Done),
            done: sheet.tour.done(),
            total: sheet.tour.stops.len(),
            left: sheet.tour.seconds_left().map(duration).unwrap_or_default(),
            next_open: sheet.tour.next_open(sheet.number),
        }
    }
}
