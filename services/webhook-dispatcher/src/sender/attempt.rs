//! One attempt: sign, send, and judge what came back.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use domain::{Clock, EndpointId, EventId, Mode};
use reqwest::header::{HeaderMap, InvalidHeaderName, RETRY_AFTER};
use settings::Brand;
use telemetry::{ClientSpan, KeyValue};
use url::Url;
use webhook_signature::Secret;

use super::exchange::{Answer, Exchange};
use super::signed::{HeaderNames, logged, logged_request, pass_on};
use crate::domain::{Attempt, Failure, retry_after};
use crate::secrets::{SealedSecrets, SecretBox, Secrets, Unreadable};

/// Makes attempts; writes nothing.
#[derive(Clone)]
pub(crate) struct Sender {
    exchange: Exchange,
    headers: HeaderNames,
    secrets: SecretBox,
    clock: Clock,
}

/// What is to be sent, and where to.
pub(crate) struct Webhook<'a> {
    pub endpoint: EndpointId,
    pub url: &'a str,
    pub secrets: &'a SealedSecrets,
    pub event: EventId,
    pub mode: Mode,
    pub body: Vec<u8>,
}

/// What came of an attempt.
pub(crate) struct Attempted {
    pub attempt: Attempt,
    pub failure: Option<Failure>,
    /// How long the receiver asks to be left alone.
    pub retry_after: Option<Duration>,
}

impl Attempted {
    /// Why the endpoint must not be called any more, if it says so.
    pub(crate) fn disables(&self) -> Option<&'static str> {
        matches!(self.failure, Some(Failure::Status(410))).then_some("it answered 410 Gone")
    }

    /// How long the endpoint as a whole asks to be left alone, and not only with this webhook.
    pub(crate) fn asked_for(&self) -> Option<Duration> {
        self.retry_after.filter(|_| matches!(self.failure, Some(Failure::Status(429 | 503))))
    }
}

impl Sender {
    /// # Errors
    /// When the brand's prefix cannot stand in a header's name.
    pub(crate) fn new(
        exchange: Exchange,
        brand: &Brand,
        secrets: SecretBox,
        clock: Clock,
    ) -> Result<Self, InvalidHeaderName> {
        Ok(Self { exchange, headers: HeaderNames::new(brand)?, secrets, clock })
    }

    /// # Errors
    /// When a secret of the endpoint does not open; nothing was sent then.
    pub(crate) async fn attempt(&self, webhook: Webhook<'_>) -> Result<Attempted, Unreadable> {
        let (started_at, clock) = (self.clock.now(), Instant::now());
        let secrets = self.secrets.open_all(webhook.endpoint, webhook.secrets, started_at)?;
        let span = client_span(webhook.url);
        let headers = self.signed(&webhook, started_at, &secrets, &span)?;
        let request_headers = logged_request(&headers, webhook.url, &webhook.body);
        let (answer, failure) = self.exchange.post(webhook.url, headers, webhook.body).await;
        let took = clock.elapsed();
        measure(took, failure.as_ref());
        end(span, answer.status, failure.as_ref());
        Ok(Attempted {
            retry_after: self.asked_for(&answer),
            attempt: Attempt {
                url: Some(webhook.url.to_owned()),
                started_at,
                duration_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
                response_status: answer.status,
                error: failure.as_ref().map(ToString::to_string),
                request_headers,
                response_headers: logged(&answer.headers),
                response_body: answer.status.map(|_| storable(&answer.body)),
            },
            failure,
        })
    }

    /// Sends it as somebody would who does not know the endpoint's secret, and gives the status of the answer. It is no
    /// attempt: nothing is counted, and nothing of it is kept.
    ///
    /// # Errors
    /// When the secret is not one; nothing was sent then.
    pub(crate) async fn forge(
        &self,
        webhook: Webhook<'_>,
        other_secret: Secret,
    ) -> Result<Option<u16>, Unreadable> {
        let secrets = Secrets { present: other_secret, next: None };
        let span = client_span(webhook.url);
        let headers = self.signed(&webhook, self.clock.now(), &secrets, &span)?;
        let (answer, expected) = self.exchange.post(webhook.url, headers, webhook.body).await;
        end(span, answer.status, expected.as_ref());
        Ok(answer.status)
    }

    fn signed(
        &self,
        webhook: &Webhook<'_>,
        at: DateTime<Utc>,
        secrets: &Secrets,
        span: &ClientSpan,
    ) -> Result<HeaderMap, Unreadable> {
        let signed = self.headers.signed(webhook.event, webhook.mode, at.timestamp(), secrets, &webhook.body);
        let mut headers = signed.map_err(|_| Unreadable::Damaged)?;
        pass_on(span.context(), &mut headers);
        Ok(headers)
    }

    fn asked_for(&self, answer: &Answer) -> Option<Duration> {
        let value = answer.headers.get(RETRY_AFTER)?.to_str().ok()?;
        retry_after(value, self.clock.now())
    }
}

/// As text that PostgreSQL takes: it has no place for NUL.
fn storable(body: &[u8]) -> String {
    String::from_utf8_lossy(body).replace('\0', "\u{fffd}")
}

/// What becomes of attempts, as they are counted.
pub(crate) const OUTCOMES: [&str; 5] = [SUCCEEDED, BAD_STATUS, TIMEOUT, CONNECTION, REFUSED];
const SUCCEEDED: &str = "succeeded";
const BAD_STATUS: &str = "bad_status";
const TIMEOUT: &str = "timeout";
const CONNECTION: &str = "connection";
const REFUSED: &str = "refused";

fn outcome(failure: Option<&Failure>) -> &'static str {
    match failure {
        None => SUCCEEDED,
        Some(Failure::Status(_) | Failure::Redirect(_)) => BAD_STATUS,
        Some(Failure::Timeout(_)) => TIMEOUT,
        Some(Failure::Refused(_)) => REFUSED,
        Some(_) => CONNECTION,
    }
}

fn measure(took: Duration, failure: Option<&Failure>) {
    metrics::counter!("webhook_attempts_total", "outcome" => outcome(failure)).increment(1);
    metrics::histogram!("webhook_attempt_duration_seconds").record(took);
}

/// The exchange as a span of the trace. Of the URL only the host: the rest may hold a secret of the owner's.
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
