//! Replaces a key. The old key works until the end of a grace period, so that its users can switch.

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, Mode, UserId};
use postgres::StoreError;

use super::{IssuedKey, NewKey, announce_revoked};
use crate::domain::{Grace, WORKING_KEYS_MAX};
use crate::state::State;
use crate::store;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RotateError {
    #[error("the business has no such key")]
    NotFound,
    #[error("the key is revoked or expired and cannot be rotated")]
    Revoked,
    #[error("the key was rotated already")]
    AlreadyRotated,
    #[error("the business has the maximum number of working {0} keys")]
    TooManyKeys(Mode),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A wanted successor.
pub(crate) struct Rotation {
    pub(crate) grace: Grace,
    /// Replaces the end of the old key.
    pub(crate) expires_at: Option<DateTime<Utc>>,
    /// The user who rotates. If the caller names none, the creator of the old key remains.
    pub(crate) rotated_by: Option<UserId>,
}

/// Issues a successor with the same mode, name and options. Its creator is the user who rotates, because only they have seen it.
/// Without a grace period the old key is revoked in the same transaction.
///
/// # Errors
/// When the business has no such key, the key is revoked or already rotated, or both keys together would exceed the
/// maximum.
pub(crate) async fn rotate(
    state: &State,
    business: BusinessId,
    id: ApiKeyId,
    Rotation { grace, expires_at, rotated_by }: Rotation,
) -> Result<IssuedKey, RotateError> {
    let unit = &state.unit;
    let issued = unit
        .transaction(async |conn| {
            store::lock_business(conn, business).await?;
            let old = store::find_for_update(conn, business, id).await?.ok_or(RotateError::NotFound)?;
            let now = unit.clock.now();
            if !old.works_at(now) {
                return Err(RotateError::Revoked);
            }
            if !store::rotated_among(conn, business, &[id]).await?.is_empty() {
                return Err(RotateError::AlreadyRotated);
            }
            if grace.is_none() {
                store::set_revoked(conn, business, id, now).await?;
                announce_revoked(conn, unit, std::slice::from_ref(&old), now).await?;
            } else {
                let end = now + grace.duration();
                let end = old.expires_at.map_or(end, |own| own.min(end));
                store::set_expiry(conn, business, id, end).await?;
            }
            if store::count_working(conn, business, old.mode, now).await? >= WORKING_KEYS_MAX {
                return Err(RotateError::TooManyKeys(old.mode));
            }
            let successor = NewKey {
                business,
                mode: old.mode,
                name: old.name,
                created_by: rotated_by.or(old.created_by),
                expires_at: expires_at.or(old.expires_at),
                restrictions: old.restrictions,
            };
            let issued = IssuedKey::generate(state, successor, Some(id));
            store::insert(conn, &issued.key, &issued.hash(state)).await?;
            Ok(issued)
        })
        .await?;
    tracing::info!(business_id = %business, key_id = %id, successor = %issued.key.id, "key rotated");
    Ok(issued)
}
