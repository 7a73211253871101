//! Retries a message in place until it can be handled.

use std::time::Duration;

use domain::{Clock, Entropy};
use events::Envelope;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{Handler, Queue, Rejection};

const PAUSE_MIN: Duration = Duration::from_millis(200);
/// Handling resumes within this time after its cause has gone.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// The same after an unexpected failure, whose cause may last for hours.
const UNEXPECTED_PAUSE_MAX: Duration = Duration::from_secs(10);
/// After this time, a message that fails unexpectedly makes room for others.
const UNEXPECTED_HOLD_MAX: Duration = Duration::from_secs(60);
/// The time limit of unexpected failures, in seconds: enough for somebody to repair their cause.
const UNEXPECTED_MAX: i64 = 24 * 60 * 60;

/// A message to handle.
pub(crate) struct Received {
    pub(crate) envelope: Envelope,
    /// Whether it may have been handled before.
    pub(crate) is_again: bool,
    /// Since when its handler fails unexpectedly, in Unix seconds.
    pub(crate) failing_since: Option<i64>,
}

/// What happens to a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Disposition {
    Handled,
    Dead(String),
    /// Held for so long that it must return to the queue; the broker does not count that as a failure.
    Renew {
        failing_since: Option<i64>,
    },
    /// The service stops, or the message's connection is lost. The broker redelivers the message.
    Abandoned,
}

/// Retries until the message is handled, is rejected permanently, must return to the queue, or belongs to a lost
/// connection.
pub(crate) async fn handle_until_done(
    handler: &impl Handler,
    Received { envelope, mut is_again, mut failing_since }: Received,
    queue: &Queue,
    (clock, entropy): (&Clock, &Entropy),
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
        let is_first = pause == PAUSE_MIN;
        let (hold_max, pause_max) = match handled {
            Ok(()) => return Disposition::Handled,
            Err(Rejection::Never(reason)) => return Disposition::Dead(reason),
            Err(Rejection::Later(reason)) => {
                if is_first {
                    tracing::warn!(queue = name, %reason, "message handling postponed; retrying in place");
                }
                (queue.hold_max, PAUSE_MAX)
            }
            Err(Rejection::Unexpected(reason)) => {
                let now = clock.now().timestamp();
                if now - *failing_since.get_or_insert(now) >= UNEXPECTED_MAX {
                    return Disposition::Dead(reason);
                }
                if is_first {
                    tracing::error!(queue = name, %reason, "message handling failed; retrying for up to 24 h");
                }
                (queue.hold_max.min(UNEXPECTED_HOLD_MAX), UNEXPECTED_PAUSE_MAX)
            }
        };
        if since.elapsed() > hold_max {
            return Disposition::Renew { failing_since };
        }
        tokio::select! {
            () = sleep(pause.mul_f64(1.0 + 0.2 * entropy.jitter())) => {}
            () = ours.cancelled() => return Disposition::Abandoned,
        }
        pause = (pause * 2).min(pause_max);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use chrono::{DateTime, TimeDelta};
    use domain::{BusinessId, EventId};
    use events::{Body, queues};

    use super::*;

    /// Fails unexpectedly.
    #[derive(Default)]
    struct Broken {
        tries: AtomicUsize,
    }

    impl Handler for Broken {
        async fn handle(&self, _: Envelope) -> Result<(), Rejection> {
            self.tries.fetch_add(1, Ordering::Relaxed);
            Err(Rejection::Unexpected("permission denied".into()))
        }
    }

    #[tokio::test]
    async fn a_message_that_fails_unexpectedly_for_a_day_is_dead() {
        let entropy = Entropy::seeded(1);
        let clock = Clock::manual(DateTime::UNIX_EPOCH);
        let envelope = Envelope {
            id: EventId::generate(&clock, &entropy),
            business_id: BusinessId::generate(&clock, &entropy),
            occurred_at: clock.now(),
            body: Body::WalletFunded {},
        };
        let (handler, ours) = (Broken::default(), CancellationToken::new());
        let queue = Queue::shared(queues::FACTS).held_at_most(Duration::ZERO);
        let handle = async |failing_since| {
            let received = Received { envelope: envelope.clone(), is_again: false, failing_since };
            handle_until_done(&handler, received, &queue, (&clock, &entropy), &ours).await
        };
        let renewed = Disposition::Renew { failing_since: Some(0) };
        assert_eq!(handle(None).await, renewed);
        clock.advance(TimeDelta::seconds(UNEXPECTED_MAX - 1));
        assert_eq!(handle(Some(0)).await, renewed);
        clock.advance(TimeDelta::seconds(1));
        assert_eq!(handle(Some(0)).await, Disposition::Dead("permission denied".into()));
        assert_eq!(handler.tries.load(Ordering::Relaxed), 3);
    }
}
