//! Converts keys to the types of `internal_api::keys`.

use domain::KeyRestrictions;
use internal_api::keys::{ApiKeyView, CreatedApiKey, RevokedApiKey};

use crate::commands::{IssuedKey, Revoked};
use crate::domain::Key;
use crate::queries::ListedKey;

/// A key that is new or revoked: it has no grace period.
pub(super) fn of_key(key: Key) -> ApiKeyView {
    let KeyRestrictions { scopes, ip_allow_list } = key.restrictions;
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
        replaces: key.rotated_from,
        in_grace_period: Some(false),
        created_by: key.created_by,
        scopes,
        ip_allow_list,
    }
}

pub(super) fn of_listed(listed: ListedKey) -> ApiKeyView {
    let in_grace_period = Some(listed.is_rotated && listed.key.revoked_at.is_none());
    ApiKeyView { in_grace_period, ..of_key(listed.key) }
}

pub(super) fn of_revoked(revoked: Revoked) -> RevokedApiKey {
    RevokedApiKey {
        view: of_key(revoked.key),
        also_revoked: revoked.predecessors.into_iter().map(of_key).collect(),
    }
}

pub(super) fn of_issued(issued: IssuedKey) -> CreatedApiKey {
    CreatedApiKey { key: issued.secret.expose().to_owned(), view: of_key(issued.key) }
}
