//! What the adjudicator's pages look like: the list of cases, and a case with both answers to each label left and right.

use std::collections::BTreeMap;

use axum::response::Response;
use maud::{Markup, html};

use super::bench::{Bench, path_key};
use super::look::{self, Assets, Page};
use super::rater_pages::{key, rationale_word};
use super::reply::{self, Refusal};
use crate::model::{LabelId, RaterName};
use crate::rate::adjudication::{ExpectedItem, ItemKind};
use crate::rate::{CaseView, visible};
use crate::rubric::{LabelKind, applicability};
use crate::store::Draft;

/// The list of cases to rule on.
pub(super) fn list_page(bench: &Bench) -> Response {
    let next = bench.dockets.iter().find(|docket| docket.ruled() < docket.items.len());
    let main = html! {
        article.text-page {
            h1 { "Cases to rule on" }
            p {
                "Where the two raters differ, say which answer is right and why; of the cases on which they agree, check a sample. "
                "The answers stand left and right in random order, without names."
            }
            @if bench.waiting > 0 { p { (bench.waiting) " cases wait until both raters are done with them." } }
            p {
                @match next {
                    Some(docket) => a.button.main href={ "/ruling/" (path_key(&docket.case)) } { "Go on" },
                    None => @if bench.dockets.is_empty() { "There is nothing to rule on yet." } @else { strong { "Everything here is ruled on. Thank you." } },
                }
            }
            @if !bench.dockets.is_empty() {
                div.scroll tabindex="0" role="region" aria-label="Cases" {
                    table {
                        thead { tr { th scope="col" { "Case" } th scope="col" { "Why" } th scope="col" { "Ruled" } } }
                        tbody {
                            @for docket in &bench.dockets {
                                tr {
                                    th scope="row" { a href={ "/ruling/" (path_key(&docket.case)) } { code { (visible(docket.case.as_str())) } } }
                                    td { (kind_word(docket.kind)) }
                                    td { (docket.ruled()) " of " (docket.items.len()) }
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
        title: "Cases to rule on",
        assets: Assets::Linked,
        class: "plain",
        data: next.map(|docket| ("open", format!("/ruling/{}", path_key(&docket.case)))).into_iter().collect(),
        bar: bench.bar(None),
        main,
    })
}

fn kind_word(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Disagreement => "the raters differ",
        ItemKind::SpotCheck => "spot check",
    }
}

pub(super) fn ruling_page(
    bench: &Bench,
    place: usize,
    view: &CaseView,
    drafts: &BTreeMap<LabelId, Draft>,
    adjudicator: &RaterName,
) -> Response {
    let Some(docket) = bench.dockets.get(place) else {
        return axum::response::IntoResponse::into_response(Refusal::no_such_page());
    };
    let path = format!("/ruling/{}", path_key(&docket.case));
    let to = |place: usize| bench.dockets.get(place).map(|docket| format!("/ruling/{}", path_key(&docket.case)));
    let (before, after) = (place.checked_sub(1).and_then(to), to(place + 1));
    let open = bench.dockets.iter().cycle().skip(place + 1).take(bench.dockets.len().saturating_sub(1));
    let open = open.into_iter().find(|docket| docket.ruled() < docket.items.len());
    let open = open.map(|docket| format!("/ruling/{}", path_key(&docket.case)));
    let main = html! {
        div.split {
            section.case aria-labelledby="case-title" tabindex="-1" id="case" {
                h1 id="case-title" { "Case " (place + 1) span.of { " of " (bench.dockets.len()) } }
                p.identity { code { (visible(view.case.as_str())) } }
                (look::case(view, ""))
            }
            section.questions aria-labelledby="questions-title" id="questions" {
                h2 id="questions-title" { @if docket.kind == ItemKind::SpotCheck { "Spot check: are the shared answers right?" } @else { "Where the raters differ" } }
                @for item in &docket.items { (ruling(bench, item, view, drafts.get(&item.item.label), &path)) }
                nav.steps aria-label="Previous and next case" {
                    @if let Some(before) = &before { a.button rel="prev" href=(before) { "‹ Previous" } }
                    @if let Some(after) = &after { a.button rel="next" href=(after) { "Next ›" } } @else { a.button href="/rulings" { "To the list" } }
                }
                p.announce role="status" {}
            }
        }
        nav.places aria-label="Parts of the page" { a href="#case" { "Case" } a href="#questions" { "Rulings" } }
    };
    let mut data = vec![
        ("mode", "server".to_owned()),
        ("key", key(&bench.desk.batch, adjudicator)),
        ("rationale", rationale_word(bench.desk.rubric.rationale)),
        ("path", path.clone()),
    ];
    data.extend(before.map(|path| ("prev", path)));
    data.extend(after.map(|path| ("next", path)));
    data.extend(open.map(|path| ("open", path)));
    reply::page(&Page {
        title: &format!("Ruling {} · {}", place + 1, bench.desk.batch.name),
        assets: Assets::Linked,
        class: "rating",
        data,
        bar: bench.bar(Some(&path)),
        main,
    })
}

fn ruling(bench: &Bench, item: &ExpectedItem, view: &CaseView, draft: Option<&Draft>, path: &str) -> Markup {
    let Some(label) = bench.desk.rubric.label(&item.item.label) else { return Markup::default() };
    let Some(stored) = bench.desk.cases.iter().find(|case| case.identity == view.case) else {
        return Markup::default();
    };
    let Some(category) = crate::model::Category::parse(&stored.category) else { return Markup::default() };
    let offered: Vec<String> =
        label.offered(bench.events(&view.case)).into_iter().map(|choice| choice.id.clone()).collect();
    let offers = look::offers(label, applicability(label, category, &stored.stratum), &offered);
    let ruled = item.existing.as_ref();
    let value = draft.map(|draft| draft.value.as_str()).filter(|value| !value.is_empty());
    let value = value.or(ruled.map(|ruled| ruled.value.as_str())).unwrap_or_default();
    let note =
        draft.map(|draft| draft.rationale.as_str()).or(ruled.map(|ruled| ruled.rationale.as_str())).unwrap_or_default();
    let several = matches!(label.kind, LabelKind::Choices(_));
    let id = format!("q-{}", label.id);
    let words = |value: &str| {
        let title = |part: &str| {
            offers.iter().find(|offer| offer.value == part).map_or(part.to_owned(), |offer| offer.title.clone())
        };
        value.split('+').map(title).collect::<Vec<_>>().join(" + ")
    };
    let side = |name: &str, given: &crate::rate::StoredRating| {
        html! {
            div.given {
                p.who { (name) } p.value { strong { (visible(given.value.as_str())) } " " (words(given.value.as_str())) }
                @if given.rationale.is_empty() { p.empty { "no rationale" } } @else { p.text { (visible(&given.rationale)) } }
            }
        }
    };
    html! {
        form.question.ruling .done[ruled.is_some() && draft.is_none()] .draft[draft.is_some()] id=(id) data-label=(label.id) data-several[several]
            method="post" action={ (path) "/answer" } autocomplete="off" {
            input type="hidden" name="label" value=(label.id);
            input type="hidden" name="digest" value=(item.item.digest());
            h3 id={ (id) "-title" } { span.id { (label.id) } " " (label.title) }
            div.givens { (side("Left", &item.item.left)) (side("Right", &item.item.right)) }
            div.explain { p id={ (id) "-ask" } { (label.question) } @if !label.steps.is_empty() { details.how { summary { "How to decide" } ol { @for step in &label.steps { li { (step) } } } } } }
            (look::answers(&id, &format!("Right answer to {}: {}", label.id, label.title), &offers, several, value))
            textarea name="rationale" rows="1" maxlength="20000" aria-label={ "Reason for " (label.id) } placeholder="Why? One sentence is enough" { "\n" (note) }
            p.state role="status" { @if draft.is_some() { "Draft, not a ruling yet" } @else if ruled.is_some() { "Saved" } }
            button.plain-only { "Save " (label.id) }
        }
    }
}
