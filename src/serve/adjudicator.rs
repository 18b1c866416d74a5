//! The adjudicator's pages: per case the labels on which the raters differ, with both answers left and right in random
//! order and without names, and a sample of cases on which they agree. A case is here only once both raters are done
//! with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Form, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;

use super::access::Visitor;
use super::app::App;
use super::bench::{Bench, path_key, state};
use super::fields::Fields;
use super::look::Level;
use super::rater::{unusable, wants_json};
use super::reply::{self, Refusal, go};
use super::ruling_pages::{list_page, ruling_page};
use super::save::Given;
use crate::desk::{Desk, ruling_entries, rulings_expected};
use crate::error::{Error, Result};
use crate::model::{CaseIdentity, LabelId, RaterName};
use crate::rate::CaseView;
use crate::rate::adjudication::{AdjudicationExpectation, RulingOutcome, RulingRow, check_rulings};
use crate::store::{Draft, Role, Store};

type Reply = std::result::Result<Response, Refusal>;

fn adjudicator(visitor: &Visitor) -> std::result::Result<RaterName, Refusal> {
    visitor.rater.clone().filter(|_| visitor.role == Role::Adjudicator).ok_or_else(Refusal::no_such_page)
}
/// The list of cases to rule on.
pub(super) async fn list(State(app): State<Arc<App>>, visitor: Visitor) -> Reply {
    let (adjudicator, batch, spot_checks) = (adjudicator(&visitor)?, visitor.batch, app.spot_checks);
    app.read(move |store| {
        let bench = Bench::read(store, &batch, &adjudicator, spot_checks)?;
        Ok(list_page(&bench))
    })
    .await
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
    let this = Draft { value: given.value.clone(), rationale: given.rationale.clone() };
    let outcome = store.write_own(&desk.batch, &expected.adjudicator, |own| {
        own.set_draft(case, &given.label, &this, now)?;
        if !commit {
            return Ok(RulingOutcome::default());
        }
        let drafts = own.drafts()?.remove(case).unwrap_or_default();
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
            own.append(&entries, now)?;
        }
        let accepted = outcome.accepted.iter().map(|one| &one.label);
        for label in accepted.chain(outcome.unchanged.iter().map(|(_, label)| label)) {
            own.clear_draft(case, label)?;
        }
        Ok::<_, Error>(outcome)
    })?;
    let mut messages = BTreeMap::new();
    for (level, problems) in [(Level::Note, &outcome.warnings), (Level::Refused, &outcome.problems)] {
        for problem in problems {
            let Some(label) = problem.label.as_deref().and_then(|label| LabelId::parse(label).ok()) else { continue };
            let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
            messages.insert(label, (level, format!("{}{hint}", problem.message)));
        }
    }
    Ok(messages)
}
