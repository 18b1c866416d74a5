//! Which path leads where, and the few pages that need no role: the way in, the way out, style and script.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, middleware};
use maud::html;

use super::access::{Secret, Visitor, visitor};
use super::app::{App, WRONG_LINKS};
use super::guard::{cookie, guard};
use super::look::{Assets, Page, SCRIPT, STYLE};
use super::reply::{self, Refusal, go};
use super::{adjudicator, owner, rater};
use crate::store::Role;

/// Largest body: a long rationale in a form, with room to spare.
const LARGEST_BODY: usize = 128 * 1024;

pub(super) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(start))
        .route("/in/{secret}", get(come_in))
        .route("/out", post(go_out))
        .route("/page.css", get(|| async { asset("text/css; charset=utf-8", STYLE) }))
        .route("/page.js", get(|| async { asset("text/javascript; charset=utf-8", SCRIPT) }))
        .route("/cases", get(rater::list))
        .route("/rubric", get(rater::rubric))
        .route("/jump", get(rater::jump))
        .route("/undo", post(rater::undo))
        .route("/case/{number}", get(rater::show))
        .route("/case/{number}/answer", post(rater::answer))
        .route("/case/{number}/draft", post(rater::draft))
        .route("/case/{number}/marks", post(rater::mark))
        .route("/case/{number}/time", post(rater::time))
        .route("/rulings", get(adjudicator::list))
        .route("/ruling/{key}", get(adjudicator::show))
        .route("/ruling/{key}/answer", post(adjudicator::answer))
        .route("/ruling/{key}/draft", post(adjudicator::draft))
        .route("/owner", get(owner::show))
        .fallback(|| async { Refusal::no_such_page() })
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// Everybody's start.
async fn start(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, Refusal> {
    match visitor.role {
        Role::Owner => Ok(go("/owner")),
        Role::Adjudicator => Ok(go("/rulings")),
        Role::Rater => rater::resume(&app, &visitor).await,
    }
}

/// A link with a secret. The answer is a page and not a redirect: a browser that comes from another site (a mail, a chat)
/// sends a strict cookie only on the next step that starts here.
async fn come_in(State(app): State<Arc<App>>, Path(text): Path<String>) -> Result<Response, Refusal> {
    let secret = Secret::parse(&text);
    let found = match secret.clone() {
        None => None,
        Some(secret) => app.read(move |store| Ok(visitor(&store.access_links()?, &secret))).await?,
    };
    let (Some(secret), Some(_)) = (secret, found) else {
        return Err(if app.may_knock(0, &WRONG_LINKS) {
            Refusal::new(StatusCode::UNAUTHORIZED, "This link does not open anything. Ask for a new one.")
        } else {
            Refusal::too_many_wrong()
        });
    };
    let mut response = reply::page(&Page {
        title: "Welcome",
        assets: Assets::Linked,
        class: "plain",
        data: vec![("go", "/".to_owned())],
        bar: html! { strong { "dualrater" } },
        main: html! {
            article.message { h1 { "Welcome" } p { a.button href="/" { "Go on" } } p { "Keep your link for yourself: whoever has it answers in your name." } }
        },
    });
    let value =
        HeaderValue::from_str(&cookie(&app.cookie, Some(&secret))).map_err(|_| Refusal::unusable("no cookie"))?;
    let headers = response.headers_mut();
    headers.insert(header::SET_COOKIE, value);
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::REFRESH, HeaderValue::from_static("0; url=/"));
    Ok(response)
}

async fn go_out(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let value = HeaderValue::from_str(&cookie(&app.cookie, None)).map_err(|_| Refusal::unusable("no cookie"))?;
    let mut response =
        Refusal::new(StatusCode::OK, "You are signed out. Your link opens the page again.").into_response();
    response.headers_mut().insert(header::SET_COOKIE, value);
    Ok(response)
}
