//! After the recovery, the callers' knowledge, the databases and the webhooks must agree (SPECIFICATION §14, item 1–4),
//! within a minute.

mod dead_letters;
mod feed;
mod ledger;
mod payments;
mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use local_stack::{Service, Stack};
use messaging::Broker;
use serde::de::DeserializeOwned;

use super::workload::{self, Kind, OrderStory, Tenant};
use crate::wait_until_quiet;
pub use dead_letters::are_none as no_dead_letters;
pub use ledger::is_sound as ledger_is_sound;

/// The longest time that anything may be pending.
const PENDING_MAX: Duration = Duration::from_secs(60);
/// The number of responses per round that are requested again.
const REPLAYS_MAX: usize = 12;

/// Verifies the orders of a round.
pub(super) async fn verify(
    stack: &Stack,
    broker: &Broker,
    tenants: &[Arc<Tenant>],
    stories: &mut [Vec<OrderStory>],
) -> anyhow::Result<()> {
    wait_until_quiet(stack).await?;
    for (tenant, stories) in tenants.iter().zip(stories.iter_mut()) {
        settle(tenant, stories).await?;
        refused_keys_stay_refused(tenant).await?;
        replays_are_byte_identical(tenant, stories).await?;
    }
    wait_until_quiet(stack).await?;
    for (tenant, stories) in tenants.iter().zip(stories.iter()) {
        let context = || format!("the business {:?}", tenant.kind);
        payments::agree_with(stack, tenant, stories).await.with_context(context)?;
        webhooks::all_arrived(stack, tenant, stories).await.with_context(context)?;
        feed::was_read_once(stack, tenant).await.with_context(context)?;
        tenant.revoke_strays().await.with_context(context)?;
    }
    ledger_is_sound(stack).await?;
    no_dead_letters(broker).await
}

/// Repeats the request of each order with an unknown outcome, or refused while another request was in progress.
async fn settle(tenant: &Tenant, stories: &mut [OrderStory]) -> anyhow::Result<()> {
    for story in stories.iter_mut().filter(|story| story.receipt.is_none() && story.was_left) {
        let reply = workload::send(tenant, story).await?;
        story.note(reply, false).with_context(|| story.reference.clone())?;
    }
    let barred = |story: &&OrderStory| matches!(story.refused, Some(401 | 403));
    let wrongly = stories.iter().find(barred).filter(|_| tenant.kind != Kind::Shaky);
    ensure!(wrongly.is_none(), "wrongly refused: {wrongly:?}");
    Ok(())
}

async fn refused_keys_stay_refused(tenant: &Tenant) -> anyhow::Result<()> {
    let Some(revoked) = tenant.revoked() else { return Ok(()) };
    let reply = revoked.call(reqwest::Method::GET, "?limit=1", None).await?;
    ensure!(reply.status == 401, "a revoked key is answered with {}", reply.status);
    Ok(())
}

async fn replays_are_byte_identical(tenant: &Tenant, stories: &mut [OrderStory]) -> anyhow::Result<()> {
    for story in stories.iter_mut().filter(|story| story.receipt.is_some()).take(REPLAYS_MAX) {
        let reply = workload::send(tenant, story).await?;
        ensure!(
            reply.header("Idempotent-Replayed") == Some("true"),
            "a replay lacks the Idempotent-Replayed header"
        );
        story.note(reply, false).with_context(|| story.reference.clone())?;
    }
    Ok(())
}

/// Rows of a service's database.
async fn rows<T: DeserializeOwned>(stack: &Stack, service: Service, sql: &str) -> anyhow::Result<Vec<T>> {
    let text = stack.query(service, &format!("SELECT coalesce(json_agg(t), '[]') FROM ({sql}) AS t")).await?;
    serde_json::from_str(&text).with_context(|| format!("{sql}: {text}"))
}

/// A number from a service's database.
async fn number(stack: &Stack, service: Service, sql: &str) -> anyhow::Result<i64> {
    let text = stack.query(service, sql).await?;
    text.trim().parse().with_context(|| format!("{sql}: {text}"))
}
