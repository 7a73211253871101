//! `POST /api/waybill/webhook`: verifies the raw bytes, stores them and answers. Processing happens later.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use waybill_client::WebhookError;
use waybill_client::actix::{read_body, refuse};
use waybill_client::webhooks::{Secrets, VerifyOptions, verify};

use super::event::WebhookEvent;
use crate::store::webhooks::{self, Arrival};
use crate::{Shop, ShopError};

/// The path of the webhook receiver.
pub const WEBHOOK_PATH: &str = "/api/waybill/webhook";

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
    let body = match read_body(payload).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
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

/// Why a webhook got 401; only for the shop's log.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("no usable signing secret is set")]
    NoSecret,
    #[error(transparent)]
    Verify(#[from] WebhookError),
}

impl Receiver {
    fn verify(&self, request: &HttpRequest, body: &[u8]) -> Result<(), Refusal> {
        let settings = &self.shop.inner.settings;
        let secret = self.shop.webhook_secret().ok_or(Refusal::NoSecret)?;
        let secrets = Secrets::new([secret.expose()]).map_err(|_| Refusal::NoSecret)?;
        let options = VerifyOptions {
            header_prefix: settings.header_prefix.clone(),
            tolerance_seconds: settings.tolerance_seconds,
            now_seconds: Some(self.shop.inner.clock.now().timestamp()),
        };
        Ok(verify(body, request.headers(), &secrets, &options)?)
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
