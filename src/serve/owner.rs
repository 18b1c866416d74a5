//! The owner's page: how far everybody is, what was flagged, agreement so far. The only page that shows it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::access::Visitor;
use super::app::App;
use super::look::{Assets, Page};
use super::reply::{self, Refusal};
use super::status::{RaterStatus, Status, duration, status};
use crate::rate::visible;
use crate::store::Role;

pub(super) async fn show(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, Refusal> {
    if visitor.role != Role::Owner {
        return Err(Refusal::no_such_page());
    }
    let batch = visitor.batch;
    let status = app.read(move |store| status(store, &batch, true)).await?;
    Ok(reply::page(&Page {
        title: &format!("Batch {}", status.batch),
        assets: Assets::Linked,
        class: "plain",
        data: Vec::new(),
        bar: html! { strong.name { (status.batch) } " " span.whose { "owner" } nav aria-label="Pages" { a href="/owner" aria-current="page" { "State" } } },
        main: article(&status),
    }))
}

fn article(status: &Status) -> Markup {
    let flagged: usize = status.raters.iter().map(|rater| rater.marks.len()).sum();
    html! {
        article.text-page {
            h1 { "Batch " (status.batch) }
            p { (status.cases) " cases. This page shows agreement: do not show it to the raters before both are done." }
            h2 { "Raters" }
            @if status.raters.is_empty() { p { "No rater is registered yet: " code { "dualrater raters add" } } }
            @else { (raters(status)) }
            @if let Some(adjudication) = &status.adjudication {
                h2 { "Adjudication" }
                p {
                    (adjudication.ruled) " of " (adjudication.disagreements) " disagreements are ruled on; "
                    (adjudication.spot_checked) " of " (adjudication.agreed_cases) " cases of full agreement are spot-checked; "
                    (adjudication.waiting) " cases wait for a rater."
                }
            }
            @if let Some(labels) = &status.agreement {
                h2 { "Agreement so far" }
                div.scroll tabindex="0" role="region" aria-label="Agreement so far" {
                    table {
                        thead { tr { th scope="col" { "Label" } th.number scope="col" { "Cases" } th.number scope="col" { "Equal" } th.number scope="col" { "κ" } th scope="col" { "95 % interval" } } }
                        tbody {
                            @for label in labels {
                                tr {
                                    th scope="row" { (label.label) } td.number { (label.n) }
                                    td.number { (label.po.map_or("–".to_owned(), |po| format!("{:.0} %", po * 100.0))) }
                                    td.number { (label.kappa.map_or("–".to_owned(), |kappa| format!("{kappa:.2}"))) }
                                    td { @match (label.ci95, &label.reason) { (Some([low, high]), _) => { (format!("{low:.2} to {high:.2}")) } (None, Some(reason)) => (reason), _ => "" } }
                                }
                            }
                        }
                    }
                }
            }
            @if flagged > 0 {
                h2 { "Marks" }
                ul {
                    @for rater in &status.raters {
                        @for (case, marks) in &rater.marks {
                            li {
                                code { (visible(case)) } " · " (rater.rater)
                                @if let Some(note) = &marks.flag { " · flagged" @if !note.is_empty() { ": " (visible(note)) } }
                                @if marks.known { " · known before" }
                            }
                        }
                    }
                }
            }
            h2 { "Chain head" }
            p { "Note it elsewhere; " code { "dualrater verify --head" } " finds whether anything before it was rewritten." }
            p.head { code { (status.chain_head) } }
            form method="post" action="/out" { button { "Sign out" } }
        }
    }
}

fn raters(status: &Status) -> Markup {
    let row = |rater: &RaterStatus| {
        html! {
            tr {
                th scope="row" { (rater.rater) @if rater.of_record { " " span.badge { "of record" } } }
                td { (rater.kind) } td.number { (rater.done) } td.number { (rater.begun) } td.number { (rater.left) }
                td.number { (rater.median_seconds.map_or("–".to_owned(), duration)) }
                td.number { (rater.marks.iter().filter(|(_, marks)| marks.flag.is_some()).count()) }
                td { @if rater.link { "valid" } @else { "none" } }
            }
        }
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label="Raters" {
            table {
                thead { tr {
                    th scope="col" { "Rater" } th scope="col" { "Kind" } th.number scope="col" { "Done" } th.number scope="col" { "Begun" }
                    th.number scope="col" { "Left" } th.number scope="col" { "Median" } th.number scope="col" { "Flags" } th scope="col" { "Link" }
                } }
                tbody { @for rater in &status.raters { (row(rater)) } }
            }
        }
    }
}
