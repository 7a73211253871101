//! One transaction for many events. It locks in this order, each sorted: the events' places in the inbox, the streams of
//! orders that are known, those of new ones.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Clock, Entropy, EventId, EventKind, OrderId, WebhookDeliveryId};
use events::Body;
use futures_util::try_join;
use postgres::{Apply, StoreError};

use super::{Handed, Note, Refused, What};
use crate::domain::{Incoming, Plan, Source, Subject, WebhookEvent, plan};
use crate::sender::{Express, Reservation, Taken};
use crate::store::{self, Claimed, NewDelivery, OrderPlace, Standing, Stream, Subscriber};
use telemetry::TraceContext;

const CONSUMER: &str = "webhooks";

pub(super) struct AcceptBatch {
    pub clock: Clock,
    pub entropy: Entropy,
    pub express: Express,
}

impl Apply for AcceptBatch {
    type Job = Incoming;
    type Outcome = Result<Handed, Refused>;

    async fn apply(
        &self,
        conn: &mut AsyncPgConnection,
        jobs: &[Incoming],
    ) -> Result<Vec<Result<Handed, Refused>>, StoreError> {
        let now = self.clock.now();
        let ids: Vec<EventId> = jobs.iter().map(|job| job.envelope.id).collect();
        let subjects: BTreeSet<Subject> = jobs.iter().filter_map(|job| Subject::of(&job.envelope)).collect();
        // Sent together, so that the server is waited for once.
        let (mut unseen, mut streams, mut subscribers) = try_join!(
            outbox::first_times(conn, CONSUMER, &ids, now),
            store::lock_streams(conn, jobs.iter().filter_map(order_of)),
            store::subscribers(conn, &subjects),
        )?;
        // One that is in the batch twice counts once.
        let fresh: Vec<_> = jobs.iter().filter(|job| unseen.remove(&job.envelope.id)).collect();
        store::forget_erasures(conn, &begun_anew(&fresh, &mut streams)).await?;
        let fresh: Vec<Cow<'_, Incoming>> =
            fresh.into_iter().map(|job| without_what_was_erased(job, &streams)).collect();
        let mut changes = put_in_order(conn, &fresh, &streams).await?;
        let due = due(conn, &changes.due).await?;
        // Some have waited since before this batch.
        let of_due = due.iter().filter_map(|event| Subject::of(&event.envelope));
        let unasked = of_due.filter(|subject| !subjects.contains(subject)).collect();
        subscribers.extend(store::subscribers(conn, &unasked).await?);
        let told = told(&due, &subscribers)?;
        let (mut handed, ()) = try_join!(self.hand_out(conn, &told, now), changes.write(conn, now))?;
        handed.notes = std::mem::take(&mut changes.notes);
        let outcome = |id| match changes.refused.get(id) {
            Some(refused) => Err(*refused),
            None => Ok(std::mem::take(&mut handed)),
        };
        Ok(ids.iter().map(outcome).collect())
    }
}

/// Orders that were erased before they were placed: a retry took them over, and they are complete again. Of an order that
/// was placed, even an erasure that overtakes the first event is later than that.
fn begun_anew(fresh: &[&Incoming], streams: &mut BTreeMap<OrderId, Stream>) -> Vec<(OrderId, BusinessId)> {
    let mut anew = Vec::new();
    for Incoming { envelope, .. } in fresh {
        let Body::Order(event) = &envelope.body else { continue };
        let Some(stream) = streams.get_mut(&event.order.id) else { continue };
        let is_first = event.event == EventKind::OrderCreated && stream.business_id == envelope.business_id;
        if is_first && stream.erased_at.is_some_and(|at| at < envelope.recorded_at()) {
            stream.erased_at = None;
            anew.push((event.order.id, stream.business_id));
        }
    }
    anew
}

/// What was on its way while its order was erased.
fn without_what_was_erased<'a>(
    incoming: &'a Incoming,
    streams: &BTreeMap<OrderId, Stream>,
) -> Cow<'a, Incoming> {
    let stream = order_of(incoming).and_then(|order| streams.get(&order));
    match stream.and_then(|stream| stream.erased_at) {
        Some(_) => Cow::Owned(incoming.clone().without_personal_data()),
        None => Cow::Borrowed(incoming),
    }
}

fn order_of(incoming: &Incoming) -> Option<OrderId> {
    match &incoming.envelope.body {
        Body::Order(event) => Some(event.order.id),
        _ => None,
    }
}

/// An event of a business with endpoints, and those that want it, if any.
type Told<'a> = (WebhookEvent, Option<&'a TraceContext>, &'a [Subscriber]);

fn told<'a>(
    due: &'a [Cow<'_, Incoming>],
    subscribers: &'a HashMap<Subject, Vec<Subscriber>>,
) -> Result<Vec<Told<'a>>, StoreError> {
    let mut told = Vec::new();
    for incoming in due {
        let wanted = Subject::of(&incoming.envelope).and_then(|subject| subscribers.get(&subject));
        let Some(to) = wanted else { continue };
        if let Some(event) = WebhookEvent::of(&incoming.envelope).map_err(unreadable)? {
            told.push((event, incoming.trace.as_ref(), to.as_slice()));
        }
    }
    Ok(told)
}

