//! Verifies that every committed event reached the webhook receiver in order, and nothing else did.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::ensure;
use demo::eventually;
use local_stack::{Service, Stack};
use reference_shop::ReceivedWebhook;
use serde::Deserialize;

use super::{PENDING_MAX, rows};
use crate::faults::workload::{OrderStory, Tenant};

/// The largest page of the shop.
const PAGE: u32 = 1_000;

#[derive(Debug, Deserialize)]
struct EventRow {
    event_id: String,
}

pub(super) async fn all_arrived(
    stack: &Stack,
    tenant: &Tenant,
    stories: &[OrderStory],
) -> anyhow::Result<()> {
    let placed: BTreeMap<&str, String> =
        stories.iter().filter_map(|story| Some((story.reference.as_str(), story.id()?))).collect();
    let ids: Vec<String> = placed.values().map(|id| format!("'{id}'")).collect();
    let sql =
        format!("SELECT event_id FROM order_events WHERE order_id = ANY (ARRAY[{}]::text[])", ids.join(", "));
    let committed: Vec<EventRow> = rows(stack, Service::OrderApi, &sql).await?;
    let committed: BTreeSet<String> = committed.into_iter().map(|row| row.event_id).collect();
    let received = eventually("the webhook of every event", PENDING_MAX, || async {
        let received = received(tenant, &placed).await?;
        let received_ids: BTreeSet<&str> = received.iter().map(|hook| hook.event_id.as_str()).collect();
        Ok(committed.iter().all(|event| received_ids.contains(event.as_str())).then_some(received))
    })
    .await?;
    let invented = received.iter().find(|hook| !committed.contains(&hook.event_id));
    ensure!(invented.is_none(), "a webhook of an unknown event: {invented:?}");
    in_order(&received)?;
    if let Some(last) = received.iter().map(|hook| hook.arrival).max() {
        tenant.note_webhooks_read(last);
    }
    Ok(())
}

/// The webhooks of these orders, starting with the round's first.
async fn received(tenant: &Tenant, placed: &BTreeMap<&str, String>) -> anyhow::Result<Vec<ReceivedWebhook>> {
    let mut all = Vec::new();
    let mut after = tenant.webhooks_read();
    loop {
        let page = tenant.business.shop.received(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.arrival;
        all.extend(page);
    }
    let ours = |hook: &ReceivedWebhook| {
        hook.order_reference.as_deref().is_some_and(|reference| placed.contains_key(reference))
    };
    all.retain(ours);
    Ok(all)
}

fn in_order(received: &[ReceivedWebhook]) -> anyhow::Result<()> {
    let mut next: BTreeMap<&str, i64> = BTreeMap::new();
    for hook in received {
        let (Some(reference), Some(sequence)) = (hook.order_reference.as_deref(), hook.sequence) else {
            continue;
        };
        let expected = next.entry(reference).or_insert(1);
        ensure!(sequence == *expected, "{reference}: sequence {sequence} arrived instead of {expected}");
        *expected += 1;
    }
    Ok(())
}
