//! A rater's pages and what a rater does there.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use maud::{Markup, html};
use serde::Serialize;

use super::access::Visitor;
use super::app::App;
use super::fields::Fields;
use super::look::{self, Assets, Level, Page, Questions};
use super::reply::{self, Refusal, go};
use super::room::{Only, Room, State as CaseState, Stop, Tour};
use super::save::{Saved, Target, last_step};
use super::status::duration;
use crate::error::{Error, Result};
use crate::model::{CaseIdentity, LabelId, RaterName};
use crate::rate::{LineProblem, RaterCase};
use crate::rubric::RationaleRule;
use crate::store::{BatchInfo, Draft, MarkKind, Marks, Role, Store};

type Reply = std::result::Result<Response, Refusal>;
type Messages = BTreeMap<LabelId, (Level, String)>;

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
    Ok(Some(Target { room, case, category, digest }))
}

/// Everything about one case that its page needs.
struct Sheet {
    number: usize,
    case: RaterCase,
    drafts: BTreeMap<LabelId, Draft>,
    messages: Messages,
    marks: Marks,
    tour: Tour,
}

impl Sheet {
    fn read(store: &Store, room: &Room, number: usize, saved: &Saved) -> Result<Option<Self>> {
        let Some(stored) = room.at(number) else { return Ok(None) };
        let own = store.own(&room.batch, &room.rater);
        let ratings = own.ratings_of(&stored.identity)?;
        let case = room.case(store, stored, &ratings)?;
        let drafts = own.drafts()?.remove(&stored.identity).unwrap_or_default();
        let tour = room.tour(&own)?;
        let marks = tour.stops.get(number - 1).map(|stop| stop.marks.clone()).unwrap_or_default();
        let category = crate::model::Category::parse(&stored.category);
        // Why a draft with a value is no answer is found again when the page is opened again.
        let waiting = match category {
            Some(category) if saved.problems.is_empty() => {
                Target { room, case: stored, category, digest: case.digest.clone() }.judge(&ratings, &drafts)
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
struct CaseReply {
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
    fn new(sheet: &Sheet) -> Self {
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

/// Names of the batch and the rater, progress, and the ways to other cases.
fn bar(room: &Room, tour: &Tour, number: Option<usize>, only: Only) -> Markup {
    html! {
        strong.name { (room.batch.name) } " " span.whose { (room.rater) }
        (look::progress(tour.done(), tour.stops.len(), tour.seconds_left()))
        nav aria-label="Cases" {
            a href={ "/cases" (only.query()) } { "All cases" }
            a href="/rubric" { "Rubric" }
            form.jump action="/jump" {
                select name="to" aria-label="Go to case" {
                    @for stop in &tour.stops { option value=(stop.number) selected[Some(stop.number) == number] { (stop.number) (sign(stop)) } }
                }
                @if only != Only::All { input type="hidden" name="only" value=(only.query().trim_start_matches("?only=")); }
                button.plain-only { "Go" }
            }
        }
        (look::keys(true))
    }
}

fn sign(stop: &Stop) -> &'static str {
    match (stop.state, stop.marks.flag.is_some()) {
        (CaseState::Done, false) => " ✓",
        (CaseState::Done, true) => " ✓ ⚑",
        (CaseState::Begun, false) => " …",
        (CaseState::Begun, true) => " … ⚑",
        (CaseState::Open, false) => "",
        (CaseState::Open, true) => " ⚑",
    }
}

pub(super) fn rationale_word(rule: RationaleRule) -> String {
    match rule {
        RationaleRule::Required => "required",
        RationaleRule::Expected => "expected",
        RationaleRule::Optional => "optional",
    }
    .to_owned()
}

/// What the script keeps unsent answers under: two raters on one browser must not mix.
pub(super) fn key(batch: &BatchInfo, rater: &RaterName) -> String {
    format!("{}/{}/{}", batch.name, rater, batch.rubric.0.get(..12).unwrap_or_default())
}

fn case_page(room: &Room, sheet: &Sheet, only: Only) -> Response {
    let (number, tour) = (sheet.number, &sheet.tour);
    let path = format!("/case/{number}");
    let to = |number: usize| format!("/case/{number}{}", only.query());
    let (before, after) = (tour.before(number, only), tour.after(number, only));
    let next_open = tour.next_open(number).filter(|next| *next != number);
    let questions = Questions {
        rubric: &room.rubric,
        case: &sheet.case,
        drafts: &sheet.drafts,
        messages: &sheet.messages,
        marks: &sheet.marks,
        action: Some(&path),
        prefix: "",
    };
    let main = html! {
        div.split {
            section.case aria-labelledby="case-title" tabindex="-1" id="case" {
                h1 id="case-title" { "Case " (number) span.of { " of " (tour.stops.len()) } }
                p.identity { code { (crate::rate::visible(sheet.case.view.case.as_str())) } }
                (look::case(&sheet.case.view, ""))
            }
            section.questions aria-labelledby="questions-title" id="questions" {
                h2 id="questions-title" { "Questions" }
                (look::questions(&questions))
                nav.steps aria-label="Previous and next case" {
                    @if let Some(before) = before { a.button rel="prev" href=(to(before)) { "‹ Previous" } }
                    form method="post" action="/undo" class="undo" { button { "Undo" } }
                    @if let Some(after) = after { a.button rel="next" href=(to(after)) { "Next ›" } }
                    @if after.is_none() && next_open.is_none() { a.button href="/cases" { "To the list" } }
                }
                p.announce role="status" {}
            }
        }
        nav.places aria-label="Parts of the page" { a href="#case" { "Case" } a href="#questions" { "Questions" } }
    };
    let mut data = vec![
        ("mode", "server".to_owned()),
        ("key", key(&room.batch, &room.rater)),
        ("rationale", rationale_word(room.rubric.rationale)),
        ("path", path.clone()),
    ];
    data.extend(before.map(|number| ("prev", to(number))));
    data.extend(after.map(|number| ("next", to(number))));
    data.extend(next_open.map(|number| ("open", to(number))));
    reply::page(&Page {
        title: &format!("Case {number} · {}", room.batch.name),
        assets: Assets::Linked,
        class: "rating",
        data,
        bar: bar(room, tour, Some(number), only),
        main,
    })
}

fn list_page(room: &Room, tour: &Tour, only: Only) -> Response {
    let fresh = tour.stops.iter().all(|stop| stop.state == CaseState::Open);
    let next = tour.next_open(0);
    let name = |case: &CaseIdentity| crate::rate::visible(case.as_str());
    let main = html! {
        article.text-page {
            h1 { "Your cases" }
            @if fresh {
                p { "You rate " (tour.stops.len()) " cases, in an order of your own. What you answer is stored at once; you can stop at any time and go on later with the same link." }
                details.before open { summary { "Before you begin: " (room.rubric.title) } (look::advice(&room.rubric)) }
            }
            p {
                @match next {
                    Some(next) => a.button.main href={ "/case/" (next) } { @if fresh { "Begin" } @else { "Go on with case " (next) } },
                    None => strong { "All cases are done. Thank you." },
                }
            }
            nav.filter aria-label="Filter" {
                @for (choice, _, title) in Only::EVERY {
                    a href={ "/cases" (choice.query()) } aria-current=[(choice == only).then_some("page")] { (title) " (" (tour.taken(choice).count()) ")" }
                }
            }
            div.scroll tabindex="0" role="region" aria-label="Cases" {
                table {
                    thead { tr { th scope="col" { "Case" } th scope="col" { "State" } th scope="col" { "Time" } th scope="col" { "Marks" } } }
                    tbody {
                        @for stop in tour.taken(only) {
                            tr {
                                th scope="row" { a href={ "/case/" (stop.number) (only.query()) } { (stop.number) } " " code { (name(&stop.case)) } }
                                td { span class={ "stop " (stop.state.word()) } { (stop.state.word()) } }
                                td { @if stop.seconds > 0 { (duration(stop.seconds)) } }
                                td {
                                    @if let Some(note) = &stop.marks.flag { "⚑ flagged" @if !note.is_empty() { ": " (crate::rate::visible(note)) } " " }
                                    @if stop.marks.known { "known" }
                                }
                            }
                        }
                    }
                }
            }
            form method="post" action="/out" { button { "Sign out" } }
        }
    };
    reply::page(&Page {
        title: "Your cases",
        assets: Assets::Linked,
        class: "plain",
        data: next
            .map(|next| ("open", format!("/case/{next}")))
            .into_iter()
            .chain([("key", key(&room.batch, &room.rater))])
            .collect(),
        bar: bar(room, tour, None, only),
        main,
    })
}
