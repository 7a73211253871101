//! The events of orders. Each event has two forms, which commit together: a row of the timeline, and an envelope in the
//! outbox.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{CodStatus, EventId, EventKind, Mode};
use events::{Body, Envelope, OrderSnapshot, ProgressData};
use futures_util::try_join;
use outbox::{PreparedMessages, Unit};
use postgres::StoreError;
use telemetry::TraceContext;

use crate::domain::{OrderEvent, OrderSummary, TrackingUrls};
use crate::store::timeline;

/// The progress of a delivery, as a fleet, a business or a simulation reports it.
#[derive(Clone, Debug)]
pub struct Progress {
    pub event: EventKind,
    pub data: ProgressData,
    pub occurred_at: DateTime<Utc>,
}

/// An order after a change, and the progress that caused it.
pub struct OrderChange {
    pub order: OrderSummary,
    pub progress: Progress,
    /// Of the request that caused the change.
    pub trace: Option<TraceContext>,
}

/// Records the events of order changes.
#[derive(Clone)]
pub struct OrderEvents {
    unit: Unit,
    tracking_urls: TrackingUrls,
}

impl OrderEvents {
    pub fn new(unit: &Unit, tracking_urls: TrackingUrls) -> Self {
        Self { unit: unit.clone(), tracking_urls }
    }

    /// Records one event for each change, in the caller's transaction.
    pub async fn record(
        &self,
        conn: &AsyncPgConnection,
        changes: Vec<OrderChange>,
    ) -> Result<(), StoreError> {
        let mut rows = Vec::with_capacity(changes.len());
        let mut envelopes = Vec::with_capacity(changes.len());
        for mut change in changes {
            let trace = change.trace.take();
            let (row, envelope) = self.event_of(change)?;
            rows.push(row);
            envelopes.push((envelope, trace));
        }
        let appended = timeline::append(conn, &rows);
        let traced = envelopes.iter().map(|(envelope, trace)| (envelope, trace.as_ref()));
        // Both statements are sent at once, to save a round trip.
        try_join!(appended, self.unit.outbox.enqueue_traced(conn, traced, self.unit.clock.now()))?;
        Ok(())
    }

    /// Prepares one event for each change, for the statement that stores the orders.
    pub fn prepare(
        &self,
        changes: Vec<OrderChange>,
    ) -> Result<(Vec<OrderEvent>, PreparedMessages), StoreError> {
        let mut rows = Vec::with_capacity(changes.len());
        let mut envelopes = Vec::with_capacity(changes.len());
        for mut change in changes {
            let (order, trace) = (change.order.id.to_string(), change.trace.take());
            let (row, envelope) = self.event_of(change)?;
            rows.push(row);
            envelopes.push((order, envelope, trace));
        }
        let messages =
            envelopes.iter().map(|(order, envelope, trace)| (order.clone(), envelope, trace.as_ref()));
        let prepared = self.unit.outbox.prepare(messages, self.unit.clock.now())?;
        Ok((rows, prepared))
    }

    fn event_of(&self, change: OrderChange) -> Result<(OrderEvent, Envelope), StoreError> {
        let OrderChange { order, progress, .. } = change;
        let id = EventId::generate(&self.unit.clock, &self.unit.entropy);
        let data = serde_json::to_value(&progress.data)
            .map_err(|error| StoreError::Corrupt(format!("event data: {error}")))?;
        let row = OrderEvent {
            id,
            order_id: order.id,
            business_id: order.business_id,
            kind: progress.event,
            sequence: order.sequence,
            status: order.state.status,
            cod_status: order.state.cod,
            data,
            occurred_at: progress.occurred_at,
            recorded_at: order.updated_at,
        };
        let envelope = Envelope {
            id,
            business_id: order.business_id,
            occurred_at: progress.occurred_at,
            body: Body::Order(Box::new(events::OrderEvent {
                event: progress.event,
                sequence: order.sequence,
                mode: order.mode,
                data: progress.data,
                delivery_fee_paise: order.delivery_fee,
                refund_due: order.mode == Mode::Live && order.state.refund_due(),
                cod_expected_paise: (order.state.cod != CodStatus::NotApplicable).then_some(order.cod_amount),
                recorded_at: Some(order.updated_at),
                order: self.snapshot(order),
            })),
        };
        Ok((row, envelope))
    }

    fn snapshot(&self, order: OrderSummary) -> OrderSnapshot {
        OrderSnapshot {
            id: order.id,
            tracking_url: self.tracking_urls.of(&order.tracking_code),
            order_reference: order.order_reference,
            tracking_code: order.tracking_code,
            status: order.state.status,
            cod_status: order.state.cod,
        }
    }
}
