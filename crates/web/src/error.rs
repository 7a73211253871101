//! The error body (SPECIFICATION §2.3, §7): `message` for people, `code` for programs, `requestId`, all invalid
//! fields in `errors[]`, and further fields of the error code.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use postgres::StoreError;
use serde_json::{Map, Value, json};

use crate::{FieldError, FieldErrors};

/// An error response. The edge renders it, because only the edge knows the request id.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiError {
    status: StatusCode,
    // Boxed to keep results small: most results carry no error.
    answer: Box<Answer>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Answer {
    code: String,
    message: String,
    field_errors: Vec<FieldError>,
    rest: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl ApiError {
    pub fn new(status: StatusCode, code: impl Into<String>, message: impl Into<String>) -> Self {
        let answer = Answer { code: code.into(), message: message.into(), ..Answer::default() };
        Self { status, answer: Box::new(answer) }
    }

    /// 400 with every invalid field of the request.
    pub fn invalid(field_errors: impl Into<Vec<FieldError>>) -> Self {
        let field_errors = field_errors.into();
        let message = match field_errors.as_slice() {
            [only] => only.message.clone(),
            [first, rest @ ..] => {
                let more = match rest.len() {
                    1 => "is 1 more error".to_owned(),
                    more if field_errors.len() < FieldErrors::MAX => format!("are {more} more errors"),
                    more => format!("are at least {more} more errors"),
                };
                format!("{} There {more}; see errors.", first.message)
            }
            [] => "The request is not valid.".to_owned(),
        };
        let mut error = Self::new(StatusCode::BAD_REQUEST, "invalid_request", message);
        error.answer.field_errors = field_errors;
        error
    }

    /// The same error with another status.
    #[must_use]
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// 400 with a single invalid field.
    pub fn invalid_field(field: &str, code: &'static str, message: impl Into<String>) -> Self {
        let field_errors = FieldErrors::default();
        field_errors.add(field, code, message);
        Self::invalid(field_errors)
    }

    /// Forwards the refusal of another service unchanged. An invalid status becomes 400.
    pub fn passed_on(status: u16, code: String, message: String, mut rest: Map<String, Value>) -> Self {
        let mut error =
            Self::new(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), code, message);
        // The edge adds this request's own id.
        rest.remove("requestId");
        error.answer.rest = rest;
        error
    }

    /// 404 for a resource that does not exist or belongs to another caller. The two cases look the same.
    pub fn not_found(code: &str, what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, format!("There is no such {what}."))
    }

    /// 503: a dependency did not answer in time. The requested change may or may not have happened.
    pub fn unavailable() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "temporarily_unavailable",
            "The service is temporarily unavailable. Try again in a moment. If the call is not idempotent, check first whether it took effect.",
        )
        .retry_after(2)
    }

    /// 500: a defect of this service. `what` is logged and not sent.
    pub fn internal(what: impl fmt::Display) -> Self {
        tracing::error!(error = %what, "internal error");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal_error",
            "The request failed because of an error in the service. Quote the requestId when you report it.",
        )
    }

    /// Adds a field of this error code, such as `order`, `missing` or `shortfallPaise`.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.answer.rest.insert(name.to_owned(), value.into());
        self
    }

    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.answer.headers.push((name, value));
        self
    }

    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Self {
        self.with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// 415: the body is not declared as plain JSON.
    pub fn unsupported_media_type(message: &str) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    }

    /// 400: the request violates HTTP.
    pub fn malformed_request() -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "malformed_request",
            "The request is not well-formed HTTP. Check for a NUL, a line break or another control character in a \
             header, and for a request line or a Content-Length that violates RFC 9112.",
        )
    }

    /// 400: the body ended early.
    pub fn body_incomplete() -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "body_incomplete",
            "The request body is incomplete. Send the request again.",
        )
    }

    /// 400: the body is not valid JSON.
    pub fn malformed_json(what: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed_json", what)
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers of this error, without those that the edge adds to every response.
    pub fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.answer.headers
    }

    pub fn code(&self) -> &str {
        &self.answer.code
    }

    /// The error for a status without a body, from the router or the HTTP layer.
    pub fn from_status(status: StatusCode) -> Self {
        let (code, message) = match status {
            StatusCode::NOT_FOUND => ("not_found", "There is nothing at this address."),
            StatusCode::METHOD_NOT_ALLOWED => (
                "method_not_allowed",
                "This address does not support that method. The Allow header lists the supported ones.",
            ),
            StatusCode::PAYLOAD_TOO_LARGE => ("body_too_large", "The request body is too large."),
            StatusCode::REQUEST_TIMEOUT => ("request_timeout", "The request did not arrive in time."),
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
                ("headers_too_large", "The request's headers are too many or too large.")
            }
            StatusCode::URI_TOO_LONG => ("uri_too_long", "The address is too long."),
            status if status.is_client_error() => ("bad_request", "The request cannot be understood."),
            _ => ("internal_error", "The request failed because of an error in the service."),
        };
        Self::new(status, code, message)
    }

    /// The error body.
    pub fn body(&self, request_id: &str) -> Value {
        let mut body = self.answer.rest.clone();
        body.insert("message".into(), json!(self.answer.message));
        body.insert("code".into(), json!(self.answer.code));
        body.insert("requestId".into(), json!(request_id));
        if !self.answer.field_errors.is_empty() {
            body.insert("errors".into(), json!(self.answer.field_errors));
        }
        Value::Object(body)
    }

    /// The error body in the format of RFC 9457, with the same fields added.
    pub fn problem(&self, request_id: &str) -> Value {
        let mut body = self.body(request_id);
        body["type"] = json!("about:blank");
        body["title"] = json!(self.status.canonical_reason().unwrap_or("Error"));
        body["status"] = json!(self.status.as_u16());
        body["detail"] = json!(self.answer.message);
        body
    }

    /// The body with the address of the page that explains its code. `docs` is the address of all such pages.
    pub(crate) fn documented(&self, mut body: Value, docs: Option<&str>) -> Value {
        if let Some(docs) = docs {
            body["docs"] = json!(format!("{docs}{}", self.answer.code));
        }
        body
    }

    /// The response in the format that the caller asked for.
    pub(crate) fn respond(&self, request_id: &str, as_problem: bool, docs: Option<&str>) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        for (name, value) in &self.answer.headers {
            response.append_header((name.clone(), value.clone()));
        }
        let (media_type, body) = match as_problem {
            true => ("application/problem+json", self.problem(request_id)),
            false => ("application/json", self.body(request_id)),
        };
        response.content_type(media_type).body(self.documented(body, docs).to_string())
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status.as_u16(), self.answer.code, self.answer.message)
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    /// The edge replaces this response. Without an edge, the status is still right.
    fn error_response(&self) -> HttpResponse {
        self.respond("", false, None)
    }
}

impl From<StoreError> for ApiError {
    /// 503 when the database is unreachable or this process has too much to do, 500 for everything else.
    fn from(error: StoreError) -> Self {
        if error.is_unavailable() {
            tracing::warn!(%error, "request answered with 503");
            Self::unavailable()
        } else {
            Self::internal(error)
        }
    }
}
