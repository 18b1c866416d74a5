//! Answers to requests: pages, JSON, and refusals that say what to do and nothing about the inside.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::html;
use serde::Serialize;

use super::look::{Assets, Page, document};
use crate::error::{Error, Kind};

/// Why a request is not answered as wished.
#[derive(Debug)]
pub(super) struct Refusal {
    pub status: StatusCode,
    pub message: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(super) fn no_such_page() -> Self {
        Self::new(StatusCode::NOT_FOUND, "There is no such page.")
    }

    pub(super) fn too_many_wrong() -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "Too many wrong links; wait a minute.")
    }

    pub(super) fn unusable(what: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("The request cannot be used: {what}."))
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            Kind::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Kind::NotFound => StatusCode::NOT_FOUND,
            Kind::Conflict => StatusCode::CONFLICT,
            Kind::Data | Kind::Usage => StatusCode::BAD_REQUEST,
            Kind::CheckFailed | Kind::Internal | Kind::Io | Kind::Interrupted => StatusCode::INTERNAL_SERVER_ERROR,
        };
        // Paths and causes are the owner's business: they go to the terminal, not to the page.
        let message = match status {
            StatusCode::INTERNAL_SERVER_ERROR => "Something went wrong on the server; nothing was stored.".to_owned(),
            StatusCode::SERVICE_UNAVAILABLE => "The database is busy; try again in a moment.".to_owned(),
            _ => error.message().to_owned(),
        };
        Self { status, message }
    }
}

impl From<crate::store::StoreError> for Refusal {
    fn from(error: crate::store::StoreError) -> Self {
        Error::from(error).into()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Refused");
        let page = document(&Page {
            title,
            assets: Assets::Linked,
            class: "plain",
            data: Vec::new(),
            bar: html! { strong { "dualrater" } },
            main: html! { article.message { h1 { (title) } p { (crate::rate::visible(&self.message)) } p { a href="/" { "To the start" } } } },
        });
        (self.status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
    }
}

/// A page.
pub(super) fn page(page: &Page<'_>) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], document(page)).into_response()
}

/// A value as JSON.
pub(super) fn json(value: &impl Serialize) -> Result<Response, Refusal> {
    let text = serde_json::to_string(value).map_err(|error| Error::internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// On to another page of ours, by GET.
pub(super) fn go(path: &str) -> Response {
    match HeaderValue::from_str(path) {
        Ok(path) => (StatusCode::SEE_OTHER, [(header::LOCATION, path)]).into_response(),
        Err(_) => Refusal::no_such_page().into_response(),
    }
}
