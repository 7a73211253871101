//! What can be done with keys, one use case per file. Each owns its transaction.

mod create;
mod end_graces;
mod note_uses;
mod revoke;
mod rotate;
mod verify;

pub(crate) use create::{CreateError, NewKey, create};
pub(crate) use end_graces::end_graces;
pub(crate) use note_uses::note_uses;
pub(crate) use revoke::{RevokeError, revoke};
pub(crate) use rotate::{RotateError, rotate};
pub(crate) use verify::verify;

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{ApiKey, ApiKeyId, EventId};
use events::{ApiKeyRevoked, Body, Envelope};
use postgres::StoreError;

use crate::app::App;
use crate::domain::Key;

/// A new key, and the one chance to see it.
pub(crate) struct IssuedKey {
    pub key: Key,
    pub secret: ApiKey,
}

impl IssuedKey {
    fn generate(app: &App, new: NewKey, rotated_from: Option<ApiKeyId>) -> Self {
        let secret = ApiKey::generate(new.mode, &app.segment, &app.entropy);
        let key = Key {
            id: ApiKeyId::generate(&app.clock, &app.entropy),
            business_id: new.business,
            mode: new.mode,
            name: new.name,
            prefix: secret.prefix().to_owned(),
            last_four: secret.last_four().to_owned(),
            created_at: app.clock.now(),
            last_used_at: None,
            revoked_at: None,
            expires_at: None,
            rotated_from,
        };
        Self { key, secret }
    }
}

/// Tells everyone who keeps verdicts that these keys no longer work, in the transaction that makes it so.
async fn announce_revoked(
    conn: &mut AsyncPgConnection,
    app: &App,
    keys: &[Key],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let revoked = |key: &Key| Envelope {
        id: EventId::generate(&app.clock, &app.entropy),
        business_id: key.business_id,
        occurred_at: now,
        body: Body::ApiKeyRevoked(ApiKeyRevoked { key_id: key.id, mode: key.mode }),
    };
    let envelopes: Vec<Envelope> = keys.iter().map(revoked).collect();
    outbox::enqueue(conn, &envelopes, now).await
}
