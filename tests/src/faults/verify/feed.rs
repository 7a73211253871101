//! Verifies that a reader of the events feed saw each event of the business once, in the order of the feed.

use anyhow::ensure;
use demo::eventually;
use local_stack::{Service, Stack};
use serde::Deserialize;

use super::{PENDING_MAX, rows};
use crate::faults::workload::{self, Tenant};

#[derive(Deserialize)]
struct EventRow {
    event_id: String,
}

pub(super) async fn was_read_once(stack: &Stack, tenant: &Tenant) -> anyhow::Result<()> {
    let business = &tenant.business.portal.business_id;
    let sql = format!(
        "SELECT event_id FROM order_events AS event JOIN orders ON orders.id = event.order_id
         WHERE event.business_id = '{business}' AND orders.business_id = '{business}' AND mode = 'live'
         ORDER BY feed_at, event.order_id, event.sequence"
    );
    let stored: Vec<EventRow> = rows(stack, Service::OrderApi, &sql).await?;
    let stored: Vec<String> = stored.into_iter().map(|row| row.event_id).collect();
    eventually("the reader of the feed to see each event", PENDING_MAX, || async {
        workload::read_on(tenant).await?;
        Ok((tenant.feed.lock().await.seen.len() >= stored.len()).then_some(()))
    })
    .await?;
    let feed = tenant.feed.lock().await;
    ensure!(feed.seen == stored, "the reader of the feed saw {:?}, stored are {stored:?}", feed.seen);
    Ok(())
}
