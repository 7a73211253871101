//! One transaction for many events. To avoid deadlocks it locks, each sorted: the inbox rows of events without an order,
//! the streams of known orders, the streams of new orders. An event of an order needs no inbox row: its sequence shows
//! whether it was released before, and the held-back events have their ids.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, EndpointId, EventId, EventKind, OrderId, WebhookDeliveryId};
use events::Body;
use futures_util::try_join;
use postgres::{Apply, StoreError};
use telemetry::TraceContext;

use super::planned::{Lead, Planned, Sent};
use super::{Accepted, Anomaly, AnomalyKind, EventRejected};
use crate::domain::{Incoming, Plan, Source, Subject, WebhookEvent, plan};
use crate::state::State;
use crate::store::{
    self, InitialState, Inserted, LockedQueues, OrderPosition, Outcome, Recorded, Stream, Subscriber,
};

const CONSUMER: &str = "webhooks";

pub(super) struct AcceptBatch(pub Arc<State>);

/// The deliveries that were sent before they are stored.
type SentOf<'a> = HashMap<(EventId, EndpointId), &'a Sent>;

/// An event to store.
#[derive(Clone)]
pub(super) struct AcceptJob {
    pub incoming: Incoming,
    /// The deliveries that were sent before.
    pub sent: Vec<Sent>,
}

impl AcceptJob {
    /// Whether the outcomes of all sent deliveries are known.
    pub(super) fn is_finished(&self) -> bool {
        self.sent.iter().all(|sent| sent.outcome.is_some())
    }

    fn sent(&self) -> impl Iterator<Item = ((EventId, EndpointId), &Sent)> {
        self.sent.iter().map(|sent| ((self.incoming.envelope.id, sent.endpoint), sent))
    }
}

impl Apply for AcceptBatch {
    type Job = AcceptJob;
    type Outcome = Result<Accepted, EventRejected>;

    async fn apply(
        &self,
        conn: &AsyncPgConnection,
        accepting: &[AcceptJob],
    ) -> Result<Vec<Result<Accepted, EventRejected>>, StoreError> {
        let now = self.0.unit.clock.now();
        let jobs = Vec::from_iter(accepting.iter().map(|job| &job.incoming));
        let without_order: Vec<EventId> =
            jobs.iter().filter(|job| order_of(job).is_none()).map(|job| job.envelope.id).collect();
        let subjects: BTreeSet<Subject> = jobs.iter().filter_map(|job| Subject::of(&job.envelope)).collect();
        // Pipelined: one round trip.
        let (mut unseen, mut locked, mut subscribers) = try_join!(
            outbox::first_times(conn, CONSUMER, &without_order, now),
            LockedQueues::lock(conn, jobs.iter().copied().filter_map(order_of)),
            store::subscribers(conn, &subjects),
        )?;
        unseen.extend(jobs.iter().filter(|job| order_of(job).is_some()).map(|job| job.envelope.id));
        // Removing the id also drops duplicates within the batch.
        let fresh: Vec<_> = jobs.iter().copied().filter(|job| unseen.remove(&job.envelope.id)).collect();
        store::clear_erasures(conn, &placed_again(&fresh, locked.streams_mut())).await?;
        let streams = locked.streams();
        let fresh: Vec<Cow<'_, Incoming>> =
            fresh.into_iter().map(|job| without_erased_data(job, streams)).collect();
        let mut changes = put_in_order(conn, &fresh, streams).await?;
        let released = take_released(conn, &changes.released).await?;
        // Held-back events of earlier batches have other subjects.
        let subjects_of_released = released.iter().filter_map(|event| Subject::of(&event.envelope));
        let missing = subjects_of_released.filter(|subject| !subjects.contains(subject)).collect();
        subscribers.extend(store::subscribers(conn, &missing).await?);
        let addressed = address(&released, &subscribers)?;
        let sent = accepting.iter().flat_map(AcceptJob::sent).collect();
        let ((mut accepted, mut inserted), ()) =
            try_join!(self.fan_out(conn, &addressed, (&sent, streams), now), changes.write(conn, now))?;
        inserted.streams = streams.clone();
        inserted.streams.extend(changes.begun.iter().copied());
        let outcomes = Vec::from_iter(sent.values().filter_map(|sent| sent.outcome.clone()));
        accepted.recorded = self.record(conn, (&outcomes, &inserted), now).await?;
        accepted.outcomes = outcomes;
        accepted.anomalies = std::mem::take(&mut changes.anomalies);
        // The batch has one result. The first accepted event carries it; the others get an empty one.
        let outcome = |job: &&Incoming| match changes.rejected.get(&job.envelope.id) {
            Some(rejected) => Err(*rejected),
            None => Ok(std::mem::take(&mut accepted)),
        };
        Ok(jobs.iter().map(outcome).collect())
    }
}

