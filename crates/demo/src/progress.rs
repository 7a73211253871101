//! Waiting for asynchronous results.

use std::future::Future;
use std::time::Duration;

use anyhow::bail;
use tokio::time::{Instant, sleep};

/// Polls until there is a value.
///
/// # Errors
/// When there is none within `limit`, or a poll fails.
pub async fn eventually<T, F>(what: &str, limit: Duration, mut ask: impl FnMut() -> F) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<Option<T>>>,
{
    let deadline = Instant::now() + limit;
    loop {
        if let Some(answer) = ask().await? {
            return Ok(answer);
        }
        if Instant::now() >= deadline {
            bail!("timed out after {} s waiting for {what}", limit.as_secs());
        }
        sleep(Duration::from_millis(25)).await;
    }
}
