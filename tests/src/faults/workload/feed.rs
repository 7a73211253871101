//! A reader of the events feed, which goes on through all faults.

use std::time::Duration;

use anyhow::Context;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::Tenant;
use super::insist::insist;
use crate::text;

const PAUSE: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(crate) struct Feed {
    /// The query of the next page.
    after: String,
    /// The ids of the events that were read.
    pub(crate) seen: Vec<String>,
}

/// Reads until `stop`.
pub(super) async fn follow(tenant: &Tenant, stop: &CancellationToken) -> anyhow::Result<()> {
    while !stop.is_cancelled() {
        read_on(tenant).await?;
        sleep(PAUSE).await;
    }
    Ok(())
}

/// Reads the next page.
pub(crate) async fn read_on(tenant: &Tenant) -> anyhow::Result<()> {
    let mut feed = tenant.feed.lock().await;
    let query = format!("?limit=100{}", feed.after);
    let page = insist("a page of the feed", || async { tenant.live().events(&query).await }).await?;
    // The business is suspended, or its key was just replaced.
    if matches!(page.status.as_u16(), 401 | 403) {
        return Ok(());
    }
    let page = page.expect(200)?;
    for event in page["data"].as_array().context("a page of events")? {
        feed.seen.push(text(event, "id")?);
    }
    feed.after = format!("&startingAfter={}", text(&page, "next")?);
    Ok(())
}
