//! Retries that were seen, on their way to the database. Seeing one must not cost the request that is being answered, let
//! alone fail it: what is seen is put aside here, and written by a worker of its own. It is evidence for a piece of advice, so
//! that what is lost in a crash, or in a flood, is shown to the business as not tried yet, and can be tried again.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::BusinessId;
use lru::LruCache;
use tokio::sync::mpsc;

use crate::domain::{FailedRequest, Replay, Retry};

/// Seen and not yet written. More than that comes of a test under load, which is not what is to be proved.
const WAITING_MAX: usize = 256;
const REMEMBERED_MAX: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// What was seen of a retry.
#[derive(Clone, Copy, Debug)]
pub enum Seen {
    Failed(FailedRequest),
    Replayed(Replay),
}

pub struct Retries {
    waiting: mpsc::Sender<Seen>,
    proved: Mutex<LruCache<BusinessId, Proved>>,
}

/// What needs no more evidence.
#[derive(Clone, Copy, Debug, Default)]
struct Proved {
    duplicate: bool,
    failure: bool,
}

impl Retries {
    /// With the end that the worker reads.
    pub fn new() -> (Self, mpsc::Receiver<Seen>) {
        metrics::counter!("retry_evidence_dropped_total").increment(0);
        let (waiting, seen) = mpsc::channel(WAITING_MAX);
        (Self { waiting, proved: Mutex::new(LruCache::new(REMEMBERED_MAX)) }, seen)
    }

    /// Takes note, unless it proves what is known already. Never waits.
    pub fn saw(&self, seen: Seen) {
        let (business, kind) = match seen {
            Seen::Failed(failed) => (failed.business_id, Retry::Failure),
            Seen::Replayed(replay) => (replay.business_id, Retry::Duplicate),
        };
        if !self.is_proved(business, kind) && self.waiting.try_send(seen).is_err() {
            metrics::counter!("retry_evidence_dropped_total").increment(1);
        }
    }

    pub fn is_proved(&self, business: BusinessId, kind: Retry) -> bool {
        let proved = self.lock().get(&business).copied().unwrap_or_default();
        match kind {
            Retry::Duplicate => proved.duplicate,
            Retry::Failure => proved.failure,
        }
    }

    /// To be called when it is in the database.
    pub fn note_proved(&self, business: BusinessId, kind: Retry) {
        let mut known = self.lock();
        let proved = known.get_or_insert_mut(business, Proved::default);
        match kind {
            Retry::Duplicate => proved.duplicate = true,
            Retry::Failure => proved.failure = true,
        }
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<BusinessId, Proved>> {
        self.proved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
