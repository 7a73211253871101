//! Waiting for a condition, with an end.

use std::time::Duration;

use anyhow::bail;
use tokio::time::{Instant, sleep};

/// How often a condition is looked at.
const PAUSE: Duration = Duration::from_millis(40);

/// Asks until the answer is yes.
///
/// # Errors
/// When `limit` passes first, naming `what` was waited for.
pub(crate) async fn until(
    what: &str,
    limit: Duration,
    condition: impl AsyncFn() -> bool,
) -> anyhow::Result<()> {
    let end = Instant::now() + limit;
    while !condition().await {
        if Instant::now() >= end {
            bail!("{what}: not within {} s", limit.as_secs());
        }
        sleep(PAUSE).await;
    }
    Ok(())
}
