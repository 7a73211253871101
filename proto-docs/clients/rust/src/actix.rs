//! A webhook route for actix-web.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use actix_web::web::{Bytes, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::json;

use crate::webhooks::{WebhookHeaders, joined};
use crate::{Apply, Database, ReceiveError, Receiver};

const BODY_MAX_BYTES: usize = 1024 * 1024;
/// The time limit for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

impl WebhookHeaders for HeaderMap {
    fn header(&self, name: &str) -> Option<String> {
        joined(self.get_all(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()))
    }
}

/// The whole of a route: reads the body, verifies it and applies its event.
///
/// # Errors
/// When the work or the database fails. Log it and answer 503, so that the service sends the webhook again.
pub async fn receive<D: Database>(
    receiver: &Receiver<D>,
    request: &HttpRequest,
    payload: Payload,
    apply: &impl Apply<D>,
) -> Result<HttpResponse, D::Error> {
    let body = match read_body(payload).await {
        Ok(body) => body,
        Err(refusal) => return Ok(refusal),
    };
    match receiver.receive(&body, request.headers(), apply).await {
        Ok(receipt) => Ok(HttpResponse::Ok().json(json!({ "received": true, "receipt": receipt.as_str() }))),
        Err(ReceiveError::Refused(_)) => {
            Ok(refuse(StatusCode::UNAUTHORIZED, "The signature does not match."))
        }
        Err(ReceiveError::Failed(error)) => Err(error),
    }
}

/// The raw bytes of a body, within a size and a time.
///
/// # Errors
/// The answer to a body that is too large, too slow or cut.
pub async fn read_body(payload: Payload) -> Result<Bytes, HttpResponse> {
    match tokio::time::timeout(BODY_TIMEOUT, payload.to_bytes_limited(BODY_MAX_BYTES)).await {
        Ok(Ok(Ok(body))) => Ok(body),
        Ok(Ok(Err(_))) => {
            Err(refuse(StatusCode::BAD_REQUEST, "The body could not be read. Send the webhook again."))
        }
        Ok(Err(_)) => Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large.")),
        Err(_) => Err(refuse(
            StatusCode::REQUEST_TIMEOUT,
            "The body did not arrive in time. Send the webhook again.",
        )),
    }
}

/// An error body.
pub fn refuse(status: StatusCode, message: &str) -> HttpResponse {
    HttpResponse::build(status).json(json!({ "message": message }))
}
