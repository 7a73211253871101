//! What happens, for the pages that are open on this instance: orders as they move, and whatever else the overview shows.

use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use domain::{CodStatus, DeliveryStatus, EventKind, Mode, OrderId, TrackingCode};
use events::{Body, Envelope, OrderEvent, binding};
use messaging::{Handler, Queue, Rejection};
use serde::Serialize;

use crate::live_orders::{LiveOrder, LiveOrders};
use crate::status_changes::StatusChanges;

pub(crate) struct NewsConsumer {
    pub(crate) orders: Arc<LiveOrders>,
    pub(crate) status: Arc<StatusChanges>,
}

impl NewsConsumer {
    /// Every instance hears everything.
    pub(crate) fn queue() -> Queue {
        let bindings = [
            binding::LIVE_ORDERS,
            binding::TEST_ORDERS,
            binding::BUSINESS_CHANGED,
            binding::PORTAL_CHANGED,
            binding::API_KEY_REVOKED,
            binding::WALLET_FUNDED,
            binding::WALLET_LOW_BALANCE,
        ];
        Queue::per_instance("portal-api.news", &bindings)
    }
}

impl Handler for NewsConsumer {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        self.status.note(envelope.business_id);
        let Body::Order(order) = &envelope.body else { return Ok(()) };
        if !self.orders.has_listeners(envelope.business_id) {
            return Ok(());
        }
        let shown = ShownOrder::of(order, &envelope);
        let data = serde_json::to_vec(&shown).map_err(|error| Rejection::Never(error.to_string()))?;
        let live = LiveOrder { id: envelope.id, mode: order.mode, data: Bytes::from(data) };
        self.orders.publish(envelope.business_id, live);
        Ok(())
    }

    /// What happened while the broker was away was not heard.
    async fn connected(&self) {
        self.orders.reload_all();
        self.status.note_all();
    }
}

/// The data of a server-sent `order` event: the order as it is after the event, and the event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownOrder<'a> {
    id: OrderId,
    service_order_id: OrderId,
    order_reference: &'a str,
    tracking_code: &'a TrackingCode,
    tracking_url: &'a str,
    status: DeliveryStatus,
    cod_status: CodStatus,
    mode: Mode,
    event: EventKind,
    sequence: i64,
    occurred_at: DateTime<Utc>,
    recorded_at: DateTime<Utc>,
}

impl<'a> ShownOrder<'a> {
    fn of(event: &'a OrderEvent, envelope: &Envelope) -> Self {
        let order = &event.order;
        Self {
            id: order.id,
            service_order_id: order.id,
            order_reference: &order.order_reference,
            tracking_code: &order.tracking_code,
            tracking_url: &order.tracking_url,
            status: order.status,
            cod_status: order.cod_status,
            mode: event.mode,
            event: event.event,
            sequence: event.sequence,
            occurred_at: envelope.occurred_at,
            recorded_at: envelope.recorded_at(),
        }
    }
}
