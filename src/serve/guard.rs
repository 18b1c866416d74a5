//! What every request passes before it is looked at, and the headers that every answer carries.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::access::{Secret, Visitor, visitor};
use super::app::{App, REQUESTS, WRONG_LINKS};
use super::reply::Refusal;

/// Nothing from elsewhere, no inline script or style, no frames, forms only to ourselves.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(&str, &str); 8] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    // Not no-referrer: then a form of ours would be posted with the origin `null`.
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
];

/// Longest path, and longest wait for a slow sender.
const LONGEST_PATH: usize = 512;
const PATIENCE: Duration = Duration::from_secs(30);

/// The guard: refuses what cannot come from our own page, and dresses every answer.
pub(super) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = match admissible(&app, &request) {
        Err(refusal) => refusal.into_response(),
        Ok(()) => match tokio::time::timeout(PATIENCE, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Refusal::new(StatusCode::REQUEST_TIMEOUT, "The request took too long.").into_response(),
        },
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(HeaderName::from_static(name)).or_insert(HeaderValue::from_static(value));
    }
    response
}

fn admissible(app: &App, request: &Request) -> Result<(), Refusal> {
    let headers = request.headers();
    let host = text(headers, &header::HOST).ok_or_else(|| Refusal::unusable("it names no host"))?;
    if !own_host(host, &app.hosts) {
        // A name that somebody else made point here (DNS rebinding).
        let message = "This server does not answer to that name. Its owner can allow it with --host.";
        return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, message));
    }
    if request.uri().path().len() > LONGEST_PATH {
        return Err(Refusal::new(StatusCode::URI_TOO_LONG, "The address is too long."));
    }
    let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    match *request.method() {
        Method::GET | Method::HEAD => {
            let navigates = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
            let foreign = matches!(site, Some("cross-site" | "same-site")) && !navigates;
            if foreign { Err(foreign_request()) } else { Ok(()) }
        }
        Method::POST => {
            let origin = text(headers, &header::ORIGIN);
            let ours = |origin: &str| origin.split_once("://").is_some_and(|(_, authority)| authority == host);
            let sound = match (origin, site) {
                (None, None) => false,
                (origin, site) => origin.is_none_or(ours) && site.is_none_or(|site| site == "same-origin"),
            };
            if sound { Ok(()) } else { Err(foreign_request()) }
        }
        _ => Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "Only GET and POST are understood.")),
    }
}

fn foreign_request() -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, "The request comes from another site.")
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Addresses cannot be rebound to another server; of names only `localhost` and those that the owner allowed are ours.
fn own_host(host: &str, allowed: &[String]) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || allowed.iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// The secret in the request's cookie.
pub(super) fn secret(headers: &HeaderMap, cookie: &str) -> Option<Secret> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == cookie)
        .find_map(|(_, value)| Secret::parse(value))
}

/// The cookie that keeps a secret; an empty one takes it back.
pub(super) fn cookie(name: &str, secret: Option<&Secret>) -> String {
    let (value, age) = secret.map_or(("", 0), |secret| (secret.reveal(), 60 * 60 * 24 * 60));
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}")
}

impl FromRequestParts<Arc<App>> for Visitor {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let closed = || Refusal::new(StatusCode::UNAUTHORIZED, "Open this page with the link that you were given.");
        let secret = secret(&parts.headers, &app.cookie).ok_or_else(closed)?;
        let found = app.read(move |store| Ok(visitor(&store.access_links()?, &secret))).await?;
        let Some(visitor) = found else {
            return Err(if app.may_knock(0, &WRONG_LINKS) {
                Refusal::new(StatusCode::UNAUTHORIZED, "Your link does not open this page any more. Ask for a new one.")
            } else {
                Refusal::too_many_wrong()
            });
        };
        if app.may_knock(visitor.link, &REQUESTS) {
            Ok(visitor)
        } else {
            Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "That was too fast. Nothing is lost; try again."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_allowed_names_are_ours() {
        for host in ["127.0.0.1:8347", "localhost:1", "LOCALHOST", "[::1]:8347", "192.168.1.7:80", "audit.lan:8347"] {
            assert!(own_host(host, &["audit.lan".to_owned()]), "{host}");
        }
        for host in ["evil.example:8347", "localhost.evil.example", "127.0.0.1.evil.example:8347", "", ":8347"] {
            assert!(!own_host(host, &["audit.lan".to_owned()]), "{host}");
        }
    }
}
