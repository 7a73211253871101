//! Creates a key. portal-api owns the go-live facts and decides beforehand whether a business may have a live key
//! (SPECIFICATION §3.2).

use chrono::{DateTime, Utc};
use domain::{BusinessId, KeyRestrictions, Mode, UserId};
use postgres::StoreError;

use super::IssuedKey;
use crate::domain::WORKING_KEYS_MAX;
use crate::state::State;
use crate::store;

#[derive(Clone, Debug)]
pub(crate) struct NewKey {
    pub business: BusinessId,
    pub mode: Mode,
    pub name: String,
    pub created_by: Option<UserId>,
    pub expires_at: Option<DateTime<Utc>>,
    pub restrictions: KeyRestrictions,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CreateError {
    #[error("the business has the maximum number of working {0} keys")]
    TooManyKeys(Mode),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// # Errors
/// When the business has the maximum number of working keys.
pub(crate) async fn create(state: &State, new: NewKey) -> Result<IssuedKey, CreateError> {
    let issued = IssuedKey::generate(state, new, None);
    let (key, hash) = (&issued.key, issued.hash(state));
    state
        .unit
        .database
        .transaction(async |conn| {
            store::lock_business(conn, key.business_id).await?;
            let working = store::count_working(conn, key.business_id, key.mode, key.created_at).await?;
            if working >= WORKING_KEYS_MAX {
                return Err(CreateError::TooManyKeys(key.mode));
            }
            store::insert(conn, key, &hash).await?;
            Ok(())
        })
        .await?;
    tracing::info!(business_id = %key.business_id, key_id = %key.id, mode = %key.mode, "key created");
    Ok(issued)
}
