//! One order from its confirmation to its end, with the requests of real shops: single, concurrent, repeated after a
//! disconnect, and with a wrong key.

use std::time::Duration;

use anyhow::{Context, ensure};
use demo::clients::{Fleet, Reply};
use demo::eventually;
use futures_util::future::join_all;
use local_stack::Service;
use reqwest::Method;
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::insist::{insist, insist_and_report_loss};
use super::order::{Fate, OrderStory};
use super::tenant::Kind;
use super::{Scene, Tenant, treasury};

/// How often a temporary refusal is accepted.
const TRIES: u32 = 12;
const RETRY_PAUSE: Duration = Duration::from_millis(250);
/// The time limit for finding an order that is being placed, to cancel it.
const EARLY_CANCEL: Duration = Duration::from_secs(10);

/// The wallet mostly gets the fleet's last report within this time.
const EVENT_PAUSE: Duration = Duration::from_millis(300);

pub(super) async fn ship(scene: &Scene, tenant: &Tenant, reference: &str) -> anyhow::Result<OrderStory> {
    let mut story = OrderStory::begin(reference, &scene.chance);
    match scene.chance.below(20) {
        0..=3 => several_at_once(tenant, &mut story).await?,
        4..=7 => {
            hang_up(scene, tenant, &mut story).await;
            place(scene, tenant, &mut story).await?;
        }
        8 => {
            // No retry follows.
            hang_up(scene, tenant, &mut story).await;
            return Ok(story);
        }
        9 => return cancel_early(scene, tenant, story).await,
        _ => place(scene, tenant, &mut story).await?,
    }
    if story.receipt.is_some() {
        if scene.chance.below(5) == 0 {
            mistakes(tenant, &story).await?;
        }
        follow_fate(scene, tenant, &mut story).await?;
    }
    Ok(story)
}

/// Sends the request once, with the current key.
pub(crate) async fn send(tenant: &Tenant, story: &OrderStory) -> anyhow::Result<Reply> {
    tenant.live().create(&story.key, &story.body).await
}

/// Retries until the order is placed or refused permanently.
async fn place(scene: &Scene, tenant: &Tenant, story: &mut OrderStory) -> anyhow::Result<()> {
    for _ in 0..TRIES {
        let asked = &*story;
        let (reply, lost) = insist_and_report_loss("an order to be answered", || send(tenant, asked)).await?;
        story.note(reply, lost)?;
        match story.refused {
            None => return Ok(()),
            Some(402) if scene.chance.below(2) == 0 => return Ok(()),
            Some(402) => {
                let key = format!("for-{}-{:x}", story.reference, scene.chance.u128());
                treasury::top_up(tenant, &key, 2 * story.fee).await?;
            }
            Some(_) => {
                ensure!(tenant.kind == Kind::Shaky, "wrongly refused with {:?}", story.refused);
                sleep(RETRY_PAUSE).await;
            }
        }
    }
    Ok(())
}

async fn several_at_once(tenant: &Tenant, story: &mut OrderStory) -> anyhow::Result<()> {
    let asked = &*story;
    let requests =
        (0..4).map(|_| insist_and_report_loss("one of several equal orders", || send(tenant, asked)));
    let replies: Vec<(Reply, bool)> = join_all(requests).await.into_iter().collect::<Result<_, _>>()?;
    // One may be refused while another is placed after money or access arrived. The success counts.
    let (placed, refused): (Vec<_>, Vec<_>) = replies.into_iter().partition(|(reply, _)| reply.status == 201);
    for (reply, lost) in refused.into_iter().chain(placed) {
        story.note(reply, lost)?;
    }
    Ok(())
}

/// The client disconnects at a random moment.
async fn hang_up(scene: &Scene, tenant: &Tenant, story: &mut OrderStory) {
    let patience = Duration::from_millis(u64::from(1 + scene.chance.below(120)));
    // The response, if any, was not read.
    let _unread = timeout(patience, send(tenant, story)).await;
    story.was_left = true;
}

