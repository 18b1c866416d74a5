//! What a rater's pages look like: the bar, a case beside its questions, the list of cases.

use axum::response::Response;
use maud::{Markup, html};

use super::look::{self, Assets, Page, Questions};
use super::reply;
use super::room::{Only, Room, State as CaseState, Stop, Tour};
use super::sheet::Sheet;
use super::status::duration;
use crate::model::{CaseIdentity, RaterName};
use crate::rubric::RationaleRule;
use crate::store::BatchInfo;

/// Names of the batch and the rater, progress, and the ways to other cases.
pub(super) fn bar(room: &Room, tour: &Tour, number: Option<usize>, only: Only) -> Markup {
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

pub(super) fn case_page(room: &Room, sheet: &Sheet, only: Only) -> Response {
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

pub(super) fn list_page(room: &Room, tour: &Tour, only: Only) -> Response {
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
