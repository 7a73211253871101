//! The staged secret becomes the one, before its time: its owner says that all receivers know it.

use domain::{BusinessId, EndpointId};
use postgres::StoreError;

use crate::app::App;
use crate::domain::Endpoint;
use crate::secrets::SealedSecrets;
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

impl From<diesel::result::Error> for ActivateError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// # Errors
/// When there is no such endpoint, or no secret is staged, or its time has come already.
pub(crate) async fn activate_secret(
    app: &App,
    business: BusinessId,
    id: EndpointId,
) -> Result<Endpoint, ActivateError> {
    let now = app.clock.now();
    let endpoint = app
        .database
        .transaction(async |conn| {
            let stored = store::lock_secrets(conn, business, id).await?.ok_or(ActivateError::NotFound)?;
            let staged = stored.at(now).next.ok_or(ActivateError::NothingStaged)?;
            store::write_secrets(conn, business, id, &SealedSecrets::only(staged.secret)).await?;
            store::find_endpoint(conn, business, id).await?.ok_or(ActivateError::NotFound)
        })
        .await?;
    tracing::info!(business_id = %business, endpoint_id = %id, "a staged signing secret was activated");
    Ok(endpoint)
}
