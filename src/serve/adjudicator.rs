//! The adjudicator's pages: per case the labels on which the raters differ, with both answers left and right in random
//! order and without names, and a sample of cases on which they agree. A case is here only once both raters are done
//! with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Form, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::json;

use super::access::Visitor;
use super::app::App;
use super::fields::Fields;
use super::look::{self, Assets, Level, Page};
use super::rater::{key, rationale_word, unusable, wants_json};
use super::reply::{self, Refusal, go};
use super::save::Given;
use crate::desk::{Desk, planned, rated_cases, ruling_entries, rulings_expected};
use crate::digest::sha256_hex;
use crate::error::{Error, Result};
use crate::model::{BatchName, CaseIdentity, LabelId, RaterName};
use crate::rate::adjudication::{AdjudicationExpectation, ExpectedItem, ItemKind, RulingRow, check_rulings};
use crate::rate::{CaseView, visible};
use crate::rubric::{LabelKind, applicability};
use crate::store::{Draft, Role, Store};

type Reply = std::result::Result<Response, Refusal>;

fn adjudicator(visitor: &Visitor) -> std::result::Result<RaterName, Refusal> {
    visitor.rater.clone().filter(|_| visitor.role == Role::Adjudicator).ok_or_else(Refusal::no_such_page)
}

/// A case's name in a path: nothing of the case itself, and the same whatever else is planned.
fn path_key(case: &CaseIdentity) -> String {
    sha256_hex(case.as_str().as_bytes()).chars().take(16).collect()
}

/// One case before the adjudicator.
struct Docket {
    case: CaseIdentity,
    kind: ItemKind,
    items: Vec<ExpectedItem>,
}

impl Docket {
    fn ruled(&self) -> usize {
        self.items.iter().filter(|item| item.existing.is_some()).count()
    }
}

/// All cases before the adjudicator, and how many wait for a rater.
struct Bench {
    desk: Desk,
    dockets: Vec<Docket>,
    waiting: usize,
}

impl Bench {
    fn read(store: &Store, batch: &BatchName, adjudicator: &RaterName, spot_checks: usize) -> Result<Self> {
        let desk = Desk::open(store, batch)?;
        let expected = match rulings_expected(&desk, store, adjudicator, true) {
            Ok(expected) => expected,
            // Without two raters there is nothing to rule on yet.
            Err(_) if desk.audit.pair.is_none() => {
                return Ok(Self { waiting: desk.cases.len(), desk, dockets: Vec::new() });
            }
            Err(error) => return Err(error),
        };
        let (rated, _) = rated_cases(&desk, store)?;
        let plan = planned(&desk, adjudicator, spot_checks, &rated)?;
        let drawn: std::collections::BTreeSet<&CaseIdentity> = plan.items.iter().map(|item| &item.case).collect();
        let mut dockets: Vec<Docket> = Vec::new();
        for item in expected.items {
            if !drawn.contains(&item.item.case) && item.existing.is_none() {
                continue;
            }
            let kind = item.item.kind;
            match dockets.last_mut() {
                Some(last) if last.case == item.item.case => last.items.push(item),
                _ => dockets.push(Docket { case: item.item.case.clone(), kind, items: vec![item] }),
            }
        }
        Ok(Self { desk, dockets, waiting: plan.waiting.len() })
    }

    fn counts(&self) -> (usize, usize) {
        let total = self.dockets.iter().map(|docket| docket.items.len()).sum();
        (self.dockets.iter().map(Docket::ruled).sum(), total)
    }

    fn bar(&self, here: Option<&str>) -> Markup {
        let (done, total) = self.counts();
        html! {
            strong.name { (self.desk.batch.name) } " " span.whose { "adjudication" }
            (look::progress(done, total, None))
            nav aria-label="Cases" { a href="/rulings" aria-current=[here.is_none().then_some("page")] { "All cases" } }
            (look::keys(false))
        }
    }
}

/// The list of cases to rule on.
pub(super) async fn list(State(app): State<Arc<App>>, visitor: Visitor) -> Reply {
    let (adjudicator, batch, spot_checks) = (adjudicator(&visitor)?, visitor.batch, app.spot_checks);
    app.read(move |store| {
        let bench = Bench::read(store, &batch, &adjudicator, spot_checks)?;
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
        Ok(reply::page(&Page {
            title: "Cases to rule on",
            assets: Assets::Linked,
            class: "plain",
            data: Vec::new(),
            bar: bench.bar(None),
            main,
        }))
    })
    .await
}

