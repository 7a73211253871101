//! Waiting for what happens by itself.

use std::future::Future;
use std::time::Duration;

use anyhow::bail;
use tokio::time::{Instant, sleep};

/// Asks again and again until there is an answer, and fails after `limit`, saying what was waited for.
///
/// # Errors
/// When there is none in time, or asking fails.
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
            bail!("waited {} s in vain for {what}", limit.as_secs());
        }
        sleep(Duration::from_millis(25)).await;
    }
}
