//! The outbox of a service, and the way of committed events from the writers to the relay: in memory, so that the relay
//! need not look for them in the table.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use events::{Body, Envelope};
use messaging::Outgoing;
use tokio::sync::{Mutex as AsyncMutex, Notify, mpsc};

use crate::floor::Floor;

/// Each lane publishes one batch at a time. The events of an order use the same lane, which keeps their order.
pub(crate) const LANES: usize = 4;
/// Queued events per lane. Further ones are found in the table.
const LANE_MAX: usize = 1_024;

/// The outbox of a service. [`Outbox::enqueue`] stores events in the caller's transaction. After the commit, the events
/// go to the [`Relay`](crate::Relay) of this process. Clones share it.
#[derive(Clone, Default)]
pub struct Outbox(pub(crate) Arc<Handover>);

/// A committed event, and its row.
pub(crate) struct Committed {
    pub(crate) id: i64,
    pub(crate) message: Outgoing,
}

pub(crate) struct Handover {
    state: Mutex<State>,
    /// The routing keys and rows of events that the broker did not take.
    not_taken: Mutex<Vec<(String, i64)>>,
    lanes: Vec<Lane>,
    /// Wakes the relay.
    missed: Notify,
    /// Where looks at the table begin.
    pub(crate) floor: Floor,
}

/// One lock for all of it: no event is handed over while an older one of this process stays in the table.
#[derive(Default)]
struct State {
    /// False while the relay reads all events from the table: until it runs, and once an event stayed there.
    is_direct: bool,
    /// Whether events stayed in the table since [`Handover::suspend`].
    has_missed: bool,
    /// The rows of the events in memory. Only the lanes publish and delete them.
    held: HashSet<i64>,
}

struct Lane {
    sender: mpsc::Sender<Committed>,
    /// Locked by the relay that serves the lane.
    receiver: AsyncMutex<mpsc::Receiver<Committed>>,
}

impl Default for Handover {
    fn default() -> Self {
        let lane = || {
            let (sender, receiver) = mpsc::channel(LANE_MAX);
            Lane { sender, receiver: AsyncMutex::new(receiver) }
        };
        Self {
            state: Mutex::default(),
            not_taken: Mutex::default(),
            lanes: std::iter::repeat_with(lane).take(LANES).collect(),
            missed: Notify::new(),
            floor: Floor::default(),
        }
    }
}

/// The lane of an event.
pub(crate) fn lane_of(envelope: &Envelope) -> usize {
    let mut hasher = DefaultHasher::new();
    match &envelope.body {
        Body::Order(event) => event.order.id.hash(&mut hasher),
        _ => envelope.business_id.hash(&mut hasher),
    }
    usize::try_from(hasher.finish() % LANES as u64).unwrap_or_default()
}

impl Handover {
    /// Gives committed events to their lanes. Once one stays in the table, so do later ones, until the relay has read it.
    pub(crate) fn hand_over(&self, committed: Vec<(usize, Committed)>) {
        let mut state = self.state();
        for (lane, event) in committed {
            let id = event.id;
            if state.is_direct && self.lanes[lane].sender.try_send(event).is_ok() {
                state.held.insert(id);
            } else {
                self.miss(&mut state);
            }
        }
    }

    pub(crate) fn lane(&self, lane: usize) -> &AsyncMutex<mpsc::Receiver<Committed>> {
        &self.lanes[lane].receiver
    }

    /// The relay will find these events in the table.
    pub(crate) fn leave_in_table(&self, ids: &[i64]) {
        let mut state = self.state();
        state.release(ids);
        self.miss(&mut state);
    }

    /// As [`Handover::leave_in_table`], for events that the broker did not take.
    pub(crate) fn leave_not_taken(&self, events: Vec<(String, i64)>) {
        let ids = Vec::from_iter(events.iter().map(|(_, id)| *id));
        locked(&self.not_taken).extend(events);
        self.leave_in_table(&ids);
    }

    /// The events that the broker did not take since the last call.
    pub(crate) fn take_not_taken(&self) -> Vec<(String, i64)> {
        std::mem::take(&mut locked(&self.not_taken))
    }

    /// These rows are deleted.
    pub(crate) fn release(&self, ids: &[i64]) {
        self.state().release(ids);
    }

    /// The rows that the relay must leave to the lanes.
    pub(crate) fn held_ids(&self) -> Vec<i64> {
        self.state().held.iter().copied().collect()
    }

    pub(crate) fn is_direct(&self) -> bool {
        self.state().is_direct
    }

    /// Begins or resumes the handover, unless an event has stayed in the table since [`Handover::suspend`].
    pub(crate) fn resume(&self) -> bool {
        let mut state = self.state();
        state.is_direct = !state.has_missed;
        state.is_direct
    }

    /// The relay is about to read all events from the table.
    pub(crate) fn suspend(&self) {
        let mut state = self.state();
        state.is_direct = false;
        state.has_missed = false;
    }

    pub(crate) async fn missed(&self) {
        self.missed.notified().await;
    }

    fn miss(&self, state: &mut State) {
        state.is_direct = false;
        state.has_missed = true;
        self.missed.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

impl State {
    fn release(&mut self, ids: &[i64]) {
        for id in ids {
            self.held.remove(id);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{Committed, Handover, LANE_MAX, Outgoing};

    fn committed(id: i64) -> Vec<(usize, Committed)> {
        let message = Outgoing {
            routing_key: "order".into(),
            message_id: id.to_string(),
            body: Vec::new(),
            trace: None,
        };
        vec![(0, Committed { id, message })]
    }

    /// The ids that the lane has got.
    fn received(handover: &Handover) -> Vec<i64> {
        let mut lane = handover.lane(0).try_lock().unwrap();
        std::iter::from_fn(|| lane.try_recv().ok()).map(|event| event.id).collect()
    }

    #[test]
    fn after_an_event_that_stays_in_the_table_later_ones_stay_too() {
        let handover = Handover::default();
        assert!(handover.resume());
        let capacity = i64::try_from(LANE_MAX).unwrap();
        (0..=capacity).for_each(|id| handover.hand_over(committed(id)));
        assert_eq!(received(&handover), Vec::from_iter(0..capacity), "the last one did not fit");

        handover.hand_over(committed(capacity + 1));
        assert!(
            received(&handover).is_empty(),
            "there is space again, but an older event is still in the table"
        );
        assert!(!handover.resume(), "the relay reads the table first");

        handover.suspend();
        assert!(handover.resume());
        handover.hand_over(committed(capacity + 2));
        assert_eq!(received(&handover), [capacity + 2]);
    }

    #[test]
    fn only_the_events_in_memory_are_held() {
        let handover = Handover::default();
        handover.hand_over(committed(1));
        assert!(handover.held_ids().is_empty(), "the relay does not run yet");
        handover.suspend();
        assert!(handover.resume());
        handover.hand_over(committed(2));
        assert_eq!(handover.held_ids(), [2]);
        handover.leave_in_table(&[2]);
        assert!(handover.held_ids().is_empty());
    }
}
