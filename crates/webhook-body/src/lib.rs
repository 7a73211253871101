//! The body of a webhook (SPECIFICATION §2.7). webhook-dispatcher sends it and order-api's events feed
//! returns it, so both render it here, to the same bytes.

mod erased;

use chrono::{DateTime, SecondsFormat, Utc};
use domain::{CodStatus, DeliveryStatus, EventId, EventKind, Mode, OrderId, TrackingCode};
use events::OrderSnapshot;
use serde::Serialize;

pub use erased::{erased_body, marked_as_erased};

/// The content of a body. `data` depends on the kind of the event.
#[derive(Clone, Copy, Debug)]
pub struct WebhookBody<'a, D> {
    pub id: EventId,
    pub event: EventKind,
    /// None for an event that belongs to no order.
    pub sequence: Option<i64>,
    pub mode: Mode,
    pub occurred_at: DateTime<Utc>,
    pub order: Option<&'a OrderSnapshot>,
    pub data: &'a D,
}

impl<D: Serialize> WebhookBody<'_, D> {
    /// The JSON.
    ///
    /// # Errors
    /// When `data` cannot be serialised.
    pub fn render(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Body {
            id: self.id,
            event: self.event,
            sequence: self.sequence,
            mode: self.mode,
            occurred_at: written(self.occurred_at),
            order: self.order.map(BodyOrder::from),
            data: self.data,
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a, D> {
    id: EventId,
    event: EventKind,
    sequence: Option<i64>,
    mode: Mode,
    occurred_at: String,
    order: Option<BodyOrder<'a>>,
    data: &'a D,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BodyOrder<'a> {
    id: OrderId,
    service_order_id: OrderId,
    order_reference: &'a str,
    tracking_code: &'a TrackingCode,
    tracking_url: &'a str,
    status: DeliveryStatus,
    cod_status: CodStatus,
}

impl<'a> From<&'a OrderSnapshot> for BodyOrder<'a> {
    fn from(order: &'a OrderSnapshot) -> Self {
        Self {
            id: order.id,
            service_order_id: order.id,
            order_reference: &order.order_reference,
            tracking_code: &order.tracking_code,
            tracking_url: &order.tracking_url,
            status: order.status,
            cod_status: order.cod_status,
        }
    }
}

/// RFC 3339 with milliseconds.
fn written(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
