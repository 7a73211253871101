//! A new key takes a key's place; the old one goes on working for a grace, so that its holders can change over.

use domain::{ApiKeyId, BusinessId, Mode};
use postgres::StoreError;

use super::{IssuedKey, NewKey, announce_revoked};
use crate::app::App;
use crate::domain::{Grace, WORKING_KEYS_MAX};
use crate::store;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RotateError {
    #[error("the business has no such key")]
    NotFound,
    #[error("the key works no longer, so nothing can take its place")]
    Revoked,
    #[error("the key has its successor already")]
    AlreadyRotated,
    #[error("the business has as many working {0} keys as it may have")]
    TooManyKeys(Mode),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for RotateError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Issues a successor of the same mode and name. Without a grace the old key is revoked in the same transaction.
///
/// # Errors
/// When there is no such key, it works no longer, or it has a successor already; and when both keys together would be more
/// than a business may have.
pub(crate) async fn rotate(
    app: &App,
    business: BusinessId,
    id: ApiKeyId,
    grace: Grace,
) -> Result<IssuedKey, RotateError> {
    let issued = app
        .database
        .transaction(async |conn| {
            store::lock_business(conn, business).await?;
            let old = store::find_for_update(conn, business, id).await?.ok_or(RotateError::NotFound)?;
            let now = app.clock.now();
            if !old.works_at(now) {
                return Err(RotateError::Revoked);
            }
            if old.expires_at.is_some() {
                return Err(RotateError::AlreadyRotated);
            }
            if grace.is_none() {
                store::set_revoked(conn, business, id, now).await?;
                announce_revoked(conn, app, std::slice::from_ref(&old), now).await?;
            } else {
                store::set_expiry(conn, business, id, now + grace.duration()).await?;
            }
            if store::count_working(conn, business, old.mode, now).await? >= WORKING_KEYS_MAX {
                return Err(RotateError::TooManyKeys(old.mode));
            }
            let successor = NewKey { business, mode: old.mode, name: old.name };
            let issued = IssuedKey::generate(app, successor, Some(id));
            store::insert(conn, &issued.key, &app.hasher.hash(&issued.secret)).await?;
            Ok(issued)
        })
        .await?;
    app.notifier.notify();
    tracing::info!(business_id = %business, key_id = %id, successor = %issued.key.id, "a key was rotated");
    Ok(issued)
}
