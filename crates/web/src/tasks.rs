//! Work that runs to its end although the client that asked for it has gone: a handler's future is dropped with its
//! connection, and money must not stop half-way for that.

use std::future::Future;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::ApiError;

/// Runs such work on the service's main runtime, and can wait for all of it.
#[derive(Clone)]
pub struct Tasks {
    runtime: Handle,
    tracker: TaskTracker,
    draining: CancellationToken,
}

impl Tasks {
    /// Tasks of the runtime that this is called on.
    pub fn on_this_runtime() -> Self {
        Self { runtime: Handle::current(), tracker: TaskTracker::new(), draining: CancellationToken::new() }
    }

    /// Runs `work` to its end and gives its outcome to whoever still waits.
    ///
    /// # Errors
    /// 500 when the work panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ApiError> {
        let work = self.tracker.track_future(work.in_current_span());
        self.runtime.spawn(work).await.map_err(ApiError::internal)
    }

    /// Runs `work` to its end though nobody waits for it: what an answer must not tell by the time it takes. Whoever
    /// calls bounds how much of it is under way.
    pub fn begin(&self, work: impl Future<Output = ()> + Send + 'static) {
        let work = self.tracker.track_future(work.in_current_span());
        self.runtime.spawn(work);
    }

    /// Cancelled as soon as the service begins to stop: an answer without an end (a stream of events) ends itself then.
    pub fn draining(&self) -> CancellationToken {
        self.draining.clone()
    }

    /// Waits until all work has ended, but no longer than until `deadline`.
    pub async fn finish_until(&self, deadline: Instant) {
        self.tracker.close();
        if tokio::time::timeout_at(deadline, self.tracker.wait()).await.is_err() {
            tracing::warn!("some work did not end in time; recovery will finish it");
        }
    }
}
