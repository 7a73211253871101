//! `POST /api/waybill/webhook`: verifies the raw bytes, stores them and answers. Processing happens later.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use webhook_signature::VerifyError;

use super::event::WebhookEvent;
use crate::store::webhooks::{self, Arrival};
use crate::{Shop, ShopError};

/// The path of the webhook receiver.
pub const WEBHOOK_PATH: &str = "/api/waybill/webhook";

const BODY_MAX_BYTES: usize = 1024 * 1024;
/// The time limit for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// The state of the route.
#[derive(Clone)]
pub(super) struct Receiver {
    pub(super) shop: Shop,
    /// Wakes the worker.
    pub(super) notifier: Arc<Notify>,
    /// The runtime of the shop's database connections. The server's own threads end with the server, and so would
    /// connections that they opened.
    pub(super) runtime: Handle,
}

/// Adds the route to a server.
pub(super) fn configure(receiver: Receiver) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config
            .app_data(web::Data::new(receiver))
            .service(web::resource(WEBHOOK_PATH).route(web::post().to(receive)));
    }
}

async fn receive(receiver: web::Data<Receiver>, request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let body = match tokio::time::timeout(BODY_TIMEOUT, payload.to_bytes_limited(BODY_MAX_BYTES)).await {
        Ok(Ok(Ok(body))) => body,
        Ok(Ok(Err(_))) => {
            return refuse(StatusCode::BAD_REQUEST, "The body could not be read. Send the webhook again.");
        }
        Ok(Err(_)) => return refuse(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large."),
        Err(_) => {
            return refuse(
                StatusCode::REQUEST_TIMEOUT,
                "The body did not arrive in time. Send the webhook again.",
            );
        }
    };
    if let Some(status) = receiver.shop.inner.pause.take() {
        return refuse(status, "The shop simulates an outage.");
    }
    if let Err(refusal) = receiver.verify(&request, &body) {
        tracing::warn!(reason = %refusal, "webhook refused");
        return refuse(StatusCode::UNAUTHORIZED, "The signature does not match.");
    }
    // Parse the body only after its signature is verified.
    let Some(event) = WebhookEvent::parse(&body) else {
        return refuse(StatusCode::BAD_REQUEST, "The body is not an event.");
    };
    match receiver.accept(event, &request, &body).await {
        Ok(()) => HttpResponse::Ok().json(json!({ "received": true })),
        Err(error) => {
            tracing::error!(%error, "webhook not stored");
            refuse(StatusCode::SERVICE_UNAVAILABLE, "The webhook could not be stored. Send it again.")
        }
    }
}

fn refuse(status: StatusCode, message: &str) -> HttpResponse {
    HttpResponse::build(status).json(json!({ "message": message }))
}

/// Why a webhook got 401; only for the shop's log.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("no signing secret is set")]
    NoSecret,
    #[error("a signature header is missing")]
    NoSignature,
    #[error(transparent)]
    Verify(#[from] VerifyError),
}

impl Receiver {
    /// Accepts a signature of the shop's secret in either header: during a rotation, the service signs with the old
    /// secret in `Signature` and with the new one in `Signature-Next`.
    fn verify(&self, request: &HttpRequest, body: &[u8]) -> Result<(), Refusal> {
        let settings = &self.shop.inner.settings;
        let secret = self.shop.webhook_secret().ok_or(Refusal::NoSecret)?;
        let header = |name| {
            header_text(request, &format!("{}-{name}", settings.header_prefix)).ok_or(Refusal::NoSignature)
        };
        let timestamp = header("Timestamp")?;
        let now = self.shop.inner.clock.now().timestamp();
        let verify = |signature| -> Result<(), Refusal> {
            let tolerance = settings.tolerance_seconds;
            Ok(webhook_signature::verify(secret.expose(), timestamp, signature, body, now, tolerance)?)
        };
        verify(header("Signature")?)
            .or_else(|refusal| header("Signature-Next").and_then(verify).map_err(|_| refusal))
    }

    /// Stores the webhook and wakes the worker. Completes even when the sender disconnects.
    async fn accept(&self, event: WebhookEvent, request: &HttpRequest, body: &[u8]) -> Result<(), ShopError> {
        let order = event.order.unwrap_or_default();
        let arrival = Arrival {
            event_id: event.id,
            kind: event.kind,
            sequence: event.sequence,
            mode: event.mode,
            order_reference: order.order_reference,
            tracking_code: order.tracking_code,
            body: body.to_vec(),
            headers: serde_json::to_value(self.signature_headers(request))?,
            received_at: self.shop.inner.clock.now(),
        };
        let receiver = self.clone();
        let stored = self.runtime.spawn(async move {
            let new = receiver.shop.read(async |conn| webhooks::insert(conn, &arrival).await).await?;
            tracing::info!(event = %arrival.event_id, kind = %arrival.kind, new, "webhook accepted");
            receiver.notifier.notify_one();
            Ok(())
        });
        stored.await?
    }

    /// The service's headers and those of Standard Webhooks.
    fn signature_headers(&self, request: &HttpRequest) -> BTreeMap<String, String> {
        let own = format!("{}-", self.shop.inner.settings.header_prefix.to_ascii_lowercase());
        request
            .headers()
            .iter()
            .filter(|(name, _)| name.as_str().starts_with(&own) || name.as_str().starts_with("webhook-"))
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
            .collect()
    }
}

fn header_text<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers().get(name)?.to_str().ok()
}
