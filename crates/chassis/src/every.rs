//! Periodic background work, with one policy for failures.

use std::fmt::Display;
use std::future::Future;
use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

/// Runs `round` at each interval until `stop` is cancelled, first immediately. A started round always completes: long
/// rounds check the token that they receive. A failed round is retried at the next interval. Only the first of
/// consecutive failures is logged as a warning.
pub async fn every<F, E>(
    interval: Duration,
    stop: CancellationToken,
    mut round: impl FnMut(CancellationToken) -> F + Send,
) where
    F: Future<Output = Result<(), E>> + Send,
    E: Display,
{
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_failing = false;
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        match round(stop.clone()).await {
            Ok(()) if std::mem::take(&mut is_failing) => tracing::info!("background work recovered"),
            Ok(()) => {}
            Err(error) if std::mem::replace(&mut is_failing, true) => {
                tracing::debug!(%error, "background work still fails");
            }
            Err(error) => tracing::warn!(%error, "background work failed; retrying at each interval"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn rounds_continue_after_a_failure_and_stop_with_the_token() {
        let (stop, rounds) = (CancellationToken::new(), AtomicUsize::new(0));
        every(Duration::from_millis(1), stop.clone(), |stop| {
            let round = rounds.fetch_add(1, Ordering::Relaxed);
            async move {
                if round == 3 {
                    stop.cancel();
                }
                if round == 1 { Err("unreachable") } else { Ok(()) }
            }
        })
        .await;
        assert_eq!(rounds.into_inner(), 4);
    }
}
