//! Payments: top-ups with an idempotency key and credits with a reference. Each is repeated until it is answered.

use std::time::Duration;

use anyhow::ensure;
use reqwest::Method;
use serde_json::json;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::insist::insist;
use super::tenant::Kind;
use super::{Scene, Tenant};

const PAUSE: Duration = Duration::from_millis(150);

/// Pays in at intervals until `stop`.
pub(super) async fn pay_in(scene: &Scene, tenant: &Tenant, stop: &CancellationToken) -> anyhow::Result<()> {
    let most = if tenant.kind == Kind::Poor { 4_000 } else { 100_000 };
    for number in 0.. {
        if stop.is_cancelled() {
            break;
        }
        let amount = i64::from(100 + scene.chance.below(most));
        let name = format!("{}-{number}", scene.round);
        match scene.chance.below(2) {
            0 => top_up(tenant, &name, amount).await?,
            _ => credit(scene, tenant, &name, amount).await?,
        }
        sleep(PAUSE).await;
    }
    Ok(())
}

pub(super) async fn top_up(tenant: &Tenant, key: &str, amount: i64) -> anyhow::Result<()> {
    let wanted = json!({ "amountPaise": amount });
    let portal = &tenant.business.portal;
    let answer = insist("a top-up", || portal.post_once("/wallet/top-ups", key, &wanted)).await?;
    ensure!(answer.status.is_success(), "a top-up is answered with {}: {}", answer.status, answer.text);
    tenant.note_paid_in(amount);
    Ok(())
}

/// Credits the wallet. Sometimes reuses the reference with another amount, which must be refused.
async fn credit(scene: &Scene, tenant: &Tenant, reference: &str, amount: i64) -> anyhow::Result<()> {
    let path = format!("/businesses/{}/wallet/credits", tenant.business.portal.business_id);
    let send = async |amount: i64| {
        let wanted = json!({ "amountPaise": amount, "reference": reference });
        insist("a credit", || tenant.business.operator.call(Method::POST, &path, &wanted)).await
    };
    let answer = send(amount).await?;
    ensure!(answer.status.is_success(), "a credit is answered with {}: {}", answer.status, answer.text);
    tenant.note_paid_in(amount);
    if scene.chance.below(4) == 0 {
        let other = send(amount + 1).await?;
        ensure!(other.status.is_client_error(), "a reused reference is answered with {}", other.status);
    }
    Ok(())
}