/// Orders that were erased before they were placed, and that a retry placed again with complete data: their erasure is
/// older than their first event. The erasure of a placed order is newer than its first event, even if its message arrives
/// first.
fn placed_again(fresh: &[&Incoming], streams: &mut BTreeMap<OrderId, Stream>) -> Vec<(OrderId, BusinessId)> {
    let mut again = Vec::new();
    for Incoming { envelope, .. } in fresh {
        let Body::Order(event) = &envelope.body else { continue };
        let Some(stream) = streams.get_mut(&event.order.id) else { continue };
        let is_first = event.event == EventKind::OrderCreated && stream.business_id == envelope.business_id;
        if is_first && stream.erased_at.is_some_and(|at| at < envelope.recorded_at()) {
            stream.erased_at = None;
            again.push((event.order.id, stream.business_id));
        }
    }
    again
}

/// Erases events that arrive after the erasure of their order.
fn without_erased_data<'a>(incoming: &'a Incoming, streams: &BTreeMap<OrderId, Stream>) -> Cow<'a, Incoming> {
    let stream = order_of(incoming).and_then(|order| streams.get(&order));
    match stream.and_then(|stream| stream.erased_at) {
        Some(_) => Cow::Owned(incoming.clone().without_personal_data()),
        None => Cow::Borrowed(incoming),
    }
}

/// Responses to events of erased orders are not stored, which [`store::record`] ensures for deliveries that it writes.
fn is_erased(event: &WebhookEvent, streams: &BTreeMap<OrderId, Stream>) -> bool {
    let stream = event.position.and_then(|position| streams.get(&position.order_id));
    stream.is_some_and(|stream| stream.erased_at.is_some())
}

pub(super) fn order_of(incoming: &Incoming) -> Option<OrderId> {
    match &incoming.envelope.body {
        Body::Order(event) => Some(event.order.id),
        _ => None,
    }
}

/// An event with its trace and its subscribers, which may be none.
type Addressed<'a> = (WebhookEvent, Option<&'a TraceContext>, &'a [Subscriber]);

fn address<'a>(
    released: &'a [Cow<'_, Incoming>],
    subscribers: &'a HashMap<Subject, Vec<Subscriber>>,
) -> Result<Vec<Addressed<'a>>, StoreError> {
    let mut addressed = Vec::new();
    for incoming in released {
        let wanted = Subject::of(&incoming.envelope).and_then(|subject| subscribers.get(&subject));
        let Some(to) = wanted else { continue };
        if let Some(event) = WebhookEvent::of(&incoming.envelope).map_err(unreadable)? {
            addressed.push((event, incoming.trace.as_ref(), to.as_slice()));
        }
    }
    Ok(addressed)
}

