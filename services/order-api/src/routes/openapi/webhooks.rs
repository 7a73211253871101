//! The webhooks that a business gets, for the receiver's side: what is sent, and how it is signed (SPECIFICATION §4.2, §5.5).

use domain::{EventKind, Mode};
use settings::Brand;

use super::ordered::{Json, object};
use super::samples::Samples;
use super::schema::reference;

pub(super) fn webhooks(brand: &Brand, samples: &Samples) -> Json {
    let prefix = &brand.header_prefix;
    let header = |name: String, description: &str, example: &str| {
        object! {
            "name": name, "in": "header", "description": description,
            "schema": object! { "type": "string" }, "example": example,
        }
    };
    let always = |name: String, description: &str, example: &str| {
        header(name, description, example).with("required", true)
    };
    let signature = format!(
        "`sha256=` and the lower-case hex of HMAC-SHA256 over `<{prefix}-Timestamp>.<raw body>`, keyed with the whole signing \
         secret as it was shown (`whsec_…`). Compare in constant time, over the raw bytes, before you parse them."
    );
    // Of the first example.
    let event = samples.event_id(3).to_string();
    let hex = "sha256=5f0c1c2b1b7e6f1a5d9e8c3b2a49788796a5b4c3d2e1f00f1e2d3c4b5a697887";
    let parameters = vec![
        always(format!("{prefix}-Timestamp"), "Unix time in seconds, at which it was signed.", "1769851861"),
        always(format!("{prefix}-Signature"), &signature, hex),
        header(
            format!("{prefix}-Signature-Next"),
            "The same with the next secret, while the secret is being rotated; left out otherwise.",
            hex,
        )
        .with("required", false),
        always(format!("{prefix}-Event-Id"), "The same as `id` in the body.", &event),
        always(format!("{prefix}-Mode"), "The same as `mode` in the body.", "live"),
        always("webhook-id".to_owned(), "As Standard Webhooks has it.", &event),
        always("webhook-timestamp".to_owned(), "As Standard Webhooks has it.", "1769851861"),
        always(
            "webhook-signature".to_owned(),
            "As Standard Webhooks has it.",
            "v1,XwwcKxt+bxpdnow7KkmXiHlqW0w9Lh8A8eLTxLWml4c=",
        ),
    ];
    let content = object! { "schema": reference("WebhookEvent"), "examples": examples(samples) };
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

fn examples(samples: &Samples) -> Json {
    use EventKind::{DriverAssigned, OrderFailed, OrderOutForDelivery, OrderPickedUp};
    let failed = [DriverAssigned, OrderPickedUp, OrderOutForDelivery, OrderFailed];
    let driver = samples.order(Mode::Live, &[DriverAssigned]).driver.unwrap_or_default();
    let nothing = || Json::Object(Vec::new());
    let bodies = [
        ("picked_up", body(samples, &failed[..2], nothing())),
        ("created", body(samples, &[], nothing())),
        ("assigned", body(samples, &failed[..1], object! { "driver": driver })),
        ("failed", body(samples, &failed, object! { "reason": "Nobody at home" })),
        ("low_balance", low_balance(samples)),
    ];
    Json::object(bodies.into_iter().map(|(name, body)| {
        let kind = body.get("event").cloned().unwrap_or(Json::Null);
        (name.to_owned(), object! { "summary": kind, "value": body })
    }))
}

/// The last of these events, or the order's creation before them.
fn body(samples: &Samples, events: &[EventKind], data: Json) -> Json {
    let order = samples.order(Mode::Live, events);
    let shown = object! {
        "id": order.id.to_string(),
        "serviceOrderId": order.id.to_string(),
        "orderReference": order.order_reference,
        "trackingCode": order.tracking_code.to_string(),
        "trackingUrl": samples.tracking_urls.of(&order.tracking_code),
        "status": order.state.status.as_str(),
        "codStatus": order.state.cod.as_str(),
    };
    object! {
        "id": samples.event_id(order.sequence).to_string(),
        "event": events.last().copied().unwrap_or(EventKind::OrderCreated).as_str(),
        "sequence": order.sequence,
        "mode": order.mode.as_str(),
        "occurredAt": Json::of(&order.updated_at),
        "order": shown,
        "data": data,
    }
}

fn low_balance(samples: &Samples) -> Json {
    object! {
        "id": samples.event_id(6).to_string(),
        "event": EventKind::WalletLowBalance.as_str(),
        "sequence": Json::Null,
        "mode": Mode::Live.as_str(),
        "occurredAt": Json::of(&samples.order(Mode::Live, &[]).updated_at),
        "order": Json::Null,
        "data": object! { "balancePaise": 45_100, "thresholdPaise": 50_000 },
    }
}
