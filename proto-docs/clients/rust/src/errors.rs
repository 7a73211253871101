//! What a call can fail with. `code` is for programs and stays the same; `message` is for people.

use std::fmt;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::redact::{redact_all, safe_text};
use crate::{ExistingOrder, FieldError, Warning, retry};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of every call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The service refused the call.
    #[error(transparent)]
    Api(Box<ApiError>),
    /// The outcome is unknown. Repeat the call with the same key and body.
    #[error("{reason}{}.", in_brackets(.call))]
    NoAnswer {
        reason: NoAnswer,
        /// The method and the URL without its query, and the status if there was one.
        call: String,
    },
    /// An argument is wrong, so nothing was sent.
    #[error("{0}")]
    Argument(&'static str),
}

impl Error {
    pub fn code(&self) -> &str {
        match self {
            Self::Api(error) => &error.code,
            Self::NoAnswer { reason, .. } => reason.code(),
            Self::Argument(_) => "invalid_argument",
        }
    }

    pub fn message(&self) -> String {
        match self {
            Self::Api(error) => error.message.clone(),
            other => other.to_string(),
        }
    }

    /// The service's answer, if there was one.
    pub fn api(&self) -> Option<&ApiError> {
        if let Self::Api(error) = self { Some(error) } else { None }
    }

    /// Whether the same request can succeed later.
    pub fn is_transient(&self) -> bool {
        retry::is_transient(self)
    }
}

impl From<NoAnswer> for Error {
    fn from(reason: NoAnswer) -> Self {
        Self::NoAnswer { reason, call: String::new() }
    }
}

fn in_brackets(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({text})") }
}

/// Why there is no usable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    #[error("The service did not answer in time")]
    Timeout,
    #[error("The service is unreachable, or closed the connection")]
    Unreachable,
    #[error("The service's answer cannot be read")]
    UnusableAnswer,
}

impl NoAnswer {
    pub fn code(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::UnusableAnswer => "unusable_answer",
        }
    }
}

/// An answer that is no success.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApiError {
    pub status: u16,
    pub code: String,
    pub message: String,
    /// Names the request in the service's logs; include it when you ask for help.
    pub request_id: Option<String>,
    pub retry_after: Option<Duration>,
    /// Every error of the request at once (400).
    pub errors: Vec<FieldError>,
    pub warnings: Vec<Warning>,
    /// The open items of the go-live list (403 `live_api_locked`).
    pub missing: Vec<String>,
    /// The events that are possible next (409 `illegal_transition`).
    pub legal: Vec<String>,
    /// 402: the missing amount, the balance and the fee.
    pub shortfall_paise: Option<i64>,
    pub balance_paise: Option<i64>,
    pub required_paise: Option<i64>,
    /// The delivery that has the reference (409 `order_reference_exists`) or the key (422 `idempotency_key_reused`).
    pub order: Option<ExistingOrder>,
    /// The whole parsed answer without keys and secrets, such as `status` of the order, `differences` or `requiredScope`.
    pub body: Map<String, Value>,
}

/// What to do about an [`ApiError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiErrorKind {
    /// 400, 413, 415, 422 and the like: correct the request.
    InvalidRequest,
    /// 401: check the key.
    Authentication,
    /// 402: top up `shortfall_paise`, then repeat.
    InsufficientBalance,
    /// 403: complete the items in `missing`, or use a key of the other mode.
    PermissionDenied,
    NotFound,
    /// 409: see `code`.
    Conflict,
    /// 409 `order_reference_exists`: the delivery exists; save the details in `order`.
    OrderExists,
    /// 429: wait for `retry_after`.
    RateLimit,
    /// 408 and 5xx: the outcome is unknown. Repeat the call with the same key and body.
    Server,
    /// Another answer than the service gives, such as a redirect.
    Unexpected,
}

impl ApiError {
    pub fn kind(&self) -> ApiErrorKind {
        match self.status {
            401 => ApiErrorKind::Authentication,
            402 => ApiErrorKind::InsufficientBalance,
            403 => ApiErrorKind::PermissionDenied,
            404 => ApiErrorKind::NotFound,
            409 if self.order.is_some() && self.code == "order_reference_exists" => ApiErrorKind::OrderExists,
            409 => ApiErrorKind::Conflict,
            429 => ApiErrorKind::RateLimit,
            408 | 500.. => ApiErrorKind::Server,
            400.. => ApiErrorKind::InvalidRequest,
            _ => ApiErrorKind::Unexpected,
        }
    }

    /// Another program than the service may have answered, with any body and fields of any type.
    pub(crate) fn read(
        call: &str,
        status: u16,
        body: &[u8],
        request_id: Option<&str>,
        retry_after: Option<Duration>,
    ) -> Self {
        let mut body: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
        // The order's values are stored and compared, so they stay as they are.
        let order = of_type(body.get("order")).filter(ExistingOrder::is_complete);
        // A key that is echoed is redacted.
        body.values_mut().for_each(redact_all);
        let text = |name: &str| body.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let whole = |name: &str| body.get(name).and_then(Value::as_i64);
        let code = text("code").map_or_else(|| format!("http_{status}"), safe_text);
        Self {
            status,
            message: text("message")
                .map_or_else(|| format!("The service answered {status}{}.", in_brackets(call)), safe_text),
            code,
            request_id: text("requestId").or(request_id).map(safe_text),
            retry_after,
            errors: list(body.get("errors")).into_iter().filter(is_given).collect(),
            warnings: list(body.get("warnings")),
            missing: list(body.get("missing")),
            legal: list(body.get("legal")),
            shortfall_paise: whole("shortfallPaise"),
            balance_paise: whole("balancePaise"),
            required_paise: whole("requiredPaise"),
            order,
            body,
        }
    }
}

