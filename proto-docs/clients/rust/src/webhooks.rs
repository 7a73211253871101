//! Verifies the signature of webhooks, knows their kinds, and signs test events for your own tests.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::header::HeaderMap;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::{Environment, Error, Result, SystemEnvironment, WebhookError, WebhookEvent};

/// The first word of the operator's own headers, unless the operator chose another.
pub(crate) const PREFIX: &str = "Service";
/// The number of signatures checked in one header; a rotation needs two.
const SIGNATURES_MAX: usize = 8;
const SECRETS_MAX: usize = 8;

/// The signing secrets of an endpoint: one, or two while you rotate.
#[derive(Clone)]
pub struct Secrets(Vec<Secret>);

#[derive(Clone)]
struct Secret {
    text: String,
    key: Vec<u8>,
}

impl Secrets {
    /// Refuses a truncated secret at once, instead of every webhook later.
    ///
    /// # Errors
    /// When a text is not `whsec_` and base64, or there is none.
    pub fn new<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self> {
        let secrets: Result<Vec<Secret>> =
            texts.into_iter().map(|text| parse_secret(text.as_ref())).collect();
        let secrets = secrets?;
        if (1..=SECRETS_MAX).contains(&secrets.len()) {
            Ok(Self(secrets))
        } else {
            Err(Error::Argument("pass 1 to 8 signing secrets"))
        }
    }
}

fn parse_secret(text: &str) -> Result<Secret> {
    let encoded = text.strip_prefix("whsec_").unwrap_or_default();
    match STANDARD.decode(encoded) {
        Ok(key) if (24..=64).contains(&key.len()) => Ok(Secret { text: text.to_owned(), key }),
        _ => Err(Error::Argument(
            "a signing secret is whsec_ and base64 of 24 to 64 bytes; use it as it was shown",
        )),
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(..)")
    }
}

/// How webhooks are verified.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// The first word of the operator's own headers: `Service-Signature` unless the operator chose another name.
    pub header_prefix: String,
    pub tolerance_seconds: u32,
    /// For tests.
    pub now_seconds: Option<i64>,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        Self { header_prefix: PREFIX.to_owned(), tolerance_seconds: 300, now_seconds: None }
    }
}

/// The headers of a request, by their names in any case. A header that was sent twice is joined with a comma, and then
/// matches nothing.
pub trait WebhookHeaders {
    fn header(&self, name: &str) -> Option<String>;
}

impl WebhookHeaders for HeaderMap {
    fn header(&self, name: &str) -> Option<String> {
        joined(self.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()))
    }
}

impl<N: AsRef<str>, V: AsRef<str>> WebhookHeaders for [(N, V)] {
    fn header(&self, name: &str) -> Option<String> {
        named(name, self.iter().map(|(name, value)| (name, value)))
    }
}

impl<N: AsRef<str>, V: AsRef<str>> WebhookHeaders for BTreeMap<N, V> {
    fn header(&self, name: &str) -> Option<String> {
        named(name, self)
    }
}

impl<N: AsRef<str>, V: AsRef<str>, S> WebhookHeaders for HashMap<N, V, S> {
    fn header(&self, name: &str) -> Option<String> {
        named(name, self)
    }
}

fn named<'h, N: AsRef<str> + 'h, V: AsRef<str> + 'h>(
    name: &str,
    headers: impl IntoIterator<Item = (&'h N, &'h V)>,
) -> Option<String> {
    let named = headers.into_iter().filter(|(given, _)| given.as_ref().eq_ignore_ascii_case(name));
    joined(named.map(|(_, value)| value.as_ref().to_owned()))
}

pub(crate) fn joined(values: impl Iterator<Item = String>) -> Option<String> {
    values.reduce(|before, value| format!("{before}, {value}"))
}

/// Verifies a webhook and returns its event. Pass the raw bytes of the body: JSON that was parsed and serialized again
/// has another signature.
///
/// # Errors
/// When it cannot be trusted: answer 401.
pub fn construct_event(
    raw_body: &[u8],
    headers: &(impl WebhookHeaders + ?Sized),
    secrets: &Secrets,
    options: &VerifyOptions,
) -> Result<WebhookEvent, WebhookError> {
    verify(raw_body, headers, secrets, options)?;
    serde_json::from_slice(raw_body).map_err(|_| WebhookError::NotAnEvent)
}

/// Only verifies, for receivers that store a webhook before they read it. Either scheme is enough. The error is that of
/// the scheme that came closer.
///
/// # Errors
/// When it cannot be trusted: answer 401.
pub fn verify(
    raw_body: &[u8],
    headers: &(impl WebhookHeaders + ?Sized),
    secrets: &Secrets,
    options: &VerifyOptions,
) -> Result<(), WebhookError> {
    verify_standard(raw_body, headers, secrets, options).or_else(|standard| {
        verify_own(raw_body, headers, secrets, options).map_err(|own| match standard {
            WebhookError::MissingHeaders => own,
            _ => standard,
        })
    })
}