impl AcceptBatch {
    /// Creates one delivery for each event and subscriber.
    async fn fan_out(
        &self,
        conn: &AsyncPgConnection,
        addressed: &[Addressed<'_>],
        (sent, streams): (&SentOf<'_>, &BTreeMap<OrderId, Stream>),
        now: DateTime<Utc>,
    ) -> Result<(Accepted, Inserted), StoreError> {
        let events: Vec<_> = addressed.iter().map(|(event, trace, _)| (event, *trace)).collect();
        let pairs =
            addressed.iter().flat_map(|(event, trace, to)| to.iter().map(move |to| (event, *trace, to)));
        let ids = self.ascending_ids(addressed.iter().map(|(.., to)| to.len()).sum());
        let planned = ids.into_iter().zip(pairs).map(|(id, (event, trace, subscriber))| {
            let lead = match sent.get(&(event.id, subscriber.endpoint)) {
                Some(sent) => Lead::Sent(sent, sent.success().filter(|_| !is_erased(event, streams))),
                None => {
                    let key = (event.business_id, event.mode);
                    self.0.sender.reserve(id, key, subscriber).map_or(Lead::None, Lead::Reserved)
                }
            };
            Planned::new(id, (event, trace), subscriber, lead)
        });
        let planned: Vec<Planned<'_>> = planned.collect();
        let ways = planned.iter().map(Planned::way).collect();
        let deliveries: Vec<_> = planned.iter().map(|planned| planned.delivery(now)).collect();
        let initial = store::fan_out(conn, &events, &deliveries).await?;
        let is = |planned: &Planned<'_>, state| initial.get(&planned.id) == Some(&state);
        let due = planned.iter().filter(|planned| planned.subscriber.open && is(planned, InitialState::Due));
        let due =
            due.map(|planned| ((planned.subscriber.endpoint, planned.event.business_id), planned.event.mode));
        let due = due.collect();
        let succeeded = planned.iter().filter(|planned| is(planned, InitialState::Succeeded));
        let succeeded = succeeded.map(|planned| planned.id).collect();
        let has_waiting = planned.iter().any(|planned| is(planned, InitialState::Waiting));
        let ready = planned.into_iter().filter(|planned| is(planned, InitialState::Leased));
        let ready = ready.filter_map(Planned::into_ready).collect();
        Ok((
            Accepted { ways, ready, due, has_waiting, ..Accepted::default() },
            Inserted { succeeded, has_waiting, ..Inserted::default() },
        ))
    }

    /// Records the outcomes of deliveries that this transaction has stored. The others belong to events that another
    /// process has accepted meanwhile.
    async fn record(
        &self,
        conn: &AsyncPgConnection,
        (outcomes, inserted): (&[Outcome], &Inserted),
        now: DateTime<Utc>,
    ) -> Result<Vec<Recorded>, StoreError> {
        if outcomes.is_empty() {
            return Ok(Vec::new());
        }
        let unit = &self.0.unit;
        let (recorded, disabled) =
            store::record(conn, (outcomes, inserted), &unit.clock, || unit.entropy.jitter()).await?;
        store::announce(conn, unit, disabled, now).await?;
        Ok(recorded)
    }

    /// Ids of the same millisecond are random. The log and recoveries sort by id, so ids must follow the events.
    fn ascending_ids(&self, count: usize) -> Vec<WebhookDeliveryId> {
        let generate = || WebhookDeliveryId::generate(&self.0.unit.clock, &self.0.unit.entropy);
        let mut ids: Vec<_> = std::iter::repeat_with(generate).take(count).collect();
        ids.sort_unstable();
        ids
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
            _ => changes.released.push(Released::Arrived(incoming)),
        }
    }
    let owners: Vec<_> = streams.iter().map(|(order, stream)| (*order, stream.business_id)).collect();
    let mut held_back = store::held_back_events(conn, &owners).await?;
    for (order, mut arrivals) in arrivals {
        let held_back = held_back.remove(&order).unwrap_or_default();
        // The broker has delivered a held-back event again.
        arrivals.retain(|arrival| held_back.get(&arrival.sequence) != Some(&arrival.incoming.envelope.id));
        let sequences = held_back.into_keys().collect();
        changes.add(order, streams.get(&order).copied(), &sequences, arrivals);
    }
    Ok(changes)
}

/// The events whose turn has come. Held-back ones are removed from their table.
async fn take_released<'a>(
    conn: &AsyncPgConnection,
    released: &[Released<'a>],
) -> Result<Vec<Cow<'a, Incoming>>, StoreError> {
    let positions = released.iter().filter_map(|released| match released {
        Released::HeldBack(position) => Some(*position),
        Released::Arrived(_) => None,
    });
    let mut taken = store::take_held_back(conn, &Vec::from_iter(positions)).await?;
    let event = |released: &Released<'a>| match released {
        Released::Arrived(incoming) => Ok(Cow::Borrowed(*incoming)),
        Released::HeldBack(OrderPosition { order, sequence, .. }) => {
            let event = taken.remove(&(*order, *sequence));
            event.map(Cow::Owned).ok_or_else(|| unreadable("a held-back event is gone"))
        }
    };
    released.iter().map(event).collect()
}

