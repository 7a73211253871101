//! The outbox of a service, and the way of committed events from the writers to the relay: in memory, so that the relay
//! need not look for them in the table.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// False while the relay reads all events from the table: until it runs, and after failures.
    is_direct: AtomicBool,
    /// Whether events stayed in the table since the relay last looked.
    has_missed: AtomicBool,
    /// The rows of the events in memory. Only the lanes publish and delete them.
    held: Mutex<HashSet<i64>>,
    /// The routing keys and rows of events that the broker did not take.
    not_taken: Mutex<Vec<(String, i64)>>,
    lanes: Vec<Lane>,
    /// Wakes the relay.
    missed: Notify,
    /// Where looks at the table begin.
    pub(crate) floor: Floor,
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
            is_direct: AtomicBool::new(false),
            has_missed: AtomicBool::new(false),
            held: Mutex::default(),
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
    /// Gives committed events to their lanes.
    pub(crate) fn hand_over(&self, committed: Vec<(usize, Committed)>) {
        if !self.is_direct() {
            return self.miss();
        }
        self.held().extend(committed.iter().map(|(_, event)| event.id));
        for (lane, event) in committed {
            let id = event.id;
            if self.lanes[lane].sender.try_send(event).is_err() {
                self.leave_in_table(&[id]);
            }
        }
    }

    pub(crate) fn lane(&self, lane: usize) -> &AsyncMutex<mpsc::Receiver<Committed>> {
        &self.lanes[lane].receiver
    }

    /// The relay will find these events in the table.
    pub(crate) fn leave_in_table(&self, ids: &[i64]) {
        self.release(ids);
        self.miss();
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
        let mut held = self.held();
        for id in ids {
            held.remove(id);
        }
    }

    /// The rows that the relay must leave to the lanes.
    pub(crate) fn held_ids(&self) -> Vec<i64> {
        self.held().iter().copied().collect()
    }

    pub(crate) fn is_direct(&self) -> bool {
        self.is_direct.load(Ordering::SeqCst)
    }

    /// Begins or resumes the handover, unless an event has stayed in the table since [`Handover::suspend`].
    pub(crate) fn resume(&self) -> bool {
        self.is_direct.store(true, Ordering::SeqCst);
        if self.has_missed() {
            self.is_direct.store(false, Ordering::SeqCst);
        }
        self.is_direct()
    }

    /// The relay is about to read all events from the table.
    pub(crate) fn suspend(&self) {
        self.is_direct.store(false, Ordering::SeqCst);
        self.has_missed.store(false, Ordering::SeqCst);
    }

    pub(crate) fn has_missed(&self) -> bool {
        self.has_missed.load(Ordering::SeqCst)
    }

    pub(crate) async fn missed(&self) {
        self.missed.notified().await;
    }

    fn miss(&self) {
        self.has_missed.store(true, Ordering::SeqCst);
        self.missed.notify_one();
    }

    fn held(&self) -> MutexGuard<'_, HashSet<i64>> {
        locked(&self.held)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
