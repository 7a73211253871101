//! The callers: shops that place and retry orders, a treasurer who pays in, an office that suspends and revokes, a reader of the
//! events feed. Each records its responses and repeats requests without one, like any careful caller.

mod feed;
mod insist;
mod office;
mod order;
mod ship;
mod tenant;
mod treasury;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use demo::eventually;
use domain::Entropy;
use local_stack::Stack;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

pub(crate) use feed::read_on;
pub(crate) use order::{Fate, OrderStory};
pub(crate) use ship::send;
pub(crate) use tenant::{Kind, Tenant};

/// Concurrent shops per tenant.
const SHOPS: u32 = 3;
/// The pause between two orders of a shop.
const PAUSE: Duration = Duration::from_millis(30);

/// Longer than a fault keeps an event from the wallet.
const PAY_OUT_MAX: Duration = Duration::from_secs(120);

/// The state that all callers of a round share.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) stack: Arc<Stack>,
    /// The prefix of every reference of the round.
    pub(crate) round: String,
    pub(crate) chance: Entropy,
}

/// Works until `stop`, and then until everything in progress has ended. Returns each tenant's orders.
pub(crate) async fn run(
    scene: &Scene,
    tenants: &[Arc<Tenant>],
    stop: &CancellationToken,
) -> anyhow::Result<Vec<Vec<OrderStory>>> {
    let mut shops: JoinSet<anyhow::Result<(usize, Vec<OrderStory>)>> = JoinSet::new();
    let mut others: JoinSet<anyhow::Result<()>> = JoinSet::new();
    for (index, tenant) in tenants.iter().enumerate() {
        for shop in 0..SHOPS {
            let (scene, tenant, stop) = (scene.clone(), Arc::clone(tenant), stop.clone());
            shops.spawn(async move { Ok((index, keep_shop(&scene, &tenant, shop, &stop).await?)) });
        }
        let (scene, tenant, stop) = (scene.clone(), Arc::clone(tenant), stop.clone());
        others.spawn(async move {
            let (paid, interfered, followed) = tokio::join!(
                treasury::pay_in(&scene, &tenant, &stop),
                office::interfere(&scene, &tenant),
                feed::follow(&tenant, &stop)
            );
            paid.and(interfered).and(followed)
        });
    }
    let mut stories = vec![Vec::new(); tenants.len()];
    while let Some(shop) = shops.join_next().await {
        let (tenant, placed) = shop??;
        stories[tenant].extend(placed);
    }
    while let Some(other) = others.join_next().await {
        other??;
    }
    Ok(stories)
}

async fn keep_shop(
    scene: &Scene,
    tenant: &Tenant,
    shop: u32,
    stop: &CancellationToken,
) -> anyhow::Result<Vec<OrderStory>> {
    let mut stories = Vec::new();
    while !stop.is_cancelled() {
        let reference = format!("{}-{shop}-{}", scene.round, stories.len());
        let story = ship::ship(scene, tenant, &reference).await;
        stories.push(story.with_context(|| format!("order {reference} of {:?}", tenant.kind))?);
        sleep(PAUSE).await;
    }
    // A shop that waited for the wallet earlier would place no orders meanwhile.
    for story in stories.iter().filter(|story| story.fate == Fate::Delivered && !story.paid_out) {
        eventually("a remittance of cash that the wallet knows", PAY_OUT_MAX, || async {
            Ok(ship::pay_out(tenant, story).await?.then_some(()))
        })
        .await?;
    }
    Ok(stories)
}
