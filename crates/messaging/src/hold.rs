//! Keeping a message until it can be handled.

use std::time::Duration;

use domain::Entropy;
use events::Envelope;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{Handler, Queue, Rejection};

const PAUSE_MIN: Duration = Duration::from_millis(200);
/// A message goes on within this time of when it can be handled.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// What is to become of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Handled,
    Dead(String),
    /// Held for so long that it must go back to the queue, uncounted.
    Renew,
    /// We stop, or the connection that brought it is gone: the broker will deliver it again.
    LetGo,
}

/// Tries until the message is handled, cannot be, or is no longer ours.
pub(crate) async fn settle(
    handler: &impl Handler,
    envelope: Envelope,
    queue: &Queue,
    entropy: &Entropy,
    ours: &CancellationToken,
) -> Verdict {
    let since = Instant::now();
    let name = queue.name();
    let mut pause = PAUSE_MIN;
    loop {
        match handler.handle(envelope.clone()).await {
            Ok(()) => return Verdict::Handled,
            Err(Rejection::Never(reason)) => return Verdict::Dead(reason),
            Err(Rejection::Later(reason)) if pause == PAUSE_MIN => {
                tracing::warn!(queue = name, %reason, "a message cannot be handled for now; it is held");
            }
            Err(Rejection::Later(_)) => {}
        }
        if since.elapsed() > queue.hold_max {
            return Verdict::Renew;
        }
        tokio::select! {
            () = sleep(pause.mul_f64(1.0 + 0.2 * entropy.jitter())) => {}
            () = ours.cancelled() => return Verdict::LetGo,
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}
