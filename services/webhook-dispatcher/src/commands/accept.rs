//! An event arrives: in one transaction it is remembered as seen, put in its place among the events of its order, and
//! handed to every endpoint that subscribed to it.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::WebhookDeliveryId;
use events::{Body, Envelope, OrderEvent};
use postgres::StoreError;
use telemetry::TraceContext;

use crate::app::App;
use crate::domain::{Arrival, PARKED_MAX, WebhookEvent, arrival};
use crate::store::{self, NewDelivery, ParkedEvent, Queue};

const CONSUMER: &str = "webhooks";

#[derive(Debug, thiserror::Error)]
pub(crate) enum AcceptError {
    #[error("more than {PARKED_MAX} events of an order wait for one that is missing")]
    TooManyParked,
    #[error("the order belongs to another business")]
    ForeignOrder,
    #[error("the webhook's body cannot be written: {0}")]
    Body(#[from] serde_json::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for AcceptError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// # Errors
/// When the event cannot be taken in; nothing of it is kept then, and it may be tried again.
pub(crate) async fn accept(
    app: &App,
    envelope: Envelope,
    trace: Option<TraceContext>,
) -> Result<(), AcceptError> {
    let now = app.clock.now();
    let handed_on = app
        .database
        .transaction(async |conn| {
            if !outbox::first_time(conn, CONSUMER, envelope.id, now).await? {
                return Ok(0);
            }
            match &envelope.body {
                Body::Order(event) => accept_in_order(app, conn, &envelope, event, trace.as_ref(), now).await,
                Body::WalletLowBalance(data) => {
                    let event = WebhookEvent::of_low_balance(&envelope, data)?;
                    fan_out(app, conn, &event, trace.as_ref(), now).await
                }
                // No webhook tells of these; no binding brings them here.
                Body::ApiKeyRevoked(_) | Body::BusinessChanged {} | Body::WalletFunded {} => Ok(0),
            }
        })
        .await?;
    if handed_on > 0 {
        app.bell.notify_one();
    }
    Ok(())
}

/// Hands the event on if it is the order's next, and then whatever waited behind it. Gives the number of deliveries.
async fn accept_in_order(
    app: &App,
    conn: &mut AsyncPgConnection,
    envelope: &Envelope,
    event: &OrderEvent,
    trace: Option<&TraceContext>,
    now: DateTime<Utc>,
) -> Result<usize, AcceptError> {
    let (business, order) = (envelope.business_id, event.order.id);
    let next = store::lock_stream(conn, business, order).await?.ok_or(AcceptError::ForeignOrder)?;
    match arrival(event.sequence, next) {
        Arrival::Old => {
            tracing::info!(order_id = %order, sequence = event.sequence, "an event came after it was handed on");
            return Ok(0);
        }
        Arrival::Early => {
            park(conn, envelope, event, trace, now).await?;
            return Ok(0);
        }
        Arrival::Next => {}
    }
    let mut handed_on = fan_out(app, conn, &WebhookEvent::of_order(envelope, event)?, trace, now).await?;
    let mut next = event.sequence + 1;
    while let Some(parked) = store::take_parked(conn, business, order, next).await? {
        let Body::Order(event) = &parked.envelope.body else {
            return Err(StoreError::Corrupt("a parked event is not an order's".into()).into());
        };
        let event = WebhookEvent::of_order(&parked.envelope, event)?;
        handed_on += fan_out(app, conn, &event, parked.trace.as_ref(), now).await?;
        next += 1;
    }
    store::advance_to(conn, business, order, next).await?;
    Ok(handed_on)
}

async fn park(
    conn: &mut AsyncPgConnection,
    envelope: &Envelope,
    event: &OrderEvent,
    trace: Option<&TraceContext>,
    now: DateTime<Utc>,
) -> Result<(), AcceptError> {
    let (business, order, sequence) = (envelope.business_id, event.order.id, event.sequence);
    if store::parked_count(conn, business, order).await? >= PARKED_MAX {
        tracing::error!(order_id = %order, sequence, "too many events wait for a missing one");
        metrics::counter!("webhook_parked_overflow_total").increment(1);
        return Err(AcceptError::TooManyParked);
    }
    let parked = ParkedEvent { envelope: envelope.clone(), trace: trace.cloned() };
    if store::park(conn, order, sequence, &parked, now).await? {
        tracing::info!(order_id = %order, sequence, "an event waits for its predecessors");
        metrics::counter!("webhook_parked_total").increment(1);
    } else {
        tracing::error!(order_id = %order, sequence, event_id = %envelope.id, "two events claim one place");
    }
    Ok(())
}

/// One delivery for each endpoint that subscribed. Gives their number.
async fn fan_out(
    app: &App,
    conn: &mut AsyncPgConnection,
    event: &WebhookEvent,
    trace: Option<&TraceContext>,
    now: DateTime<Utc>,
) -> Result<usize, AcceptError> {
    let endpoints = store::subscribers(conn, event.business_id, event.kind, event.mode).await?;
    if endpoints.is_empty() || !store::insert_event(conn, event, trace).await? {
        return Ok(0);
    }
    let deliveries: Vec<_> = endpoints
        .iter()
        .map(|endpoint| NewDelivery {
            id: WebhookDeliveryId::generate(&app.clock, &app.entropy),
            endpoint: *endpoint,
            lease: None,
        })
        .collect();
    store::insert_deliveries(conn, event, &deliveries, now).await?;
    if let Some(place) = event.place {
        let queue = |endpoint: &_| Queue { order: place.order_id, endpoint: *endpoint };
        store::advance(conn, &endpoints.iter().map(queue).collect::<Vec<_>>(), now).await?;
    }
    Ok(deliveries.len())
}
