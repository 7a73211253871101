//! Tasks that outlive their client. Actix drops a handler's future when its connection closes, but a payment must not
//! stop half-way.

use std::future::Future;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::ApiError;

/// Runs tasks, and can wait for all of them.
#[derive(Clone, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    draining: CancellationToken,
}

impl Tasks {
    /// Runs `work` to its end, and returns its outcome if the caller still waits.
    ///
    /// # Errors
    /// 500 when the work panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ApiError> {
        let work = self.tracker.track_future(work.in_current_span());
        tokio::spawn(work).await.map_err(ApiError::internal)
    }

    /// Runs `work` in the background, so that the duration of a response reveals nothing about it. The caller limits
    /// the number of concurrent tasks.
    pub fn begin(&self, work: impl Future<Output = ()> + Send + 'static) {
        let work = self.tracker.track_future(work.in_current_span());
        tokio::spawn(work);
    }

    /// Cancelled when the service starts to stop. Endless responses, such as event streams, end then.
    pub fn draining(&self) -> CancellationToken {
        self.draining.clone()
    }

    /// Waits until all tasks have ended or `deadline` has passed.
    pub async fn finish_until(&self, deadline: Instant) {
        self.tracker.close();
        if tokio::time::timeout_at(deadline, self.tracker.wait()).await.is_err() {
            tracing::warn!("tasks did not end in time; recovery will finish them");
        }
    }
}
