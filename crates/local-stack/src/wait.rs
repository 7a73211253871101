//! Polling with a time limit.

use std::time::Duration;

use anyhow::bail;
use tokio::time::{Instant, sleep};

/// The polling interval.
const PAUSE: Duration = Duration::from_millis(40);

/// Polls until the condition holds.
///
/// # Errors
/// When it does not hold within `limit`; the error names `what`.
pub(crate) async fn until(
    what: &str,
    limit: Duration,
    condition: impl AsyncFn() -> bool,
) -> anyhow::Result<()> {
    let end = Instant::now() + limit;
    while !condition().await {
        if Instant::now() >= end {
            bail!("timed out after {} s: {what}", limit.as_secs());
        }
        sleep(PAUSE).await;
    }
    Ok(())
}
