//! A new key. Whether a business may have a live one (`spec.md` §3.2) is decided by portal-api, which owns the go-live
//! facts, before it asks for the key here.

use domain::{BusinessId, Mode};
use postgres::StoreError;

use super::IssuedKey;
use crate::app::App;
use crate::domain::WORKING_KEYS_MAX;
use crate::store;

/// What is to be created.
#[derive(Clone, Debug)]
pub(crate) struct NewKey {
    pub business: BusinessId,
    pub mode: Mode,
    pub name: String,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CreateError {
    #[error("the business has as many working {0} keys as it may have")]
    TooManyKeys(Mode),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for CreateError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// # Errors
/// When the business has its fill of working keys.
pub(crate) async fn create(app: &App, new: NewKey) -> Result<IssuedKey, CreateError> {
    let issued = IssuedKey::generate(app, new, None);
    let (key, hash) = (&issued.key, app.hasher.hash(&issued.secret));
    app.database
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
    tracing::info!(business_id = %key.business_id, key_id = %key.id, mode = %key.mode, "a key was created");
    Ok(issued)
}
