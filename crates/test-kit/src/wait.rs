//! Waiting for a condition or a value.

use std::panic::Location;
use std::time::Duration;

/// The time limit for a condition, generous because other tests keep the machine busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Waits until the condition holds. The test fails after [`PATIENCE`], with the name of the condition.
#[track_caller]
pub fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) -> impl Future<Output = ()> {
    eventually(what, async move || condition().await.then_some(()))
}

/// Waits until there is a value. The test fails after [`PATIENCE`], with the name of the value.
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> impl Future<Output = T> {
    let caller = Location::caller();
    async move {
        let seen = async {
            loop {
                if let Some(value) = look().await {
                    return value;
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        };
        let seen = tokio::time::timeout(PATIENCE, seen).await;
        seen.unwrap_or_else(|_| panic!("{caller}: timed out waiting: {what}"))
    }
}
