//! Reads JSON bodies and checks their type, size and syntax. Handlers check the content.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header;
use actix_web::{FromRequest, HttpRequest, web};
use futures_util::StreamExt;
use serde_json::Value;

use crate::ApiError;
use crate::strict_json;

/// The largest request body (SPECIFICATION §8).
pub const BODY_MAX_BYTES: usize = 256 * 1024;

/// Ends requests that send their body byte by byte, because each holds a connection.
pub const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// Overrides [`BODY_DEADLINE`] for one listener, as `app_data`.
#[derive(Clone, Copy, Debug)]
pub struct BodyDeadline(pub Duration);

/// Overrides [`BODY_MAX_BYTES`] for one listener, as `app_data`.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimit(pub usize);

/// A JSON body without duplicate keys. Answers 415 for another type, 413 for a body that is too large, and 400 for
/// invalid JSON.
///
/// Actix runs the extractors of a handler concurrently. A handler that must authenticate first takes the payload and
/// calls [`read_json`] afterwards.
#[derive(Clone, Debug)]
pub struct JsonBody(pub Value);

/// Reads the body that [`JsonBody`] would extract.
///
/// # Errors
/// As [`JsonBody`].
pub async fn read_json(request: &HttpRequest, payload: web::Payload) -> Result<Value, ApiError> {
    JsonBody::from_request(request, &mut payload.into_inner()).await.map(|body| body.0)
}

/// As [`read_json`], for calls whose body is optional. Returns `null` for an empty body.
///
/// # Errors
/// As [`JsonBody`].
pub async fn read_optional_json(request: &HttpRequest, payload: web::Payload) -> Result<Value, ApiError> {
    let bounds = Bounds::of(request);
    let typed = check_content_type(request);
    let bytes = bounds.read(payload.into_inner()).await?;
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    typed?;
    parse(&bytes)
}

/// The raw bytes of a body of any type, for signature checks. The limits of [`JsonBody`] apply.
///
/// # Errors
/// 413 when the body is too large, 408 when it arrives too late.
pub async fn read_bytes(request: &HttpRequest, payload: web::Payload) -> Result<web::Bytes, ApiError> {
    Bounds::of(request).read(payload.into_inner()).await.map(web::BytesMut::freeze)
}

impl FromRequest for JsonBody {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let typed = check_content_type(request);
        let bounds = Bounds::of(request);
        let payload = payload.take();
        Box::pin(async move {
            typed?;
            let bytes = bounds.read(payload).await?;
            parse(&bytes).map(Self)
        })
    }
}

/// Requires JSON in UTF-8, the only encoding of JSON (RFC 8259 §8.1), without a content coding.
fn check_content_type(request: &HttpRequest) -> Result<(), ApiError> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let unsupported = ApiError::unsupported_media_type;
    if !is_json(text(header::CONTENT_TYPE)) {
        return Err(unsupported("Send the body as JSON, with Content-Type: application/json."));
    }
    if !is_utf8(text(header::CONTENT_TYPE)) {
        return Err(unsupported("Send the body as JSON in UTF-8, with Content-Type: application/json."));
    }
    let packed = request.headers().get_all(header::CONTENT_ENCODING);
    if packed.into_iter().any(|coding| !coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity")) {
        // RFC 9110 §15.5.16: `Accept-Encoding` says that the coding, not the type, is unsupported, and lists the
        // supported ones.
        return Err(unsupported("Send the body as it is, without a Content-Encoding.")
            .with_header(header::ACCEPT_ENCODING, header::HeaderValue::from_static("identity")));
    }
    Ok(())
}

fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media_type == "application/json"
        || (media_type.starts_with("application/") && media_type.ends_with("+json"))
}

fn is_utf8(content_type: &str) -> bool {
    let mut parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    parameters.all(|(name, value)| {
        !name.trim().eq_ignore_ascii_case("charset")
            || matches!(value.trim().trim_matches('"').to_ascii_lowercase().as_str(), "utf-8" | "utf8")
    })
}

/// The limits of a body.
struct Bounds {
    bytes: usize,
    within: Duration,
}

impl Bounds {
    fn of(request: &HttpRequest) -> Self {
        Self {
            bytes: request.app_data::<BodyLimit>().map_or(BODY_MAX_BYTES, |limit| limit.0),
            within: request.app_data::<BodyDeadline>().map_or(BODY_DEADLINE, |deadline| deadline.0),
        }
    }

    async fn read(&self, payload: Payload) -> Result<web::BytesMut, ApiError> {
        match tokio::time::timeout(self.within, read(payload, self.bytes)).await {
            Ok(bytes) => bytes,
            // Close the connection: the next request must not be read from the rest of this body.
            Err(_) => Err(ApiError::from_status(StatusCode::REQUEST_TIMEOUT)
                .with_header(header::CONNECTION, header::HeaderValue::from_static("close"))),
        }
    }
}

async fn read(mut chunks: Payload, limit: usize) -> Result<web::BytesMut, ApiError> {
    let mut bytes = web::BytesMut::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| ApiError::body_incomplete())?;
        if bytes.len() + chunk.len() > limit {
            let message = format!("The request body is larger than {} KiB.", limit / 1024);
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    // Some editors write a byte order mark. RFC 8259 §8.1 lets a parser ignore it.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.is_empty() {
        return Err(ApiError::malformed_json("The request body is empty; send a JSON object."));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|_| ApiError::malformed_json("The request body is not valid UTF-8."))?;
    strict_json::read(text)
        .map_err(|error| ApiError::malformed_json(format!("The request body is not valid JSON: {error}.")))
}