fn kind_word(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Disagreement => "the raters differ",
        ItemKind::SpotCheck => "spot check",
    }
}

/// One case with what is to be ruled on.
pub(super) async fn show(State(app): State<Arc<App>>, visitor: Visitor, Path(key): Path<String>) -> Reply {
    let (adjudicator, batch, spot_checks) = (adjudicator(&visitor)?, visitor.batch, app.spot_checks);
    let found = app
        .read(move |store| {
            let bench = Bench::read(store, &batch, &adjudicator, spot_checks)?;
            let Some(place) = bench.dockets.iter().position(|docket| path_key(&docket.case) == key) else {
                return Ok(None);
            };
            let Some(stored) = bench
                .dockets
                .get(place)
                .and_then(|docket| bench.desk.cases.iter().find(|case| case.identity == docket.case))
            else {
                return Ok(None);
            };
            let view = CaseView::new(&bench.desk.rubric, &store.case_text(&bench.desk.batch, stored)?);
            let drafts =
                store.own(&bench.desk.batch, &adjudicator).drafts()?.remove(&stored.identity).unwrap_or_default();
            Ok(Some(ruling_page(&bench, place, &view, &drafts, &adjudicator)))
        })
        .await?;
    found.ok_or_else(Refusal::no_such_page)
}

fn ruling_page(
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
    let offers = look::offers(label, applicability(label, category, &stored.stratum));
    let ruled = item.existing.as_ref();
    let value = draft.map(|draft| draft.value.as_str()).filter(|value| !value.is_empty());
    let value = value.or(ruled.map(|ruled| ruled.value.as_str())).unwrap_or_default();
    let note =
        draft.map(|draft| draft.rationale.as_str()).or(ruled.map(|ruled| ruled.rationale.as_str())).unwrap_or_default();
    let several = matches!(label.kind, LabelKind::Choices(_));
    let chosen: Vec<&str> = value.split('+').collect();
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
            fieldset aria-describedby={ (id) "-ask" } {
                legend.hidden-text { "Right answer to " (label.id) ": " (label.title) }
                @for offer in &offers {
                    label.offer title=[Some(&offer.help).filter(|help| !help.is_empty())] {
                        @if several {
                            input type="checkbox" name="value" value=(offer.value) data-key=(offer.key) data-alone[offer.alone] checked[chosen.contains(&offer.value.as_str())];
                        } @else {
                            input type="radio" name="value" value=(offer.value) data-key=(offer.key) checked[chosen.contains(&offer.value.as_str())];
                        }
                        @if !offer.key.is_empty() { kbd aria-hidden="true" { (offer.key) } }
                        span { (offer.title) }
                    }
                }
            }
            textarea name="rationale" rows="1" maxlength="20000" aria-label={ "Reason for " (label.id) } placeholder="Why? One sentence is enough" { "\n" (note) }
            p.state role="status" { @if draft.is_some() { "Draft, not a ruling yet" } @else if ruled.is_some() { "Saved" } }
            button.plain-only { "Save " (label.id) }
        }
    }
}

/// A ruling or a spot check.
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(key): Path<String>,
    headers: HeaderMap,
    Form(fields): Form<Vec<(String, String)>>,
) -> Reply {
    act(app, visitor, key, &headers, fields, true).await
}

/// What was typed and is no ruling yet.
pub(super) async fn draft(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(key): Path<String>,
    headers: HeaderMap,
    Form(fields): Form<Vec<(String, String)>>,
) -> Reply {
    act(app, visitor, key, &headers, fields, false).await
}

async fn act(
    app: Arc<App>,
    visitor: Visitor,
    key: String,
    headers: &HeaderMap,
    fields: Vec<(String, String)>,
    commit: bool,
) -> Reply {
    let (adjudicator, batch, spot_checks) = (adjudicator(&visitor)?, visitor.batch, app.spot_checks);
    let (fields, now) = (Fields(fields), app.now());
    let back = format!("/ruling/{key}#q-{}", fields.get("label"));
    let state = app
        .write(move |store| {
            let given = fields.given().map_err(unusable)?;
            let desk = Desk::open(store, &batch)?;
            let expected = rulings_expected(&desk, store, &adjudicator, true)?;
            let Some(case) =
                expected.items.iter().map(|item| &item.item.case).find(|case| path_key(case) == key).cloned()
            else {
                return Ok(None);
            };
            if !expected.items.iter().any(|item| item.item.case == case && item.item.label == given.label) {
                return Err(Error::conflict("This is not to be ruled on any more; open the list again."));
            }
            let messages = rule(store, &desk, &expected, &case, &given, commit, &now)?;
            let bench = Bench::read(store, &batch, &adjudicator, spot_checks)?;
            let drafts = store.own(&desk.batch, &adjudicator).drafts()?.remove(&case).unwrap_or_default();
            Ok(Some(state(&bench, &case, &drafts, &messages)))
        })
        .await?;
    let state = state.ok_or_else(Refusal::no_such_page)?;
    if wants_json(headers) { reply::json(&state) } else { Ok(go(&back)) }
}