/// Reuses the key for another order, and the reference with another key.
async fn mistakes(tenant: &Tenant, story: &OrderStory) -> anyhow::Result<()> {
    let mut other = story.body.clone();
    other["payment"]["deliveryFeePaise"] = (story.fee + 1).into();
    let reused = insist("a reused key", || async { tenant.live().create(&story.key, &other).await }).await?;
    ensure!(matches!(reused.status.as_u16(), 422 | 401), "a reused key: {} {}", reused.status, reused.text);
    let key = format!("{}-other", story.key);
    let repeated =
        insist("a reused reference", || async { tenant.live().create(&key, &story.body).await }).await?;
    let names_it = repeated.body["order"]["id"].as_str().map(str::to_owned) == story.id();
    let is_refused = repeated.status == 409 && names_it || matches!(repeated.status.as_u16(), 401 | 403);
    ensure!(is_refused, "a reused reference: {} {}", repeated.status, repeated.text);
    Ok(())
}

async fn follow_fate(scene: &Scene, tenant: &Tenant, story: &mut OrderStory) -> anyhow::Result<()> {
    let id = story.id().context("a receipt names its order")?;
    story.fate = Fate::draw(&scene.chance);
    if story.fate == Fate::Cancelled {
        let twice = 1 + scene.chance.below(2);
        let cancels = (0..twice).map(|_| cancel(tenant, &id));
        for reply in join_all(cancels).await {
            reply?.expect(200)?;
        }
    }
    for event in story.fate.reports() {
        let fleet = &tenant.business.fleet;
        let report = Fleet::progress(&id, event, story.cash);
        insist(event, || fleet.send(&id, &report)).await?.expect(200)?;
    }
    if story.fate == Fate::Delivered {
        sleep(EVENT_PAUSE).await;
        story.paid_out = pay_out(tenant, story).await?;
    }
    Ok(())
}

/// The operator records the bank transfer. False while the wallet does not know that the cash was handed over.
pub(super) async fn pay_out(tenant: &Tenant, story: &OrderStory) -> anyhow::Result<bool> {
    let path = format!("/businesses/{}/remittances", tenant.business.portal.business_id);
    let id = story.id().context("a delivered order has an id")?;
    let wanted = json!({ "bankReference": story.reference, "paidOn": "2026-01-31", "csv": id });
    let call = || tenant.business.operator.call(Method::POST, &path, &wanted);
    let reply = insist("a remittance", call).await?;
    let is_early = reply.status == 400;
    ensure!(reply.status.is_success() || is_early, "a remittance: {} {}", reply.status, reply.text);
    Ok(!is_early)
}

/// Retries until it is answered with a valid key.
async fn cancel(tenant: &Tenant, id: &str) -> anyhow::Result<Reply> {
    let path = format!("/{id}/cancel");
    eventually("a cancellation with a valid key", Duration::from_secs(30), || async {
        let call = || async { tenant.live().call(Method::POST, &path, None).await };
        let reply = insist("a cancellation", call).await?;
        Ok((reply.status != 401).then_some(reply))
    })
    .await
}

/// Cancels while the order is being paid: it does not exist yet, or it is cancelled.
async fn cancel_early(scene: &Scene, tenant: &Tenant, mut story: OrderStory) -> anyhow::Result<OrderStory> {
    let reference = story.reference.clone();
    let hasty = async {
        let id =
            eventually("the order's row", EARLY_CANCEL, || find(scene, tenant, &reference)).await.ok()?;
        let reply = cancel(tenant, &id).await.ok()?;
        Some(reply.status.as_u16())
    };
    let (placed, hasty) = tokio::join!(place(scene, tenant, &mut story), hasty);
    placed?;
    match hasty {
        Some(200) => story.fate = Fate::Cancelled,
        Some(404) | None => {}
        Some(status) => anyhow::bail!("an early cancellation is answered with {status}"),
    }
    Ok(story)
}

/// The id that is in the database before any caller knows it.
async fn find(scene: &Scene, tenant: &Tenant, reference: &str) -> anyhow::Result<Option<String>> {
    let business = &tenant.business.portal.business_id;
    let sql = format!(
        "SELECT id FROM orders
         WHERE business_id = '{business}' AND mode = 'live' AND order_reference = '{reference}'"
    );
    // Retry while the database is unreachable.
    let found = scene.stack.query(Service::OrderApi, &sql).await.unwrap_or_default();
    Ok(Some(found.trim().to_owned()).filter(|id| !id.is_empty()))
}
