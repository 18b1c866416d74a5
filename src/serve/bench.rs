//! All cases before the adjudicator: those that both raters are done with and differ on, and the spot checks.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde_json::json;

use super::look::{self, Level};
use crate::desk::{Desk, planned, rulings_expected};
use crate::digest::sha256_hex;
use crate::error::Result;
use crate::model::{BatchName, CaseIdentity, LabelId, RaterName};
use crate::rate::adjudication::{ExpectedItem, ItemKind, RatedCase};
use crate::rate::visible;
use crate::store::{Draft, Store};

/// A case's name in a path: nothing of the case itself, and the same whatever else is planned.
pub(super) fn path_key(case: &CaseIdentity) -> String {
    sha256_hex(case.as_str().as_bytes()).chars().take(16).collect()
}

/// One case before the adjudicator.
pub(super) struct Docket {
    pub case: CaseIdentity,
    pub kind: ItemKind,
    pub items: Vec<ExpectedItem>,
}

impl Docket {
    pub(super) fn ruled(&self) -> usize {
        self.items.iter().filter(|item| item.existing.is_some()).count()
    }
}

/// All cases before the adjudicator, and how many wait for a rater.
pub(super) struct Bench {
    pub desk: Desk,
    pub dockets: Vec<Docket>,
    pub waiting: usize,
    /// Events that the log of a case's second condition shows.
    events: BTreeMap<CaseIdentity, BTreeSet<String>>,
}

impl Bench {
    pub(super) fn read(store: &Store, batch: &BatchName, adjudicator: &RaterName, spot_checks: usize) -> Result<Self> {
        let desk = Desk::open(store, batch)?;
        let expected = match rulings_expected(&desk, store, adjudicator, true) {
            Ok(expected) => expected,
            // Without two raters there is nothing to rule on yet.
            Err(_) if desk.audit.pair.is_none() => {
                return Ok(Self { waiting: desk.usable(), desk, dockets: Vec::new(), events: BTreeMap::new() });
            }
            Err(error) => return Err(error),
        };
        let rated: Vec<RatedCase> = expected.cases.into_values().collect();
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
        let events = rated.into_iter().filter_map(|case| Some((case.case, case.events?))).collect();
        Ok(Self { desk, dockets, waiting: plan.waiting.len(), events })
    }

    /// The events of a case; `None`: there is no log.
    pub(super) fn events(&self, case: &CaseIdentity) -> Option<&BTreeSet<String>> {
        self.events.get(case)
    }

    pub(super) fn counts(&self) -> (usize, usize) {
        let total = self.dockets.iter().map(|docket| docket.items.len()).sum();
        (self.dockets.iter().map(Docket::ruled).sum(), total)
    }

    pub(super) fn bar(&self, here: Option<&str>) -> Markup {
        let (done, total) = self.counts();
        html! {
            strong.name { (self.desk.batch.name) } " " span.whose { "adjudication" }
            (look::progress(done, total, None))
            nav aria-label="Cases" { a href="/rulings" aria-current=[here.is_none().then_some("page")] { "All cases" } }
            (look::keys(false))
        }
    }
}

/// The state of a case, in the form of the rater's.
pub(super) fn state(
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
