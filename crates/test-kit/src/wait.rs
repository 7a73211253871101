//! Waiting for a condition.

use std::time::Duration;

/// How long a condition may take to come true on a machine that is busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(60);

const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Waits until the condition holds.
///
/// # Panics
/// When it does not hold within [`PATIENCE`]; the message names the condition.
#[track_caller]
pub fn until(what: &str, condition: impl AsyncFn() -> bool) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    async move {
        let met = async {
            while !condition().await {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        assert!(
            tokio::time::timeout(PATIENCE, met).await.is_ok(),
            "{caller}: timed out waiting until {what}"
        );
    }
}
