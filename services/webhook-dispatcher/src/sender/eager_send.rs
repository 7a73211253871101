//! A webhook that is sent before it is stored.

use chrono::{DateTime, Utc};
use domain::EndpointId;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use super::schedule::InFlight;
use crate::store::{Lease, Outcome};

/// A webhook that is being sent, or was sent and is not stored yet.
pub(crate) struct EagerSend {
    pub lease: Lease,
    pub endpoint: EndpointId,
    pub began_at: DateTime<Utc>,
    progress: Progress,
}

enum Progress {
    /// Aborted when it is given up.
    Sending(AbortOnDropHandle<(Outcome, InFlight)>),
    Sent(Box<Outcome>, InFlight),
    /// The task has panicked. The stored delivery is repeated when its lease expires.
    Lost,
}

impl EagerSend {
    pub(super) fn new(
        (lease, endpoint): (Lease, EndpointId),
        began_at: DateTime<Utc>,
        task: JoinHandle<(Outcome, InFlight)>,
    ) -> Self {
        Self { lease, endpoint, began_at, progress: Progress::Sending(AbortOnDropHandle::new(task)) }
    }

    /// Waits for the response until the deadline.
    pub(crate) async fn wait_until(&mut self, deadline: Instant) {
        if let Progress::Sending(task) = &mut self.progress
            && let Ok(ended) = timeout_at(deadline, task).await
        {
            self.progress =
                ended.map_or(Progress::Lost, |(outcome, guard)| Progress::Sent(Box::new(outcome), guard));
        }
    }

    /// None while it is being sent.
    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        match &self.progress {
            Progress::Sent(outcome, _) => Some(outcome),
            Progress::Sending(_) | Progress::Lost => None,
        }
    }

    /// Waits for the response without a limit of its own: attempts have one.
    pub(super) async fn into_outcome(self) -> Option<(Outcome, InFlight)> {
        match self.progress {
            Progress::Sending(task) => task.await.ok(),
            Progress::Sent(outcome, guard) => Some((*outcome, guard)),
            Progress::Lost => None,
        }
    }
}
