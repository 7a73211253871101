//! Moving an order: the one way in which a delivery's state changes, whoever asks for it. The new state, the timeline
//! row and the event for the outbox are written in the caller's transaction, under the order's row lock.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{CodStatus, EventId, EventKind, IllegalMove, Mode};
use events::{Body, Envelope, OrderSnapshot, ProgressData};
use futures_util::try_join;
use postgres::StoreError;
use telemetry::TraceContext;

use crate::app::Ambient;
use crate::domain::{Order, OrderEvent};
use crate::store::{orders, timeline};

/// What is said to have happened.
#[derive(Clone, Debug)]
pub struct Reported {
    pub event: EventKind,
    pub data: ProgressData,
    pub occurred_at: DateTime<Utc>,
}

/// Why an order did not move.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error("there is no such order")]
    NotFound,
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for MoveError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Applies `reported` to `order`, whose row the caller has locked.
pub(super) async fn move_order(
    ambient: &Ambient,
    conn: &mut AsyncPgConnection,
    mut order: Order,
    mut reported: Reported,
) -> Result<Order, MoveError> {
    if order.personal_data_erased_at.is_some() {
        reported.data = reported.data.without_personal_data();
    }
    let moved = order.state.apply(reported.event)?;
    let now = later_than(order.updated_at, ambient.clock.now());
    order.state = moved.to;
    order.sequence += 1;
    order.updated_at = now;
    note_data(&mut order, &reported);
    order.updated_at = orders::save_move(conn, &order).await?;
    let trace = TraceContext::current();
    let event = OrderHappening { order: &order, reported, refund_due: moved.refund_due, trace };
    event.write(ambient, conn, now).await?;
    Ok(order)
}

/// An order's changes are recorded at times that grow with its sequence, also when another replica's clock is ahead: its
/// timeline is read by time.
fn later_than(last: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    now.max(last + TimeDelta::microseconds(1))
}

/// What the order itself remembers of a report. A test order never gets a driver: a simulated one lives in its event
/// alone.
fn note_data(order: &mut Order, reported: &Reported) {
    match reported.event {
        EventKind::DriverAssigned if order.mode == Mode::Live => {
            order.driver = reported.data.driver.as_ref().and_then(|driver| serde_json::to_value(driver).ok());
        }
        EventKind::DriverUnassigned => order.driver = None,
        EventKind::OrderFailed | EventKind::OrderCancelled | EventKind::OrderReturned => {
            order.reason.clone_from(&reported.data.reason);
        }
        _ => {}
    }
    order.cash.note(reported.event, reported.data.cod_amount_paise);
}

/// An order's event, in its two forms: the timeline's row and the broker's envelope.
pub(super) struct OrderHappening<'a> {
    pub order: &'a Order,
    pub reported: Reported,
    pub refund_due: bool,
    /// Of the request that made it happen.
    pub trace: Option<TraceContext>,
}

impl OrderHappening<'_> {
    pub(super) async fn write(
        self,
        ambient: &Ambient,
        conn: &mut AsyncPgConnection,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        write_all(ambient, conn, vec![self], now).await
    }

    fn forms(self, ambient: &Ambient) -> Result<(OrderEvent, Envelope), StoreError> {
        let order = self.order;
        let id = EventId::generate(&ambient.clock, &ambient.entropy);
        let data = serde_json::to_value(&self.reported.data)
            .map_err(|error| StoreError::Corrupt(format!("event data: {error}")))?;
        let row = OrderEvent {
            id,
            order_id: order.id,
            business_id: order.business_id,
            kind: self.reported.event,
            sequence: order.sequence,
            status: order.state.status,
            cod_status: order.state.cod,
            data,
            occurred_at: self.reported.occurred_at,
            recorded_at: order.updated_at,
        };
        let envelope = Envelope {
            id,
            business_id: order.business_id,
            occurred_at: self.reported.occurred_at,
            body: Body::Order(Box::new(events::OrderEvent {
                event: self.reported.event,
                sequence: order.sequence,
                mode: order.mode,
                order: snapshot(ambient, order),
                data: self.reported.data,
                delivery_fee_paise: order.delivery_fee,
                refund_due: self.refund_due && order.mode == Mode::Live,
                cod_expected_paise: (order.state.cod != CodStatus::NotApplicable).then_some(order.cod_amount),
                recorded_at: Some(order.updated_at),
            })),
        };
        Ok((row, envelope))
    }
}

/// Writes the events of many orders at once.
pub(super) async fn write_all(
    ambient: &Ambient,
    conn: &mut AsyncPgConnection,
    happenings: Vec<OrderHappening<'_>>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let mut rows = Vec::with_capacity(happenings.len());
    let mut envelopes = Vec::with_capacity(happenings.len());
    for happening in happenings {
        let trace = happening.trace.clone();
        let (row, envelope) = happening.forms(ambient)?;
        rows.push(row);
        envelopes.push((envelope, trace));
    }
    let appended = timeline::append(conn, &rows);
    let traced = envelopes.iter().map(|(envelope, trace)| (envelope, trace.as_ref()));
    // Sent together, so that the server is waited for once.
    try_join!(appended, outbox::enqueue_traced(conn, traced, now))?;
    Ok(())
}

fn snapshot(ambient: &Ambient, order: &Order) -> OrderSnapshot {
    OrderSnapshot {
        id: order.id,
        order_reference: order.order_reference.clone(),
        tracking_code: order.tracking_code.clone(),
        tracking_url: ambient.tracking_url(&order.tracking_code),
        status: order.state.status,
        cod_status: order.state.cod,
    }
}
