//! Deliveries that are about to be stored.

use chrono::{DateTime, Utc};
use domain::{EndpointId, WebhookDeliveryId};
use telemetry::TraceContext;

use crate::domain::WebhookEvent;
use crate::sender::{EagerSend, ReadyToSend, Reservation};
use crate::store::{ClaimedDelivery, Lease, NewDelivery, Outcome, Subscriber, Success};

/// A delivery that was sent before it is stored.
#[derive(Clone)]
pub(super) struct Sent {
    pub delivery: WebhookDeliveryId,
    pub endpoint: EndpointId,
    pub token: i64,
    pub at: DateTime<Utc>,
    /// None if it is still being sent.
    pub outcome: Option<Outcome>,
}

impl Sent {
    pub(super) fn of(send: &EagerSend) -> Self {
        let outcome = send.outcome().cloned();
        let EagerSend { lease: Lease { delivery, token, .. }, endpoint, began_at: at, .. } = *send;
        Self { delivery, endpoint, token, at, outcome }
    }

    /// None if it needs another attempt, or is still being sent.
    pub(super) fn success(&self) -> Option<Success> {
        self.outcome.as_ref().and_then(Outcome::success)
    }
}

/// How far a delivery is before it is stored.
pub(super) enum Lead<'a> {
    /// A claim will find it.
    None,
    /// It may be sent as soon as it is committed.
    Reserved(Reservation),
    /// Before it is stored, and perhaps it succeeded.
    Sent(&'a Sent, Option<Success>),
}

/// How a new delivery leaves: before it is stored, as soon as it is stored, or by a claim.
pub(crate) const WAYS: [&str; 3] = ["eager", "express", "claim"];

pub(super) struct Planned<'a> {
    pub id: WebhookDeliveryId,
    pub event: &'a WebhookEvent,
    trace: Option<&'a TraceContext>,
    pub subscriber: &'a Subscriber,
    lead: Lead<'a>,
}

impl<'a> Planned<'a> {
    pub(super) fn new(
        id: WebhookDeliveryId,
        (event, trace): (&'a WebhookEvent, Option<&'a TraceContext>),
        subscriber: &'a Subscriber,
        lead: Lead<'a>,
    ) -> Self {
        let id = if let Lead::Sent(sent, _) = &lead { sent.delivery } else { id };
        Self { id, event, trace, subscriber, lead }
    }

    pub(super) fn way(&self) -> &'static str {
        let [eager, express, claim] = WAYS;
        match self.lead {
            Lead::Sent(..) => eager,
            Lead::Reserved(_) => express,
            Lead::None => claim,
        }
    }

    pub(super) fn delivery(&self, now: DateTime<Utc>) -> NewDelivery<'_> {
        let (at, lease_token) = match &self.lead {
            Lead::None => (now, None),
            Lead::Reserved(Reservation { token, .. }) => (now, Some(*token)),
            Lead::Sent(Sent { at, token, .. }, _) => (*at, Some(*token)),
        };
        let success = if let Lead::Sent(_, success) = self.lead { success } else { None };
        NewDelivery {
            id: self.id,
            event: self.event,
            endpoint: self.subscriber.endpoint,
            at,
            lease_token,
            success,
        }
    }

    /// None if it is not to be sent now.
    pub(super) fn into_ready(self) -> Option<ReadyToSend> {
        match self.lead {
            Lead::Reserved(reservation) => {
                Some(to_send(self.id, (self.event, self.trace), self.subscriber, reservation))
            }
            Lead::None | Lead::Sent(..) => None,
        }
    }
}

/// A new delivery as a claim would return it.
pub(super) fn to_send(
    id: WebhookDeliveryId,
    (event, trace): (&WebhookEvent, Option<&TraceContext>),
    subscriber: &Subscriber,
    Reservation { guard, token, .. }: Reservation,
) -> ReadyToSend {
    let claimed = ClaimedDelivery {
        id,
        business_id: event.business_id,
        endpoint_id: subscriber.endpoint,
        event_id: event.id,
        kind: event.kind,
        mode: event.mode,
        order_id: event.position.map(|position| position.order_id),
        queue_order: event.position.map(|position| position.order_id),
        token,
        number: 1,
        number_in_schedule: 1,
        taken_over: false,
        is_wanted: true,
        max_per_second: None,
        url: subscriber.url.clone(),
        secrets: subscriber.secrets.clone(),
        body: event.body.clone(),
        occurred_at: event.occurred_at,
        trace: trace.cloned(),
    };
    (claimed, guard)
}
