//! A business of the workload: its changing keys and its payments.

use std::sync::{Mutex, PoisonError, RwLock};

use anyhow::Context;
use demo::clients::Integration;
use local_stack::Stack;
use serde_json::json;

use super::feed::Feed;
use super::insist::insist;
use crate::{Business, text};

/// The low-balance threshold.
const LOW: i64 = 5_000;

/// The behaviour of the business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Has enough money.
    Rich,
    /// Keeps running out of money.
    Poor,
    /// Gets suspended, or its key revoked, during a round.
    Shaky,
}

pub(crate) struct Tenant {
    pub(crate) kind: Kind,
    pub(crate) business: Business,
    keys: RwLock<Keys>,
    paid_in: Mutex<i64>,
    pub(crate) feed: tokio::sync::Mutex<Feed>,
}

struct Keys {
    id: String,
    current: Integration,
    revoked: Option<Integration>,
}

impl Tenant {
    pub(crate) async fn open(stack: &Stack, kind: Kind) -> anyhow::Result<Self> {
        let funds = match kind {
            Kind::Rich | Kind::Shaky => 10_000_000,
            Kind::Poor => 10_000,
        };
        let mut business = Business::sign_up(stack).await?;
        business.go_live(funds).await?;
        // The wallet announces each time that the balance falls below.
        business.portal.put("/wallet/threshold", &json!({ "thresholdPaise": LOW })).await?;
        let keys = business.portal.get("/api-keys").await?;
        let live = keys["data"].as_array().and_then(|keys| keys.iter().find(|key| key["mode"] == "live"));
        let id = text(live.context("a live key is listed")?, "id")?;
        let keys = RwLock::new(Keys { id, current: business.live()?, revoked: None });
        Ok(Self { kind, business, keys, paid_in: Mutex::new(funds), feed: tokio::sync::Mutex::default() })
    }

    /// The current key.
    pub(crate) fn live(&self) -> Integration {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).current.clone()
    }

    /// The previous key, which no longer works.
    pub(crate) fn revoked(&self) -> Option<Integration> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).revoked.clone()
    }

    /// Creates a new key and revokes the old one.
    pub(super) async fn change_keys(&self) -> anyhow::Result<()> {
        let wanted = json!({ "mode": "live", "name": "next" });
        let portal = &self.business.portal;
        let new = insist("a new key", || portal.post("/api-keys", &wanted)).await?.expect(201)?;
        let (new_id, new_key) = (text(&new, "id")?, self.business.integration(&text(&new, "key")?)?);
        let old = {
            let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
            keys.revoked = Some(std::mem::replace(&mut keys.current, new_key));
            std::mem::replace(&mut keys.id, new_id)
        };
        self.revoke(&old).await
    }

    async fn revoke(&self, id: &str) -> anyhow::Result<()> {
        let path = format!("/api-keys/{id}/revoke");
        let nothing = json!({});
        insist("a key to be revoked", || self.business.portal.post(&path, &nothing)).await?.expect(200)?;
        Ok(())
    }

    /// Revokes keys whose creation response was lost, because the number of working keys is limited.
    pub(crate) async fn revoke_strays(&self) -> anyhow::Result<()> {
        let current = self.keys.read().unwrap_or_else(PoisonError::into_inner).id.clone();
        let listed = self.business.portal.get("/api-keys?limit=100").await?;
        for key in listed["data"].as_array().context("a list of keys")? {
            if key["mode"] == "live" && key["revokedAt"].is_null() && key["id"] != current.as_str() {
                self.revoke(&text(key, "id")?).await?;
            }
        }
        Ok(())
    }

    pub(super) fn note_paid_in(&self, amount: i64) {
        *self.paid_in.lock().unwrap_or_else(PoisonError::into_inner) += amount;
    }

    pub(crate) fn paid_in(&self) -> i64 {
        *self.paid_in.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
