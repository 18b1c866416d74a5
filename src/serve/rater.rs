//! A rater's pages and what a rater does there.

use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use maud::html;

use super::access::Visitor;
use super::app::App;
use super::fields::Fields;
use super::look::{self, Assets, Page};
use super::rater_pages::{bar, case_page, list_page};
use super::reply::{self, Refusal, go};
use super::room::{Only, Room, State as CaseState};
use super::save::{Saved, Target, last_step};
use super::sheet::{CaseReply, Sheet};
use crate::error::{Error, Result};
use crate::model::{LabelId, RaterName};
use crate::store::{MarkKind, Role, Store};

type Reply = std::result::Result<Response, Refusal>;

/// Longest note to a flag, in bytes.
const LONGEST_NOTE: usize = 4000;

/// The rater behind a link; other roles have no business here.
fn rater(visitor: &Visitor) -> std::result::Result<RaterName, Refusal> {
    visitor.rater.clone().filter(|_| visitor.role == Role::Rater).ok_or_else(Refusal::no_such_page)
}

#[derive(serde::Deserialize)]
pub(super) struct Choice {
    only: Option<Only>,
    to: Option<usize>,
}

/// Where a rater goes on.
pub(super) async fn resume(app: &Arc<App>, visitor: &Visitor) -> Reply {
    let (rater, batch) = (rater(visitor)?, visitor.batch.clone());
    let next = app
        .read(move |store| {
            let room = Room::open(store, &batch, &rater)?;
            let tour = room.tour(&store.own(&room.batch, &rater))?;
            let fresh = tour.stops.iter().all(|stop| stop.state == CaseState::Open);
            Ok((!fresh).then(|| tour.next_open(0)).flatten())
        })
        .await?;
    // Before the first case stands the advice, after the last one the list.
    Ok(go(&next.map_or_else(|| "/cases".to_owned(), |number| format!("/case/{number}"))))
}

pub(super) async fn jump(visitor: Visitor, Query(choice): Query<Choice>) -> Reply {
    rater(&visitor)?;
    Ok(go(&format!("/case/{}{}", choice.to.unwrap_or(1), choice.only.unwrap_or_default().query())))
}

/// One case with its questions.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(number): Path<String>,
    Query(choice): Query<Choice>,
) -> Reply {
    let (rater, batch) = (rater(&visitor)?, visitor.batch);
    let number: usize = number.parse().map_err(|_| Refusal::no_such_page())?;
    let only = choice.only.unwrap_or_default();
    let found = app
        .read(move |store| {
            let room = Room::open(store, &batch, &rater)?;
            let sheet = Sheet::read(store, &room, number, &Saved::default())?;
            Ok(sheet.map(|sheet| case_page(&room, &sheet, only)))
        })
        .await?;
    found.ok_or_else(Refusal::no_such_page)
}

/// The list of all cases.
pub(super) async fn list(State(app): State<Arc<App>>, visitor: Visitor, Query(choice): Query<Choice>) -> Reply {
    let (rater, batch) = (rater(&visitor)?, visitor.batch);
    let only = choice.only.unwrap_or_default();
    app.read(move |store| {
        let room = Room::open(store, &batch, &rater)?;
        let tour = room.tour(&store.own(&room.batch, &rater))?;
        Ok(list_page(&room, &tour, only))
    })
    .await
}

/// The rubric's advice.
pub(super) async fn rubric(State(app): State<Arc<App>>, visitor: Visitor) -> Reply {
    let (rater, batch) = (rater(&visitor)?, visitor.batch);
    app.read(move |store| {
        let room = Room::open(store, &batch, &rater)?;
        let tour = room.tour(&store.own(&room.batch, &rater))?;
        Ok(reply::page(&Page {
            title: &room.rubric.title,
            assets: Assets::Linked,
            class: "plain",
            data: Vec::new(),
            bar: bar(&room, &tour, None, Only::All),
            main: html! {
                article.text-page {
                    h1 { (room.rubric.title) }
                    (look::advice(&room.rubric))
                    p { a.button href="/" { "Go on" } }
                }
            },
        }))
    })
    .await
}

/// An answer: one rating event, acknowledged when the store has it.
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(number): Path<String>,
    headers: HeaderMap,
    Form(fields): Form<Vec<(String, String)>>,
) -> Reply {
    act(app, visitor, number, &headers, fields, |target, own, fields, now| {
        let given = fields.given().map_err(unusable)?;
        known_label(target.room, &given.label)?;
        target.answer(own, &given, now)
    })
    .await
}

