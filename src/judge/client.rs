//! One HTTP request and its reply. TLS by rustls with ring; the certificates are those of Mozilla's list, or those of a file.

use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::backoff::retry_after;
use super::endpoint::{ApiKey, Endpoint, scrub};

/// Replies over this many bytes are not read.
const MOST_BYTES: u64 = 16 << 20;

/// A client for one endpoint.
#[derive(Debug, Clone)]
pub struct Client {
    agent: Agent,
    endpoint: Endpoint,
    key: Option<ApiKey>,
}

/// Why there is no client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The file of certificates cannot be used.
    #[error("no certificate in the file: {0}")]
    Certificates(String),
}

/// A reply, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HttpReply {
    pub status: u16,
    pub wait: Option<Duration>,
    pub body: String,
}

/// No reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SendError {
    /// Worth another try.
    Broken(String),
    /// Every further try would end alike.
    Hopeless(String),
}

impl Client {
    /// A client. `certificates`: the only ones to trust, in PEM; without them, Mozilla's. `connections`: kept open at most.
    ///
    /// # Errors
    /// No certificate in the PEM text.
    pub fn new(
        endpoint: Endpoint,
        key: Option<ApiKey>,
        timeout: Duration,
        certificates: Option<&[u8]>,
        connections: usize,
    ) -> Result<Self, ClientError> {
        let mut tls = TlsConfig::builder();
        if let Some(pem) = certificates {
            tls = tls.root_certs(RootCerts::Specific(Arc::new(read_certificates(pem)?)));
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would carry the key to an address that nobody named.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(timeout))
            .max_idle_connections(connections)
            .max_idle_connections_per_host(connections)
            .user_agent(concat!("dualrater/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls.build());
        Ok(Self { agent: config.build().new_agent(), endpoint, key })
    }

    /// Where it asks.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends one request; everything that comes back is without the key.
    pub(super) fn send(&self, body: &[u8]) -> Result<HttpReply, SendError> {
        self.exchange(body).map_err(|error| match failed(&error) {
            SendError::Broken(text) => SendError::Broken(self.clean(&text)),
            SendError::Hopeless(text) => SendError::Hopeless(self.clean(&text)),
        })
    }

    fn exchange(&self, body: &[u8]) -> Result<HttpReply, ureq::Error> {
        let mut request = self.agent.post(self.endpoint.url()).header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", key.header());
        }
        let mut reply = request.send(body)?;
        let header = |name: &str| reply.headers().get(name).and_then(|value| value.to_str().ok());
        let wait = header("retry-after").and_then(|value| retry_after(value, header("date")));
        let bytes = reply.body_mut().with_config().limit(MOST_BYTES).read_to_vec()?;
        let body = self.clean(&String::from_utf8_lossy(&bytes));
        Ok(HttpReply { status: reply.status().as_u16(), wait, body })
    }

    /// A text without any secret of the request.
    pub(super) fn clean(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) => key.scrub(text),
            None => text.to_owned(),
        };
        self.endpoint.query_values().fold(text, |text, secret| scrub(&text, secret))
    }
}

fn read_certificates(pem: &[u8]) -> Result<Vec<Certificate<'static>>, ClientError> {
    let mut found = Vec::new();
    for item in parse_pem(pem) {
        match item {
            Ok(PemItem::Certificate(certificate)) => found.push(certificate),
            Ok(_) => {}
            Err(error) => return Err(ClientError::Certificates(error.to_string())),
        }
    }
    if found.is_empty() { Err(ClientError::Certificates("it is not in PEM form".to_owned())) } else { Ok(found) }
}

fn failed(error: &ureq::Error) -> SendError {
    let text = error.to_string();
    match error {
        ureq::Error::Timeout(_) => SendError::Broken(format!("no reply in time ({text})")),
        _ if text.to_lowercase().contains("certificate") => SendError::Hopeless(text),
        ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::Tls(_) | ureq::Error::InvalidProxyUrl => {
            SendError::Hopeless(text)
        }
        _ => SendError::Broken(text),
    }
}
