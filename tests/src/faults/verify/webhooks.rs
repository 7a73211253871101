//! Verifies that every committed event reached the webhook receiver in order, and nothing else did, and that each
//! delivery is recorded once.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::ensure;
use demo::{ReceivedWebhook, eventually};
use local_stack::{Service, Stack};
use serde::Deserialize;

use super::{PENDING_MAX, number, rows};
use crate::faults::workload::{OrderStory, Tenant};

#[derive(Debug, Deserialize)]
struct EventRow {
    event_id: String,
}

#[derive(Debug, Deserialize)]
struct DeliveryRow {
    event_id: String,
    state: String,
    attempts: i64,
    recorded: i64,
}

pub(super) async fn all_arrived(
    stack: &Stack,
    tenant: &Tenant,
    stories: &[OrderStory],
) -> anyhow::Result<()> {
    let placed: BTreeMap<&str, String> =
        stories.iter().filter_map(|story| Some((story.reference.as_str(), story.id()?))).collect();
    let ids: Vec<String> = placed.values().map(|id| format!("'{id}'")).collect();
    let ids = ids.join(", ");
    let sql = format!("SELECT event_id FROM order_events WHERE order_id = ANY (ARRAY[{ids}]::text[])");
    let committed: Vec<EventRow> = rows(stack, Service::OrderApi, &sql).await?;
    let committed: BTreeSet<String> = committed.into_iter().map(|row| row.event_id).collect();
    let received = eventually("the webhook of every event", PENDING_MAX, || async {
        let received = tenant.business.inbox.received(|hook| placed.contains_key(hook.reference()));
        let received_ids: BTreeSet<&str> = received.iter().map(|hook| hook.event.id.as_str()).collect();
        Ok(committed.iter().all(|event| received_ids.contains(event.as_str())).then_some(received))
    })
    .await?;
    let invented = received.iter().find(|hook| !committed.contains(&hook.event.id));
    ensure!(invented.is_none(), "a webhook of an unknown event: {invented:?}");
    in_order(&received)?;
    all_recorded(stack, &ids, &committed).await
}

fn in_order(received: &[ReceivedWebhook]) -> anyhow::Result<()> {
    let mut next: BTreeMap<&str, i64> = BTreeMap::new();
    for hook in received {
        let Some(sequence) = hook.event.sequence else { continue };
        let reference = hook.reference();
        let expected = next.entry(reference).or_insert(1);
        ensure!(sequence == *expected, "{reference}: sequence {sequence} arrived instead of {expected}");
        *expected += 1;
    }
    Ok(())
}

/// The dispatcher has a delivery of each event, with its attempts, and waits for nothing.
async fn all_recorded(stack: &Stack, orders: &str, committed: &BTreeSet<String>) -> anyhow::Result<()> {
    let sql = format!(
        "SELECT event_id, state, attempts,
             (SELECT count(*) FROM attempts WHERE delivery_id = deliveries.id) AS recorded
         FROM deliveries WHERE order_id = ANY (ARRAY[{orders}]::text[])"
    );
    let deliveries = eventually("every delivery to be recorded", PENDING_MAX, || async {
        let deliveries: Vec<DeliveryRow> = rows(stack, Service::WebhookDispatcher, &sql).await?;
        let is_done = |delivery: &DeliveryRow| delivery.state == "succeeded";
        Ok((deliveries.len() >= committed.len() && deliveries.iter().all(is_done)).then_some(deliveries))
    })
    .await?;
    let odd = deliveries.iter().find(|one| one.attempts == 0 || one.attempts != one.recorded);
    ensure!(odd.is_none(), "a delivery without its attempts: {odd:?}");
    let events: BTreeSet<_> = deliveries.iter().map(|delivery| &delivery.event_id).collect();
    ensure!(events.len() == deliveries.len(), "an event has two deliveries");
    let held_back =
        format!("SELECT count(*) FROM held_back_events WHERE order_id = ANY (ARRAY[{orders}]::text[])");
    let held_back = number(stack, Service::WebhookDispatcher, &held_back).await?;
    ensure!(held_back == 0, "{held_back} events are still held back");
    Ok(())
}