/// A new event of an order.
struct Arrival<'a> {
    incoming: &'a Incoming,
    sequence: i64,
}

enum Released<'a> {
    Arrived(&'a Incoming),
    HeldBack(OrderPosition),
}

/// The changes that a batch makes to the orders' streams.
#[derive(Default)]
struct Changes<'a> {
    begun: Vec<(OrderId, Stream)>,
    advanced: Vec<(OrderId, Stream)>,
    held_back: Vec<(OrderPosition, &'a Incoming)>,
    released: Vec<Released<'a>>,
    rejected: HashMap<EventId, EventRejected>,
    anomalies: Vec<Anomaly>,
}

impl<'a> Changes<'a> {
    fn add(
        &mut self,
        order: OrderId,
        stream: Option<Stream>,
        held_back: &BTreeSet<i64>,
        arrivals: Vec<Arrival<'a>>,
    ) {
        let Some(first) = arrivals.first() else { return };
        let business = first.incoming.envelope.business_id;
        let new = Stream { business_id: business, next_sequence: 1, erased_at: None };
        let from = stream.unwrap_or(new);
        let business = from.business_id;
        let is_ours = |arrival: &Arrival<'_>| arrival.incoming.envelope.business_id == business;
        let (ours, foreign): (Vec<_>, Vec<_>) = arrivals.into_iter().partition(is_ours);
        self.reject(foreign.iter(), EventRejected::ForeignOrder);
        let sequences: Vec<i64> = ours.iter().map(|arrival| arrival.sequence).collect();
        let plan = plan(from.next_sequence, held_back, &sequences);
        self.anomalies.extend(anomalies(order, &plan, &ours));
        let to = Stream { next_sequence: plan.next_sequence, ..from };
        match stream {
            None => self.begun.push((order, to)),
            Some(from) if from != to => self.advanced.push((order, to)),
            Some(_) => {}
        }
        let position = |sequence| OrderPosition { order, business, sequence };
        self.released.extend(plan.release.iter().map(|source| match source {
            Source::Arrived(index) => Released::Arrived(ours[*index].incoming),
            Source::HeldBack(sequence) => Released::HeldBack(position(*sequence)),
        }));
        let early = plan.hold_back.iter().map(|index| &ours[*index]);
        self.held_back.extend(early.map(|early| (position(early.sequence), early.incoming)));
        self.reject(plan.overflow.iter().map(|index| &ours[*index]), EventRejected::TooManyHeldBack);
    }

    fn reject<'b>(&mut self, arrivals: impl Iterator<Item = &'b Arrival<'a>>, reason: EventRejected)
    where
        'a: 'b,
    {
        self.rejected.extend(arrivals.map(|arrival| (arrival.incoming.envelope.id, reason)));
    }

    async fn write(&self, conn: &AsyncPgConnection, now: DateTime<Utc>) -> Result<(), StoreError> {
        try_join!(store::begin_streams(conn, &self.begun), store::advance_streams(conn, &self.advanced))?;
        store::hold_back(conn, &self.held_back, now).await
    }
}

fn anomalies<'a>(
    order: OrderId,
    plan: &'a Plan,
    arrivals: &'a [Arrival<'_>],
) -> impl Iterator<Item = Anomaly> + use<'a> {
    let of = move |indices: &'a [usize], kind| {
        indices.iter().map(move |index| {
            let Arrival { incoming, sequence } = &arrivals[*index];
            Anomaly { order, sequence: *sequence, event: incoming.envelope.id, kind }
        })
    };
    let duplicates = of(&plan.duplicates, AnomalyKind::Duplicate);
    let held_back = of(&plan.hold_back, AnomalyKind::HeldBack);
    duplicates.chain(held_back).chain(of(&plan.conflicting, AnomalyKind::Conflict))
}

pub(super) fn unreadable(error: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(format!("an event cannot be fanned out: {error}"))
}
