//! One attempt: sign, send, and classify the response.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use domain::{Clock, EndpointId, EventId, Mode};
use hyper::header::{HeaderMap, InvalidHeaderName, RETRY_AFTER};
use settings::Brand;
use telemetry::{ClientSpan, KeyValue};
use url::Url;
use webhook_signature::Secret;

use super::exchange::{Exchange, Received};
use super::headers::{HeaderNames, logged, logged_request, propagate};
use crate::domain::{Attempt, EncryptedSecrets, Failure, SigningSecrets, retry_after};
use crate::secrets::{DecryptError, SecretCipher};

/// Signs and sends webhooks; writes nothing to the database.
pub(crate) struct WebhookClient {
    exchange: Exchange,
    headers: HeaderNames,
    secrets: SecretCipher,
    clock: Clock,
}

/// A webhook and its target.
pub(crate) struct Webhook<'a> {
    pub endpoint: EndpointId,
    pub url: &'a str,
    pub secrets: &'a EncryptedSecrets,
    pub event: EventId,
    pub mode: Mode,
    pub body: Vec<u8>,
}

/// The result of an attempt.
pub(crate) struct Attempted {
    pub attempt: Attempt,
    pub failure: Option<Failure>,
    /// The response's `Retry-After`.
    pub retry_after: Option<Duration>,
}

impl Attempted {
    /// Set if the endpoint asks never to be called again.
    pub(crate) fn disable_reason(&self) -> Option<&'static str> {
        matches!(self.failure, Some(Failure::Status(410))).then_some("its server returned 410 Gone")
    }

    /// The pause that the response requests for the whole endpoint, not only for this webhook.
    pub(crate) fn requested_pause(&self) -> Option<Duration> {
        self.retry_after.filter(|_| matches!(self.failure, Some(Failure::Status(429 | 503))))
    }
}

impl WebhookClient {
    /// # Errors
    /// When the brand's prefix is not usable in a header name.
    pub(crate) fn new(
        exchange: Exchange,
        brand: &Brand,
        secrets: SecretCipher,
        clock: Clock,
    ) -> Result<Self, InvalidHeaderName> {
        Ok(Self { exchange, headers: HeaderNames::new(brand)?, secrets, clock })
    }

    /// # Errors
    /// When a secret of the endpoint cannot be decrypted; then nothing was sent.
    pub(crate) async fn attempt(&self, webhook: Webhook<'_>) -> Result<Attempted, DecryptError> {
        let (started_at, clock) = (self.clock.now(), Instant::now());
        let secrets = self.secrets.signing_secrets(webhook.endpoint, webhook.secrets, started_at)?;
        let span = client_span(webhook.url);
        let headers = self.signed(&webhook, started_at, &secrets, &span)?;
        let request_headers = logged_request(&headers, webhook.url, &webhook.body);
        let (received, failure) = self.exchange.post(webhook.url, headers, webhook.body).await;
        let took = clock.elapsed();
        measure(took, failure.as_ref());
        end(span, received.status, failure.as_ref());
        Ok(Attempted {
            retry_after: self.retry_after(&received),
            attempt: Attempt {
                url: Some(webhook.url.to_owned()),
                started_at,
                duration_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
                response_status: received.status,
                error: failure.as_ref().map(ToString::to_string),
                request_headers,
                response_headers: logged(&received.headers),
                response_body: received.status.map(|_| storable(&received.body)),
            },
            failure,
        })
    }

    /// Sends a webhook signed with another secret, as an attacker would, and returns the response's status. It does not
    /// count as an attempt and is not stored.
    ///
    /// # Errors
    /// When the secret is malformed; then nothing was sent.
    pub(crate) async fn send_forged(
        &self,
        webhook: Webhook<'_>,
        other_secret: Secret,
    ) -> Result<Option<u16>, DecryptError> {
        let secrets = SigningSecrets { current: other_secret, next: None };
        let span = client_span(webhook.url);
        let headers = self.signed(&webhook, self.clock.now(), &secrets, &span)?;
        let (received, expected) = self.exchange.post(webhook.url, headers, webhook.body).await;
        end(span, received.status, expected.as_ref());
        Ok(received.status)
    }

    fn signed(
        &self,
        webhook: &Webhook<'_>,
        at: DateTime<Utc>,
        secrets: &SigningSecrets,
        span: &ClientSpan,
    ) -> Result<HeaderMap, DecryptError> {
        let signed = self.headers.signed(webhook.event, webhook.mode, at.timestamp(), secrets, &webhook.body);
        let mut headers = signed.map_err(|_| DecryptError::Corrupt)?;
        propagate(span.context(), &mut headers);
        Ok(headers)
    }

    fn retry_after(&self, received: &Received) -> Option<Duration> {
        let value = received.headers.get(RETRY_AFTER)?.to_str().ok()?;
        retry_after(value, self.clock.now())
    }
}

/// PostgreSQL texts cannot contain NUL.
fn storable(body: &[u8]) -> String {
    String::from_utf8_lossy(body).replace('\0', "\u{fffd}")
}

/// The values of the metric label `outcome`.
pub(crate) const OUTCOMES: [&str; 6] = [SUCCEEDED, BAD_STATUS, TIMEOUT, CONNECTION, PROXY, REFUSED];
const SUCCEEDED: &str = "succeeded";
const BAD_STATUS: &str = "bad_status";
const TIMEOUT: &str = "timeout";
const CONNECTION: &str = "connection";
const PROXY: &str = "proxy";
const REFUSED: &str = "refused";

fn outcome(failure: Option<&Failure>) -> &'static str {
    match failure {
        None => SUCCEEDED,
        Some(Failure::Status(_) | Failure::Redirect(_)) => BAD_STATUS,
        Some(Failure::Timeout(_)) => TIMEOUT,
        Some(Failure::Proxy(_)) => PROXY,
        Some(Failure::Refused(_)) => REFUSED,
        Some(_) => CONNECTION,
    }
}

fn measure(took: Duration, failure: Option<&Failure>) {
    metrics::counter!("webhook_attempts_total", "outcome" => outcome(failure)).increment(1);
    metrics::histogram!("webhook_attempt_duration_seconds").record(took);
}

/// Records only the host of the URL: the rest may contain a secret.
fn client_span(url: &str) -> ClientSpan {
    ClientSpan::call("POST", || {
        let url = Url::parse(url).ok();
        let host = url.as_ref().and_then(|url| url.host_str().map(str::to_owned));
        let port = url.as_ref().and_then(Url::port_or_known_default);
        let host = host.map(|host| KeyValue::new("server.address", host));
        let port = port.map(|port| KeyValue::new("server.port", i64::from(port)));
        [KeyValue::new("http.request.method", "POST")].into_iter().chain(host).chain(port).collect()
    })
}

fn end(span: ClientSpan, status: Option<u16>, failure: Option<&Failure>) {
    if let Some(status) = status {
        span.record(KeyValue::new("http.response.status_code", i64::from(status)));
    }
    match (failure, status) {
        (None, _) => {}
        (Some(Failure::Status(_) | Failure::Redirect(_)), Some(status)) => span.fail(status.to_string()),
        (failure, _) => span.fail(outcome(failure)),
    }
}
