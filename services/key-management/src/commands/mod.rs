//! The use cases that change keys, one per file. Each owns its transaction.

mod create;
mod erase_business;
mod expire_keys;
mod flush_usage;
mod revoke;
mod rotate;
mod verify;

pub(crate) use create::{CreateError, NewKey, create};
pub(crate) use erase_business::erase_business;
pub(crate) use expire_keys::expire_keys;
pub(crate) use flush_usage::flush_usage;
pub(crate) use revoke::{RevokeError, Revoked, revoke};
pub(crate) use rotate::{RotateError, Rotation, rotate};
pub(crate) use verify::{Verified, verify};

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{ApiKey, ApiKeyId, EventId};
use events::{ApiKeyRevoked, Body, Envelope};
use outbox::Unit;
use postgres::StoreError;

use crate::domain::{Key, KeyHash};
use crate::state::State;

/// A new key with its secret, which is shown only once.
pub(crate) struct IssuedKey {
    pub key: Key,
    pub secret: ApiKey,
}

impl IssuedKey {
    fn generate(state: &State, new: NewKey, rotated_from: Option<ApiKeyId>) -> Self {
        let Unit { clock, entropy, .. } = &state.unit;
        let secret = ApiKey::generate(new.mode, &state.segment, entropy);
        let key = Key {
            id: ApiKeyId::generate(clock, entropy),
            business_id: new.business,
            mode: new.mode,
            name: new.name,
            prefix: secret.prefix().to_owned(),
            last_four: secret.last_four().to_owned(),
            created_at: clock.now(),
            last_used_at: None,
            revoked_at: None,
            expires_at: new.expires_at,
            rotated_from,
            created_by: new.created_by,
            restrictions: new.restrictions,
        };
        Self { key, secret }
    }

    /// The hash under which the key is stored.
    fn hash(&self, state: &State) -> KeyHash {
        state.hasher.hash(&self.secret)
    }
}

/// Announces revoked keys to all caches, in the transaction that revokes them.
async fn announce_revoked(
    conn: &mut AsyncPgConnection,
    unit: &Unit,
    keys: &[Key],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let revoked = |key: &Key| Envelope {
        id: EventId::generate(&unit.clock, &unit.entropy),
        business_id: key.business_id,
        occurred_at: now,
        body: Body::ApiKeyRevoked(ApiKeyRevoked { key_id: key.id, mode: key.mode }),
    };
    let envelopes: Vec<Envelope> = keys.iter().map(revoked).collect();
    unit.outbox.enqueue(conn, &envelopes, now).await
}
