//! Decides which events are sent before they are stored, and starts to send them. A transaction for each event costs more
//! than its webhook, so at a quiet hour the event is stored afterwards, together with others and with the outcome.
//!
//! Only for the next event of its order, and only if no earlier delivery of the order is unfinished. An event that may
//! be a repetition never goes this way.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use diesel_async::AsyncPgConnection;
use domain::{Mode, OrderId, WebhookDeliveryId};
use events::Body;
use futures_util::try_join;
use postgres::{Apply, Batcher, BatcherOptions, StoreError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::GATHER;
use super::batch::unreadable;
use super::planned::{Sent, to_send};
use crate::domain::{Incoming, Subject, WebhookEvent};
use crate::sender::EagerSend;
use crate::state::State;
use crate::store::{self, Stream, Subscriber};

/// Events of one mode that were sent and are not stored: they are sent again if the process dies. Twice as many as one
/// transaction gathers: with fewer, each would wait for the end of its delay.
const UNSTORED_MAX: usize = 2 * GATHER.enough;
/// For responses. The rest of the places is for events that are being stored, so that endpoints that respond slowly make
/// nobody wait.
const AWAITED_MAX: usize = UNSTORED_MAX / 4 * 3;
/// How long an event waits until earlier ones are stored. To store it first would cost more than the wait.
const UNSTORED_WAIT: Duration = Duration::from_millis(50);
/// How long an event's message waits for the responses. After that, the deliveries are stored as leased.
const RESPONSE_WAIT: Duration = Duration::from_millis(100);

pub(super) struct Eager {
    state: Arc<State>,
    lookups: Batcher<Lookup, Option<Vec<Subscriber>>>,
    unstored: Arc<Semaphore>,
    /// For events whose responses are awaited.
    awaited: Arc<Semaphore>,
}

/// The webhooks of an event that is not stored yet.
pub(super) struct Started {
    pub sends: Vec<EagerSend>,
    _unstored: OwnedSemaphorePermit,
    awaited: Option<OwnedSemaphorePermit>,
}

impl Started {
    /// Waits for the responses, but not long. Returns what to store.
    pub(super) async fn responses(&mut self) -> Vec<Sent> {
        let deadline = Instant::now() + RESPONSE_WAIT;
        for send in &mut self.sends {
            send.wait_until(deadline).await;
        }
        self.awaited = None;
        self.sends.iter().map(Sent::of).collect()
    }
}

impl Eager {
    pub(super) fn new(state: &Arc<State>, mode: Mode) -> Self {
        let name = match mode {
            Mode::Live => "webhook-lookups",
            Mode::Test => "webhook-test-lookups",
        };
        let options = BatcherOptions { lanes: 2, ..BatcherOptions::default() };
        let lookups = Batcher::start(name, state.unit.database.clone(), options, LookUp);
        let [unstored, awaited] = [UNSTORED_MAX, AWAITED_MAX].map(|max| Arc::new(Semaphore::new(max)));
        Self { state: state.clone(), lookups, unstored, awaited }
    }

    /// Starts to send the event to all its subscribers. None if one of them cannot get it now: then it is stored first.
    pub(super) async fn start(&self, incoming: &Incoming) -> Result<Option<Started>, StoreError> {
        let Some(lookup) = Lookup::of(incoming) else { return Ok(None) };
        if self.awaited.available_permits() == 0 {
            return Ok(None);
        }
        let unstored = timeout(UNSTORED_WAIT, self.unstored.clone().acquire_owned()).await;
        let Ok(Ok(unstored)) = unstored else { return Ok(None) };
        let Some(subscribers) = self.lookups.submit(lookup).await? else { return Ok(None) };
        let Some(event) = WebhookEvent::of(&incoming.envelope).map_err(unreadable)? else {
            return Ok(None);
        };
        let Ok(awaited) = self.awaited.clone().try_acquire_owned() else { return Ok(None) };
        let State { sender, unit, .. } = &*self.state;
        let mut reserved = Vec::with_capacity(subscribers.len());
        for subscriber in &subscribers {
            let delivery = WebhookDeliveryId::generate(&unit.clock, &unit.entropy);
            let reservation = sender.reserve_eagerly(delivery, (event.business_id, event.mode), subscriber);
            let Some(reservation) = reservation else { return Ok(None) };
            reserved.push((delivery, subscriber, reservation));
        }
        let start = |(delivery, subscriber, reservation)| {
            let trace = incoming.trace.as_ref();
            sender.send_eagerly(to_send(delivery, (&event, trace), subscriber, reservation))
        };
        let sends = reserved.into_iter().map(start).collect();
        Ok(Some(Started { sends, _unstored: unstored, awaited: Some(awaited) }))
    }
}

/// A question to the database: whose turn is it, and who gets it?
struct Lookup {
    order: OrderId,
    sequence: i64,
    subject: Subject,
}

impl Lookup {
    fn of(Incoming { envelope, .. }: &Incoming) -> Option<Self> {
        let Body::Order(event) = &envelope.body else { return None };
        Some(Self { order: event.order.id, sequence: event.sequence, subject: Subject::of(envelope)? })
    }

    /// Whether the event is the next of its order, and its order is not erased.
    fn is_next(&self, stream: Option<&Stream>) -> bool {
        match stream {
            None => self.sequence == 1,
            Some(stream) => stream.next_sequence == self.sequence && stream.erased_at.is_none(),
        }
    }
}

struct LookUp;

impl Apply for LookUp {
    type Job = Lookup;
    /// The subscribers of an event that may be sent now.
    type Outcome = Option<Vec<Subscriber>>;

    async fn apply(
        &self,
        conn: &AsyncPgConnection,
        lookups: &[Lookup],
    ) -> Result<Vec<Option<Vec<Subscriber>>>, StoreError> {
        let subjects: BTreeSet<Subject> = lookups.iter().map(|lookup| lookup.subject).collect();
        let order = |lookup: &Lookup| (lookup.order, lookup.subject.business_id);
        let orders = Vec::from_iter(lookups.iter().map(order));
        let later = Vec::from_iter(lookups.iter().filter(|lookup| lookup.sequence > 1).map(order));
        // Pipelined: one round trip.
        let (streams, subscribers, with_queues) = try_join!(
            store::find_streams(conn, &orders),
            store::subscribers(conn, &subjects),
            store::orders_with_queues(conn, &later),
        )?;
        let answer = |lookup: &Lookup| {
            let may_go = lookup.is_next(streams.get(&lookup.order)) && !with_queues.contains(&lookup.order);
            may_go.then(|| subscribers.get(&lookup.subject).cloned().unwrap_or_default())
        };
        Ok(lookups.iter().map(answer).collect())
    }

    fn is_single_statement(&self, _: &[Lookup]) -> bool {
        true
    }
}