impl AcceptBatch {
    /// One delivery for each event and endpoint that subscribed to it.
    async fn hand_out(
        &self,
        conn: &AsyncPgConnection,
        told: &[Told<'_>],
        now: DateTime<Utc>,
    ) -> Result<Handed, StoreError> {
        let events: Vec<_> = told.iter().map(|(event, trace, _)| (event, *trace)).collect();
        let pairs = told.iter().flat_map(|(event, trace, to)| to.iter().map(move |to| (event, *trace, to)));
        let ids = self.rising_ids(told.iter().map(|(.., to)| to.len()).sum());
        let planned =
            ids.into_iter().zip(pairs).map(|(id, (event, trace, to))| self.plan(id, event, trace, to));
        let planned: Vec<Planned<'_>> = planned.collect();
        let deliveries: Vec<_> = planned.iter().map(Planned::delivery).collect();
        let handed_out = store::hand_out(conn, &events, &deliveries, now).await?;
        let stands = |planned: &Planned<'_>, standing| handed_out.get(&planned.id) == Some(&standing);
        let due = planned.iter().filter(|planned| planned.subscriber.open && stands(planned, Standing::Due));
        let due =
            due.map(|planned| (planned.subscriber.endpoint, planned.event.business_id, planned.event.mode));
        let due = due.collect();
        let taken = planned.into_iter().filter(|planned| stands(planned, Standing::Leased));
        Ok(Handed { taken: taken.filter_map(Planned::into_taken).collect(), due, notes: Vec::new() })
    }

    /// Those of one moment are in no order by themselves; the log, and what is sent again, go by them.
    fn rising_ids(&self, count: usize) -> Vec<WebhookDeliveryId> {
        let generate = || WebhookDeliveryId::generate(&self.clock, &self.entropy);
        let mut ids: Vec<_> = std::iter::repeat_with(generate).take(count).collect();
        ids.sort_unstable();
        ids
    }

    fn plan<'a>(
        &self,
        id: WebhookDeliveryId,
        event: &'a WebhookEvent,
        trace: Option<&'a TraceContext>,
        subscriber: &'a Subscriber,
    ) -> Planned<'a> {
        let reservation = self.express.reserve(id, (event.business_id, event.mode), subscriber);
        Planned { id, event, trace, subscriber, reservation }
    }
}

/// A delivery that is about to be stored.
struct Planned<'a> {
    id: WebhookDeliveryId,
    event: &'a WebhookEvent,
    trace: Option<&'a TraceContext>,
    subscriber: &'a Subscriber,
    /// Set when it may be sent as soon as it is stored.
    reservation: Option<Reservation>,
}

impl Planned<'_> {
    fn delivery(&self) -> NewDelivery<'_> {
        let lease = self.reservation.as_ref().map(|reservation| (reservation.token, reservation.until));
        NewDelivery { id: self.id, event: self.event, endpoint: self.subscriber.endpoint, lease }
    }

    /// As a sender would read it from the tables.
    fn into_taken(self) -> Option<Taken> {
        let Reservation { hold, token, .. } = self.reservation?;
        let (event, subscriber) = (self.event, self.subscriber);
        let claimed = Claimed {
            id: self.id,
            business_id: event.business_id,
            endpoint_id: subscriber.endpoint,
            event_id: event.id,
            kind: event.kind,
            mode: event.mode,
            order_id: event.place.map(|place| place.order_id),
            order_in_turn: event.place.map(|place| place.order_id),
            token,
            number: 1,
            number_in_schedule: 1,
            taken_over: false,
            wanted: true,
            max_per_second: None,
            url: subscriber.url.clone(),
            secrets: subscriber.secrets.clone(),
            body: event.body.clone(),
            occurred_at: event.occurred_at,
            trace: self.trace.cloned(),
        };
        Some((claimed, hold))
    }
}

async fn put_in_order<'a>(
    conn: &AsyncPgConnection,
    fresh: &'a [Cow<'_, Incoming>],
    streams: &BTreeMap<OrderId, Stream>,
) -> Result<Changes<'a>, StoreError> {
    let mut changes = Changes::default();
    let mut arrivals: BTreeMap<OrderId, Vec<Arrival<'a>>> = BTreeMap::new();
    for incoming in fresh.iter().map(Cow::as_ref) {
        match &incoming.envelope.body {
            Body::Order(event) => {
                arrivals
                    .entry(event.order.id)
                    .or_default()
                    .push(Arrival { incoming, sequence: event.sequence });
            }
            _ => changes.due.push(Due::Arrived(incoming)),
        }
    }
    let owners: Vec<_> = streams.iter().map(|(order, stream)| (*order, stream.business_id)).collect();
    let mut parked = store::parked_places(conn, &owners).await?;
    for (order, arrivals) in arrivals {
        let places = parked.remove(&order).unwrap_or_default();
        changes.add(order, streams.get(&order).copied(), &places, arrivals);
    }
    Ok(changes)
}

