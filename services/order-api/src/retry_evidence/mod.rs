//! Evidence that a business has tested its retries, on its way to the database. Collecting it must not delay or fail a
//! request, so a bounded queue takes it and a worker stores it. Evidence that is lost in a crash or under load only
//! means that the business repeats its test.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::BusinessId;
use lru::LruCache;
use tokio::sync::mpsc;

use crate::domain::{FailedRequest, Replay, RetryKind};

/// More evidence at once comes from a load test, which proves nothing about retries.
const QUEUE_MAX: usize = 256;
const BUSINESSES_MAX: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// One observation of a request with a Test key.
#[derive(Clone, Copy, Debug)]
pub enum Observation {
    Failed(FailedRequest),
    Replayed(Replay),
}

pub struct RetryEvidence {
    queue: mpsc::Sender<Observation>,
    proved: Mutex<LruCache<BusinessId, Proved>>,
}

/// The kinds of retry that need no more evidence.
#[derive(Clone, Copy, Debug, Default)]
struct Proved {
    duplicate: bool,
    failure: bool,
}

impl RetryEvidence {
    /// With the receiver for the worker.
    pub fn new() -> (Self, mpsc::Receiver<Observation>) {
        // Publish 0 up front: alerts ignore absent series.
        metrics::counter!("retry_evidence_dropped_total").increment(0);
        let (queue, observations) = mpsc::channel(QUEUE_MAX);
        (Self { queue, proved: Mutex::new(LruCache::new(BUSINESSES_MAX)) }, observations)
    }

    /// Queues an observation unless its kind is proved already. Never waits.
    pub fn record(&self, observation: Observation) {
        let (business, kind) = match observation {
            Observation::Failed(failed) => (failed.business_id, RetryKind::Failure),
            Observation::Replayed(replay) => (replay.business_id, RetryKind::Duplicate),
        };
        if !self.is_proved(business, kind) && self.queue.try_send(observation).is_err() {
            metrics::counter!("retry_evidence_dropped_total").increment(1);
        }
    }

    fn is_proved(&self, business: BusinessId, kind: RetryKind) -> bool {
        let proved = self.lock().get(&business).copied().unwrap_or_default();
        match kind {
            RetryKind::Duplicate => proved.duplicate,
            RetryKind::Failure => proved.failure,
        }
    }

    /// Call this after the commit of the proof.
    pub fn set_proved(&self, business: BusinessId, kind: RetryKind) {
        let mut known = self.lock();
        let proved = known.get_or_insert_mut(business, Proved::default);
        match kind {
            RetryKind::Duplicate => proved.duplicate = true,
            RetryKind::Failure => proved.failure = true,
        }
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<BusinessId, Proved>> {
        self.proved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
