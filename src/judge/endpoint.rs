//! Where a model is asked, and the key that opens it. The key has no written form: it leaves this type only as the header of
//! a request.

use std::fmt;

use ureq::http::Uri;

/// A chat endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: String,
    shown: String,
    exposed: bool,
}

/// Why a text is no endpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// No URL with a scheme that is spoken here.
    #[error("the endpoint must be a URL that begins with https:// or http://")]
    NoUrl,
    /// A user or password in the URL.
    #[error("the endpoint holds a user name or password; it would be stored with every answer")]
    Credentials,
    /// No usable key.
    #[error("the key is empty or holds characters that no header can carry")]
    Key,
}

impl Endpoint {
    /// Reads a base URL, as other clients take it (`https://host/v1`), or the whole URL of the chat endpoint.
    ///
    /// # Errors
    /// No URL, another scheme, or credentials in it.
    pub fn parse(text: &str) -> Result<Self, EndpointError> {
        let uri: Uri = text.trim().parse().map_err(|_| EndpointError::NoUrl)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(EndpointError::NoUrl);
        };
        if scheme != "https" && scheme != "http" {
            return Err(EndpointError::NoUrl);
        }
        if authority.as_str().contains('@') {
            return Err(EndpointError::Credentials);
        }
        let path = uri.path().trim_end_matches('/');
        let path = path.strip_suffix("/chat/completions").unwrap_or(path);
        let shown = format!("{scheme}://{authority}{path}/chat/completions");
        let url = match uri.query() {
            Some(query) => format!("{shown}?{query}"),
            None => shown.clone(),
        };
        let host = authority.host().trim_matches(['[', ']']);
        let local = host == "localhost" || host == "::1" || host.starts_with("127.");
        Ok(Self { url, shown, exposed: scheme == "http" && !local })
    }

    /// The address for a request, with its query.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The address without its query, which may hold a key: to be stored and printed.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Do requests travel unencrypted beyond this machine?
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        self.exposed
    }

    /// The values of the query, which may be secret.
    pub(super) fn query_values(&self) -> impl Iterator<Item = &str> {
        let query = self.url.split_once('?').map_or("", |(_, query)| query);
        query.split('&').filter_map(|pair| pair.split_once('=')).map(|(_, value)| value)
    }
}

/// An API key.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(hidden)")
    }
}

impl ApiKey {
    /// Reads a key.
    ///
    /// # Errors
    /// Empty, or not fit for a header.
    pub fn parse(text: &str) -> Result<Self, EndpointError> {
        let text = text.trim();
        let fits = !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(EndpointError::Key) }
    }

    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// The text without the key, in any of the forms in which a server may send it back.
    #[must_use]
    pub fn scrub(&self, text: &str) -> String {
        scrub(text, &self.0)
    }
}

/// Takes a secret out of a text: as it is, as JSON writes it, as a URL writes it. Texts of fewer than eight characters are
/// placeholders (`none`, `EMPTY`), and to take them out would damage answers.
pub(super) fn scrub(text: &str, secret: &str) -> String {
    const LEAST: usize = 8;
    if secret.len() < LEAST {
        return text.to_owned();
    }
    let percent: String = secret
        .bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect();
    let mut forms = vec![secret.to_owned(), percent];
    // An answer is JSON inside the JSON of a reply, which a batch file may hold inside JSON again.
    let mut written = secret.to_owned();
    for _ in 0..3 {
        let json = serde_json::to_string(&written).unwrap_or_default();
        json.get(1..json.len().saturating_sub(1)).unwrap_or_default().clone_into(&mut written);
        forms.push(written.replace('/', "\\/"));
        forms.push(written.clone());
    }
    let mut text = text.to_owned();
    for form in forms.iter().filter(|form| !form.is_empty()) {
        if text.contains(form.as_str()) {
            text = text.replace(form.as_str(), "[key]");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_taken_as_other_clients_take_them() {
        let shown = |text: &str| Endpoint::parse(text).map(|endpoint| endpoint.shown().to_owned());
        for text in ["https://h/v1", "https://h/v1/", "https://h/v1/chat/completions"] {
            assert_eq!(shown(text).as_deref(), Ok("https://h/v1/chat/completions"));
        }
        let azure = Endpoint::parse("https://h/deploy/x?api-version=1&key=s3cret-s3cret").expect("valid");
        assert_eq!(azure.shown(), "https://h/deploy/x/chat/completions");
        assert!(azure.url().ends_with("/chat/completions?api-version=1&key=s3cret-s3cret"));
        assert_eq!(azure.query_values().collect::<Vec<_>>(), ["1", "s3cret-s3cret"]);
        for text in ["", "h/v1", "ftp://h/", "file:///etc/passwd", "not a url"] {
            assert_eq!(shown(text), Err(EndpointError::NoUrl), "{text}");
        }
        assert_eq!(shown("https://user:pw@h/v1"), Err(EndpointError::Credentials));
    }

    #[test]
    fn exposed_is_http_beyond_this_machine() {
        let exposed = |text: &str| Endpoint::parse(text).expect("valid").is_exposed();
        assert!(exposed("http://example.org/v1"));
        for text in ["https://example.org", "http://127.0.0.1:8/v1", "http://localhost/v1", "http://[::1]:80/v1"] {
            assert!(!exposed(text), "{text}");
        }
    }

    #[test]
    fn a_key_is_taken_out_in_every_form() {
        let key = ApiKey::parse(" sk-a/b+c\"d12345 \n").expect("valid");
        assert_eq!(format!("{key:?}"), "ApiKey(hidden)");
        for text in [
            "bad sk-a/b+c\"d12345!",
            "sk-a/b+c\\\"d12345",
            "sk-a\\/b+c\\\"d12345",
            "sk-a%2Fb%2Bc%22d12345",
            r#"sk-a/b+c\\\"d12345"#,
        ] {
            let clean = key.scrub(text);
            assert!(clean.contains("[key]") && !clean.contains("12345"), "{clean}");
        }
        assert_eq!(ApiKey::parse("EMPTY").expect("valid").scrub("EMPTY"), "EMPTY");
        assert_eq!(ApiKey::parse("a\nb"), Err(EndpointError::Key));
        assert_eq!(ApiKey::parse("  "), Err(EndpointError::Key));
    }
}
