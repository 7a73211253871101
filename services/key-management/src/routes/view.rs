//! Converts keys to the types of `internal_api::keys`.

use internal_api::keys::{ApiKeyView, CreatedApiKey};

use crate::commands::IssuedKey;
use crate::domain::Key;

pub(super) fn of_key(key: Key) -> ApiKeyView {
    ApiKeyView {
        id: key.id,
        mode: key.mode,
        name: key.name,
        prefix: key.prefix,
        last_four: key.last_four,
        created_at: key.created_at,
        last_used_at: key.last_used_at,
        revoked_at: key.revoked_at,
        expires_at: key.expires_at,
    }
}

pub(super) fn of_issued(issued: IssuedKey) -> CreatedApiKey {
    CreatedApiKey { key: issued.secret.expose().to_owned(), view: of_key(issued.key) }
}
