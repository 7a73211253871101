//! Makes the staged secret the current one before its time: the owner confirms that all receivers know it.

use domain::{BusinessId, EndpointId};
use postgres::StoreError;

use crate::domain::{EncryptedSecrets, Endpoint};
use crate::state::State;
use crate::store;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ActivateError {
    #[error("the business has no such endpoint")]
    NotFound,
    #[error("no secret is staged")]
    NothingStaged,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// # Errors
/// When there is no such endpoint, or no secret is staged any more.
pub(crate) async fn activate_secret(
    state: &State,
    business: BusinessId,
    id: EndpointId,
) -> Result<Endpoint, ActivateError> {
    let now = state.unit.clock.now();
    let endpoint = state
        .unit
        .database
        .transaction(async |conn| {
            let stored = store::lock_secrets(conn, business, id).await?.ok_or(ActivateError::NotFound)?;
            let staged = stored.at(now).next.ok_or(ActivateError::NothingStaged)?;
            store::write_secrets(conn, business, id, &EncryptedSecrets::without_staged(staged.secret))
                .await?;
            store::find_endpoint(conn, business, id).await?.ok_or(ActivateError::NotFound)
        })
        .await?;
    tracing::info!(business_id = %business, endpoint_id = %id, "staged signing secret activated");
    Ok(endpoint)
}
