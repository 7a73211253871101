//! Events for the pages that are open on this instance: order updates, and changes of the overview.

use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use domain::{CodStatus, DeliveryStatus, EventKind, Mode, OrderId, TrackingCode};
use events::{Body, Envelope, OrderEvent, binding};
use messaging::{Handler, Queue, Rejection};
use serde::Serialize;

use crate::live_updates::OrderUpdate;
use crate::state::State;

pub(crate) struct LiveUpdatesConsumer(pub(crate) Arc<State>);

impl LiveUpdatesConsumer {
    /// Each instance has its own queue, because each has its own open pages.
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

impl Handler for LiveUpdatesConsumer {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let (streams, business) = (&self.0.order_streams, envelope.business_id);
        self.0.status_streams.signal(business);
        let Body::Order(order) = &envelope.body else { return Ok(()) };
        if !streams.has_subscribers(business) {
            return Ok(());
        }
        let view = OrderEventView::of(order, &envelope);
        let data = serde_json::to_vec(&view).map_err(|error| Rejection::Never(error.to_string()))?;
        let update = OrderUpdate { id: envelope.id, mode: order.mode, data: Bytes::from(data) };
        streams.publish(business, update);
        Ok(())
    }

    /// Events may have been missed while the broker was unreachable.
    async fn connected(&self) {
        self.0.order_streams.reload_all();
        self.0.status_streams.signal_all();
    }
}

/// The data of a server-sent `order` event: the order after the event, and the event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OrderEventView<'a> {
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

impl<'a> OrderEventView<'a> {
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