/// What was typed and is no answer yet.
pub(super) async fn draft(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(number): Path<String>,
    headers: HeaderMap,
    Form(fields): Form<Vec<(String, String)>>,
) -> Reply {
    act(app, visitor, number, &headers, fields, |target, own, fields, now| {
        let given = fields.given().map_err(unusable)?;
        known_label(target.room, &given.label)?;
        target.draft(own, &given, now)?;
        Ok(Saved::default())
    })
    .await
}

/// Flag, note, known before.
pub(super) async fn mark(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(number): Path<String>,
    headers: HeaderMap,
    Form(fields): Form<Vec<(String, String)>>,
) -> Reply {
    act(app, visitor, number, &headers, fields, |target, own, fields, now| {
        let note = fields.text("note", LONGEST_NOTE).map_err(unusable)?;
        let case = &target.case.identity;
        own.mark(case, MarkKind::Flag, fields.has("flag").then_some(note.trim()), now)?;
        own.mark(case, MarkKind::Known, fields.has("known").then_some(""), now)?;
        Ok(Saved::default())
    })
    .await
}

/// How long the case has been before the rater's eyes.
pub(super) async fn time(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(number): Path<String>,
    headers: HeaderMap,
    Form(fields): Form<Vec<(String, String)>>,
) -> Reply {
    act(app, visitor, number, &headers, fields, |_, _, _, _| Ok(Saved::default())).await
}

/// Takes the latest answer back; shows where.
pub(super) async fn undo(State(app): State<Arc<App>>, visitor: Visitor, headers: HeaderMap) -> Reply {
    let (rater, batch) = (rater(&visitor)?, visitor.batch);
    let now = app.now();
    let place = app
        .write(move |store| {
            let room = Room::open(store, &batch, &rater)?;
            let Some(step) = last_step(&room, &store.own(&room.batch, &rater).events()?) else { return Ok(None) };
            let Some(place) = room.cases.iter().position(|case| case.identity == step.case) else { return Ok(None) };
            let Some(target) = target(store, &room, place + 1)? else { return Ok(None) };
            store.write_own(&room.batch, &rater, |own| target.undo(own, &step, &now))?;
            let question = step.label.map_or_else(String::new, |label| format!("#q-{label}"));
            Ok(Some(format!("/case/{}{question}", place + 1)))
        })
        .await?;
    let place = place.ok_or_else(|| Refusal::new(StatusCode::CONFLICT, "There is nothing to undo."))?;
    if wants_json(&headers) { reply::json(&serde_json::json!({ "go": place })) } else { Ok(go(&place)) }
}

/// The shape of everything that a rater does to a case: in one transaction, together with the time spent.
async fn act(
    app: Arc<App>,
    visitor: Visitor,
    number: String,
    headers: &HeaderMap,
    fields: Vec<(String, String)>,
    deed: impl FnOnce(&Target<'_>, &crate::store::OwnWriter<'_>, &Fields, &str) -> Result<Saved> + Send + 'static,
) -> Reply {
    let (rater, batch) = (rater(&visitor)?, visitor.batch);
    let number: usize = number.parse().map_err(|_| Refusal::no_such_page())?;
    let (fields, now) = (Fields(fields), app.now());
    let back = format!("/case/{number}#q-{}", fields.get("label"));
    let state = app
        .write(move |store| {
            let room = Room::open(store, &batch, &rater)?;
            let Some(target) = target(store, &room, number)? else { return Ok(None) };
            let saved = store.write_own(&room.batch, &rater, |own| {
                let saved = deed(&target, own, &fields, &now)?;
                if let Some((visit, seconds)) = fields.visit() {
                    own.visit(&target.case.identity, &visit, seconds, &now)?;
                }
                Ok::<_, Error>(saved)
            })?;
            Ok(Sheet::read(store, &room, number, &saved)?.map(|sheet| CaseReply::new(&sheet)))
        })
        .await?;
    let state = state.ok_or_else(Refusal::no_such_page)?;
    if wants_json(headers) { reply::json(&state) } else { Ok(go(&back)) }
}

pub(super) fn wants_json(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).is_some_and(|accept| accept == "application/json")
}

pub(super) fn unusable(refusal: Refusal) -> Error {
    Error::data(refusal.message)
}

fn known_label(room: &Room, label: &LabelId) -> Result<()> {
    match room.rubric.label(label) {
        Some(_) => Ok(()),
        None => Err(Error::data("The rubric has no such label.")),
    }
}

fn target<'r>(store: &Store, room: &'r Room, number: usize) -> Result<Option<Target<'r>>> {
    let Some(case) = room.at(number) else { return Ok(None) };
    let text = store.case_text(&room.batch, case)?;
    let category = text.category;
    let digest = crate::rate::CaseView::new(&room.rubric, &text).digest();
    Ok(Some(Target { room, case, category, digest, events: text.events().cloned() }))
}
