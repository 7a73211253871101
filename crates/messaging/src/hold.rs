//! Retries a message in place until it can be handled.

use std::time::Duration;

use domain::Entropy;
use events::Envelope;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{Handler, Queue, Rejection};

const PAUSE_MIN: Duration = Duration::from_millis(200);
/// Handling resumes within this time after its cause has gone.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// What happens to a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Disposition {
    Handled,
    Dead(String),
    /// Held for so long that it must return to the queue; not counted as a failure.
    Renew,
    /// The service stops, or the message's connection is lost. The broker redelivers the message.
    Abandoned,
}

/// Retries until the message is handled, is rejected permanently, or belongs to a lost connection.
pub(crate) async fn handle_until_done(
    handler: &impl Handler,
    (envelope, mut is_again): (Envelope, bool),
    queue: &Queue,
    entropy: &Entropy,
    ours: &CancellationToken,
) -> Disposition {
    let since = Instant::now();
    let name = queue.name();
    let mut pause = PAUSE_MIN;
    loop {
        let handled = match std::mem::replace(&mut is_again, true) {
            false => handler.handle(envelope.clone()).await,
            true => handler.handle_again(envelope.clone()).await,
        };
        match handled {
            Ok(()) => return Disposition::Handled,
            Err(Rejection::Never(reason)) => return Disposition::Dead(reason),
            Err(Rejection::Later(reason)) if pause == PAUSE_MIN => {
                tracing::warn!(queue = name, %reason, "message handling postponed; retrying in place");
            }
            Err(Rejection::Later(_)) => {}
        }
        if since.elapsed() > queue.hold_max {
            return Disposition::Renew;
        }
        tokio::select! {
            () = sleep(pause.mul_f64(1.0 + 0.2 * entropy.jitter())) => {}
            () = ours.cancelled() => return Disposition::Abandoned,
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}