/// A gateway in between may answer with errors of another form.
fn is_given(error: &FieldError) -> bool {
    // An error about the whole body has an empty field.
    !error.message.is_empty()
}

fn named(error: &FieldError) -> String {
    let field = if error.field.is_empty() { "body" } else { &error.field };
    format!("{field}: {}", error.message)
}

fn of_type<T: DeserializeOwned>(value: Option<&Value>) -> Option<T> {
    value.and_then(|value| serde_json::from_value(value.clone()).ok())
}

fn list<T: DeserializeOwned>(value: Option<&Value>) -> Vec<T> {
    let entries = value.and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(|entry| of_type(Some(entry))).collect()
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: ", self.status, self.code)?;
        if self.errors.is_empty() {
            f.write_str(&self.message)?;
        } else {
            let named: Vec<_> = self.errors.iter().map(named).collect();
            f.write_str(&safe_text(&named.join("; ")))?;
        }
        self.request_id.iter().try_for_each(|id| write!(f, " (request {id})"))
    }
}

impl std::error::Error for ApiError {}

/// Why a webhook was refused. Answer 401 in every case; the reason is for your own log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    #[error("A signature header is missing; check the header prefix, and proxies that remove headers.")]
    MissingHeaders,
    #[error("The timestamp is not a number of Unix seconds.")]
    MalformedTimestamp,
    #[error("The webhook was signed too long ago; check the clock of this machine.")]
    TooOld,
    #[error("The webhook was signed in the future; check the clock of this machine.")]
    TooNew,
    #[error("The signature does not match; check the secret, and pass the raw bytes of the body.")]
    Mismatch,
    #[error("The signed body is not an event.")]
    NotAnEvent,
}

impl WebhookError {
    pub fn reason(self) -> &'static str {
        match self {
            Self::MissingHeaders => "missing_headers",
            Self::MalformedTimestamp => "malformed_timestamp",
            Self::TooOld => "too_old",
            Self::TooNew => "too_new",
            Self::Mismatch => "mismatch",
            Self::NotAnEvent => "not_an_event",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_other_programs_are_errors_whatever_the_fields_are() {
        let body = br#"{"message":{"a":1},"code":"order_reference_exists","errors":"x","order":{"id":1}}"#;
        let conflict = ApiError::read("GET /x", 409, body, Some("req_1"), None);
        assert_eq!((conflict.kind(), conflict.order), (ApiErrorKind::Conflict, None));
        assert_eq!(conflict.message, "The service answered 409 (GET /x).");
        let failed = ApiError::read("GET /x", 502, b"<html>", None, None);
        assert_eq!((failed.code.as_str(), failed.kind()), ("http_502", ApiErrorKind::Server));
        let echoed =
            ApiError::read("GET /x", 401, br#"{"message":"The key sk_live_abc is wrong"}"#, None, None);
        assert_eq!(echoed.message, "The key sk_live_… is wrong");
        let body = br#"{"code":"sk_live_abc","missing":["sk_live_abc"],"errors":[{"field":"sk_live_abc","message":"x"},{}]}"#;
        let echoed = ApiError::read("GET /x", 403, body, Some("sk_live_abc"), None);
        assert_eq!(
            (echoed.errors.len(), echoed.missing.as_slice()),
            (1, ["sk_live_…".to_owned()].as_slice())
        );
        assert!(!format!("{echoed:?}").contains("sk_live_abc"), "{echoed:?}");
        // Also behind an escape; values that are compared stay as they are.
        let body = br#"{"message":"key:\nsk_live_abc\u0064","order":{"id":"ord_1","orderReference":"desk-sk_test_17",
            "trackingCode":"c","trackingUrl":"u","status":"created"}}"#;
        let conflict = ApiError::read("GET /x", 409, body, None, None);
        assert_eq!(conflict.message, "key: sk_live_…");
        assert_eq!(conflict.order.unwrap().order_reference, "desk-sk_test_17");
        assert_eq!(ApiError::read("GET /x", 302, b"", None, None).kind(), ApiErrorKind::Unexpected);
        let body = br#"{"code":"invalid_request","errors":[{"field":"","code":"invalid_type","message":"no object"}]}"#;
        let whole = ApiError::read("GET /x", 400, body, None, None);
        assert_eq!(whole.to_string(), "400 invalid_request: body: no object");
    }

    #[test]
    fn every_member_of_the_body_can_be_read_without_keys() {
        let body = br#"{"code":"illegal_transition","status":"delivered","differences":["a","sk_live_abc"]}"#;
        let refused = ApiError::read("GET /x", 409, body, None, None);
        assert_eq!((refused.status, &refused.body["status"]), (409, &Value::from("delivered")));
        assert_eq!(refused.body["differences"], serde_json::json!(["a", "sk_live_…"]));
    }
}