fn verify_standard(
    body: &[u8],
    headers: &(impl WebhookHeaders + ?Sized),
    secrets: &Secrets,
    options: &VerifyOptions,
) -> Result<(), WebhookError> {
    let header = |name| headers.header(name).ok_or(WebhookError::MissingHeaders);
    let (id, timestamp, signatures) =
        (header("webhook-id")?, header("webhook-timestamp")?, header("webhook-signature")?);
    check_age(&timestamp, options)?;
    let given: Vec<&str> = signatures.split(' ').take(SIGNATURES_MAX).collect();
    let expected = secrets.0.iter().map(|secret| standard_signature(secret, &id, &timestamp, body));
    matches(&given, expected)
}

fn verify_own(
    body: &[u8],
    headers: &(impl WebhookHeaders + ?Sized),
    secrets: &Secrets,
    options: &VerifyOptions,
) -> Result<(), WebhookError> {
    let header = |name: &str| headers.header(&format!("{}-{name}", options.header_prefix));
    let timestamp = header("Timestamp").ok_or(WebhookError::MissingHeaders)?;
    let given: Vec<String> = ["Signature", "Signature-Next"].into_iter().filter_map(header).collect();
    if given.is_empty() {
        return Err(WebhookError::MissingHeaders);
    }
    check_age(&timestamp, options)?;
    matches(&given, secrets.0.iter().map(|secret| own_signature(secret, &timestamp, body)))
}

fn check_age(timestamp: &str, options: &VerifyOptions) -> Result<(), WebhookError> {
    let is_number =
        (1..=15).contains(&timestamp.len()) && timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let signed_at: i64 =
        timestamp.parse().ok().filter(|_| is_number).ok_or(WebhookError::MalformedTimestamp)?;
    let age = now_seconds(options).saturating_sub(signed_at);
    let tolerance = i64::from(options.tolerance_seconds);
    match age {
        _ if age > tolerance => Err(WebhookError::TooOld),
        _ if age < -tolerance => Err(WebhookError::TooNew),
        _ => Ok(()),
    }
}

pub(crate) fn now_seconds(options: &VerifyOptions) -> i64 {
    options.now_seconds.unwrap_or_else(|| SystemEnvironment.now_ms() / 1_000)
}

/// Compares every pair in constant time. The lengths are no secret.
fn matches<G: AsRef<str>>(given: &[G], expected: impl Iterator<Item = String>) -> Result<(), WebhookError> {
    let mut matched = false;
    for wanted in expected {
        for one in given {
            matched |= bool::from(one.as_ref().as_bytes().ct_eq(wanted.as_bytes()));
        }
    }
    if matched { Ok(()) } else { Err(WebhookError::Mismatch) }
}

/// Standard Webhooks: the key is the decoded base64 after `whsec_`.
fn standard_signature(secret: &Secret, id: &str, timestamp: &str, body: &[u8]) -> String {
    let signed = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body];
    format!("v1,{}", STANDARD.encode(hmac_sha256(&secret.key, &signed)))
}

/// The operator's own scheme: the key is the whole secret as shown.
fn own_signature(secret: &Secret, timestamp: &str, body: &[u8]) -> String {
    let mac = hmac_sha256(secret.text.as_bytes(), &[timestamp.as_bytes(), b".", body]);
    format!("sha256={}", crate::sync_store::hex(&mac))
}

fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key)
        .unwrap_or_else(|_| unreachable!("an HMAC takes a key of any length"));
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// The kinds that this version knows.
const KINDS: [&str; 16] = [
    "order.created",
    "driver.assigned",
    "driver.unassigned",
    "order.picked_up",
    "order.out_for_delivery",
    "order.delivered",
    "order.failed",
    "order.cancelled",
    "order.returned",
    "order.reattempt_scheduled",
    "order.returning",
    "cod.collected",
    "cod.handed_over",
    "cod.settled",
    "wallet.low_balance",
    "webhook.test",
];

impl WebhookEvent {
    /// Whether this version knows the event's kind. Ignore others, and answer them with 200.
    pub fn is_known(&self) -> bool {
        KINDS.contains(&self.event.as_str())
    }
}

/// The headers of a signed event, for tests of your receiver. It signs with the first secret.
///
/// # Errors
/// When the body is not an event.
pub fn sign_test_event(
    raw_body: &[u8],
    secrets: &Secrets,
    options: &VerifyOptions,
) -> Result<Vec<(String, String)>, WebhookError> {
    let event: WebhookEvent = serde_json::from_slice(raw_body).map_err(|_| WebhookError::NotAnEvent)?;
    let secret = secrets.0.first().ok_or(WebhookError::Mismatch)?;
    let timestamp = now_seconds(options).to_string();
    let own = |name: &str| format!("{}-{name}", options.header_prefix);
    Ok(vec![
        ("content-type".into(), "application/json".into()),
        ("webhook-id".into(), event.id.clone()),
        ("webhook-signature".into(), standard_signature(secret, &event.id, &timestamp, raw_body)),
        ("webhook-timestamp".into(), timestamp.clone()),
        (own("Signature"), own_signature(secret, &timestamp, raw_body)),
        (own("Timestamp"), timestamp),
        (own("Event-Id"), event.id),
        (own("Mode"), event.mode),
    ])
}
