//! The operator and the owner of an unstable business: it is suspended for a while, or its key is revoked, while orders
//! are in progress.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::time::sleep;

use super::insist::insist;
use super::tenant::Kind;
use super::{Scene, Tenant};

/// Intervenes once, at a random moment of a round.
pub(super) async fn interfere(scene: &Scene, tenant: &Tenant) -> anyhow::Result<()> {
    if tenant.kind != Kind::Shaky {
        return Ok(());
    }
    sleep(Duration::from_millis(u64::from(scene.chance.below(3_000)))).await;
    if scene.chance.below(2) == 0 {
        return tenant.change_keys().await;
    }
    set_status(tenant, "suspended").await?;
    sleep(Duration::from_millis(u64::from(scene.chance.below(1_500)))).await;
    set_status(tenant, "active").await
}

async fn set_status(tenant: &Tenant, status: &str) -> anyhow::Result<()> {
    let path = format!("/businesses/{}", tenant.business.portal.business_id);
    let change = json!({ "status": status });
    insist(status, || tenant.business.operator.call(Method::PATCH, &path, &change)).await?.expect(200)?;
    Ok(())
}