/// The events, an order's in their sequence. Those that were parked are so no more.
async fn due<'a>(
    conn: &mut AsyncPgConnection,
    due: &[Due<'a>],
) -> Result<Vec<Cow<'a, Incoming>>, StoreError> {
    let places = due.iter().filter_map(|due| match due {
        Due::Parked(place) => Some(*place),
        Due::Arrived(_) => None,
    });
    let mut taken = store::take_parked(conn, &Vec::from_iter(places)).await?;
    let event = |due: &Due<'a>| match due {
        Due::Arrived(incoming) => Ok(Cow::Borrowed(*incoming)),
        Due::Parked(OrderPlace { order, sequence, .. }) => {
            let event = taken.remove(&(*order, *sequence));
            event.map(Cow::Owned).ok_or_else(|| unreadable("a parked event is gone"))
        }
    };
    due.iter().map(event).collect()
}

/// An order's event that has just come.
struct Arrival<'a> {
    incoming: &'a Incoming,
    sequence: i64,
}

enum Due<'a> {
    Arrived(&'a Incoming),
    Parked(OrderPlace),
}

/// What a batch does to the orders' streams.
#[derive(Default)]
struct Changes<'a> {
    begun: Vec<(OrderId, Stream)>,
    advanced: Vec<(OrderId, Stream)>,
    parked: Vec<(OrderPlace, &'a Incoming)>,
    due: Vec<Due<'a>>,
    refused: HashMap<EventId, Refused>,
    notes: Vec<Note>,
}

impl<'a> Changes<'a> {
    fn add(
        &mut self,
        order: OrderId,
        stream: Option<Stream>,
        parked: &BTreeSet<i64>,
        arrivals: Vec<Arrival<'a>>,
    ) {
        let Some(first) = arrivals.first() else { return };
        let business = first.incoming.envelope.business_id;
        let new = Stream { business_id: business, next_sequence: 1, erased_at: None };
        let from = stream.unwrap_or(new);
        let business = from.business_id;
        let is_ours = |arrival: &Arrival<'_>| arrival.incoming.envelope.business_id == business;
        let (ours, foreign): (Vec<_>, Vec<_>) = arrivals.into_iter().partition(is_ours);
        self.refuse(foreign.iter(), Refused::ForeignOrder);
        let sequences: Vec<i64> = ours.iter().map(|arrival| arrival.sequence).collect();
        let plan = plan(from.next_sequence, parked, &sequences);
        self.notes.extend(notes(order, &plan, &ours));
        let to = Stream { next_sequence: plan.next_sequence, ..from };
        match stream {
            None => self.begun.push((order, to)),
            Some(from) if from != to => self.advanced.push((order, to)),
            Some(_) => {}
        }
        let place = |sequence| OrderPlace { order, business, sequence };
        self.due.extend(plan.hand_on.iter().map(|source| match source {
            Source::Arrived(index) => Due::Arrived(ours[*index].incoming),
            Source::Parked(sequence) => Due::Parked(place(*sequence)),
        }));
        let early = plan.park.iter().map(|index| &ours[*index]);
        self.parked.extend(early.map(|early| (place(early.sequence), early.incoming)));
        self.refuse(plan.too_many.iter().map(|index| &ours[*index]), Refused::TooManyParked);
    }

    fn refuse<'b>(&mut self, arrivals: impl Iterator<Item = &'b Arrival<'a>>, why: Refused)
    where
        'a: 'b,
    {
        self.refused.extend(arrivals.map(|arrival| (arrival.incoming.envelope.id, why)));
    }

    async fn write(&self, conn: &AsyncPgConnection, now: DateTime<Utc>) -> Result<(), StoreError> {
        try_join!(store::begin_streams(conn, &self.begun), store::advance_streams(conn, &self.advanced))?;
        store::park(conn, &self.parked, now).await?;
        if self.refused.is_empty() {
            return Ok(());
        }
        outbox::forget(conn, CONSUMER, &Vec::from_iter(self.refused.keys().copied())).await
    }
}

/// What did not simply pass, for the log.
fn notes<'a>(
    order: OrderId,
    plan: &'a Plan,
    arrivals: &'a [Arrival<'_>],
) -> impl Iterator<Item = Note> + use<'a> {
    let of = move |indices: &'a [usize], what| {
        indices.iter().map(move |index| {
            let Arrival { incoming, sequence } = &arrivals[*index];
            Note { order, sequence: *sequence, event: incoming.envelope.id, what }
        })
    };
    let (old, contested) = (of(&plan.old, What::Old), of(&plan.contested, What::Contested));
    old.chain(of(&plan.park, What::Parked)).chain(contested)
}

fn unreadable(error: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(format!("an event cannot be handed on: {error}"))
}