/// Keeps what was given as a draft, and stores what is a ruling. Drafts of the case that have a value are judged with it.
fn rule(
    store: &mut Store,
    desk: &Desk,
    expected: &AdjudicationExpectation<'_>,
    case: &CaseIdentity,
    given: &Given,
    commit: bool,
    now: &str,
) -> Result<BTreeMap<LabelId, (Level, String)>> {
    let mut messages = BTreeMap::new();
    let this = Draft { value: given.value.clone(), rationale: given.rationale.clone() };
    store.write_own(&desk.batch, &expected.adjudicator, |own| {
        own.set_draft(case, &given.label, &this, now).map_err(Error::from)
    })?;
    if !commit {
        return Ok(messages);
    }
    let drafts = store.own(&desk.batch, &expected.adjudicator).drafts()?.remove(case).unwrap_or_default();
    let row = |(label, draft): (&LabelId, &Draft)| {
        let item = expected.items.iter().find(|item| item.item.case == *case && item.item.label == *label)?;
        // The answer says itself what was shown; of drafts it is what is shown now.
        let item_digest = if *label == given.label { given.digest.clone() } else { item.item.digest() };
        Some(RulingRow {
            line: 1,
            batch: expected.batch.to_string(),
            rubric_digest: desk.batch.rubric.0.clone(),
            adjudicator: expected.adjudicator.to_string(),
            case: case.to_string(),
            label: label.to_string(),
            item_digest,
            value: draft.value.clone(),
            note: draft.rationale.clone(),
        })
    };
    let rows = drafts.iter().filter(|(_, draft)| !draft.value.is_empty()).filter_map(row).collect();
    let outcome = check_rulings(expected, rows);
    let entries = ruling_entries(&outcome, expected, "page");
    if !entries.is_empty() {
        store.append(&desk.batch, &entries, now)?;
    }
    store.write_own(&desk.batch, &expected.adjudicator, |own| {
        let settled =
            outcome.accepted.iter().map(|one| &one.label).chain(outcome.unchanged.iter().map(|(_, label)| label));
        settled.into_iter().try_for_each(|label| own.clear_draft(case, label)).map_err(Error::from)
    })?;
    for (level, problems) in [(Level::Note, &outcome.warnings), (Level::Refused, &outcome.problems)] {
        for problem in problems {
            let Some(label) = problem.label.as_deref().and_then(|label| LabelId::parse(label).ok()) else { continue };
            let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
            messages.insert(label, (level, format!("{}{hint}", problem.message)));
        }
    }
    Ok(messages)
}

/// The state of a case, in the form of the rater's.
fn state(
    bench: &Bench,
    case: &CaseIdentity,
    drafts: &BTreeMap<LabelId, Draft>,
    messages: &BTreeMap<LabelId, (Level, String)>,
) -> serde_json::Value {
    let docket = bench.dockets.iter().find(|docket| docket.case == *case);
    let question = |item: &ExpectedItem| {
        let label = &item.item.label;
        let (draft, stored) = (drafts.get(label), item.existing.as_ref());
        let value = draft.map(|draft| draft.value.as_str()).filter(|value| !value.is_empty());
        let message = messages.get(label);
        json!({
            "label": label,
            "value": value.or(stored.map(|stored| stored.value.as_str())).unwrap_or_default(),
            "rationale": draft.map(|draft| draft.rationale.as_str()).or(stored.map(|stored| stored.rationale.as_str())).unwrap_or_default(),
            "state": match (draft, stored) { (Some(_), _) => "draft", (None, None) => "open", (None, Some(_)) => "saved" },
            "level": message.map(|(level, _)| level),
            "message": message.map(|(_, text)| visible(text)),
        })
    };
    let items = docket.map(|docket| docket.items.as_slice()).unwrap_or_default();
    let (done, total) = bench.counts();
    json!({
        "questions": items.iter().map(question).collect::<Vec<_>>(),
        "complete": docket.is_some_and(|docket| docket.ruled() == docket.items.len()),
        "done": done,
        "total": total,
        "left": "",
    })
}
