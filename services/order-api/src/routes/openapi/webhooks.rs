//! The webhooks that a business gets, for the receiver's side: what is sent, and how it is signed (`spec.md` §4.2, §5.5).

use domain::{EventId, EventKind, Mode};
use settings::Brand;

use super::components::{event_kind, order_id, progress_kinds, tracking_code, tracking_url};
use super::ordered::{Json, object};
use super::samples::Samples;
use super::schema::{id, nullable, record, reference, string, time};

pub(super) fn schemas() -> Vec<(&'static str, Json)> {
    let order = record(
        "The order after the event. No personal data.",
        [
            ("id", order_id()),
            ("serviceOrderId", order_id()),
            ("orderReference", string("Your id of the order.")),
            ("trackingCode", tracking_code()),
            ("trackingUrl", tracking_url()),
            ("status", reference("DeliveryStatus")),
            ("codStatus", reference("CodStatus")),
        ],
    );
    let opt_in = [EventKind::OrderCreated, EventKind::WalletLowBalance, EventKind::WebhookTest];
    let sequence = object! {
        "type": "integer", "description": "Counts an order's events from 1, without a gap; null where there is no order.",
    };
    let event = record(
        "What is sent to your endpoint. Ignore fields and kinds that you do not know, and answer them with 200.",
        [
            ("id", id(EventId::PREFIX, "Stays the same however often it is sent: drop what you have seen.")),
            ("event", event_kind(progress_kinds().chain(opt_in), "What happened.")),
            ("sequence", nullable(sequence)),
            ("mode", reference("Mode")),
            ("occurredAt", time("When it happened.")),
            ("order", nullable(reference("WebhookOrder"))),
            (
                "data",
                object! { "type": "object", "description": "What the event adds: `driver`, `reason`, `codAmountPaise`." },
            ),
        ],
    );
    vec![("WebhookEvent", event), ("WebhookOrder", order)]
}

pub(super) fn webhooks(brand: &Brand, samples: &Samples) -> Json {
    let prefix = &brand.header_prefix;
    let header = |name: String, description: &str, example: &str| {
        object! {
            "name": name, "in": "header", "required": true, "description": description,
            "schema": object! { "type": "string" }, "example": example,
        }
    };
    let signature = format!(
        "`sha256=` and the lower-case hex of HMAC-SHA256 over `<{prefix}-Timestamp>.<raw body>`, keyed with the whole signing \
         secret as it was shown (`whsec_…`). Compare in constant time, over the raw bytes, before you parse them."
    );
    let event = samples.id(EventId::generate, 12).to_string();
    let hex = "sha256=5f0c1c2b1b7e6f1a5d9e8c3b2a49788796a5b4c3d2e1f00f1e2d3c4b5a697887";
    let parameters = vec![
        header(format!("{prefix}-Timestamp"), "Unix time in seconds, at which it was signed.", "1769851861"),
        header(format!("{prefix}-Signature"), &signature, hex),
        header(format!("{prefix}-Event-Id"), "The same as `id` in the body.", &event),
        header(format!("{prefix}-Mode"), "The same as `mode` in the body.", "live"),
        header("webhook-id".to_owned(), "As Standard Webhooks has it.", &event),
        header("webhook-timestamp".to_owned(), "As Standard Webhooks has it.", "1769851861"),
        header(
            "webhook-signature".to_owned(),
            "As Standard Webhooks has it.",
            "v1,XwwcKxt+bxpdnow7KkmXiHlqW0w9Lh8A8eLTxLWml4c=",
        ),
    ];
    let content = object! {
        "schema": reference("WebhookEvent"),
        "examples": object! { "picked_up": object! { "summary": "order.picked_up", "value": body(samples) } },
    };
    let operation = object! {
        "operationId": "receiveWebhook",
        "tags": ["Webhooks"],
        "summary": "Receive an event",
        "description": "Sent to your endpoint as the delivery progresses; at least once, and for one order in the order of `sequence`. \
                        Answer any 2xx within 10 seconds and work afterwards; anything else is tried again.",
        "security": Json::Array(Vec::new()),
        "parameters": parameters,
        "requestBody": object! { "required": true, "content": object! { "application/json": content } },
        "responses": object! {
            "200": object! { "description": "Received." },
            "401": object! { "description": "The signature does not match; nothing was done." },
            "410": object! { "description": "The endpoint is gone: it is disabled." },
        },
    };
    object! { "orderEvent": object! { "post": operation } }
}

fn body(samples: &Samples) -> Json {
    let order = samples.order(Mode::Live, &[EventKind::DriverAssigned, EventKind::OrderPickedUp]);
    let shown = object! {
        "id": order.id.to_string(),
        "serviceOrderId": order.id.to_string(),
        "orderReference": order.order_reference,
        "trackingCode": order.tracking_code.to_string(),
        "trackingUrl": samples.ambient.tracking_url(&order.tracking_code),
        "status": order.state.status.as_str(),
        "codStatus": order.state.cod.as_str(),
    };
    object! {
        "id": samples.id(EventId::generate, 12).to_string(),
        "event": EventKind::OrderPickedUp.as_str(),
        "sequence": order.sequence,
        "mode": order.mode.as_str(),
        "occurredAt": Json::of(&order.updated_at),
        "order": shown,
        "data": Json::Object(Vec::new()),
    }
}
