//! What was parked while an endpoint was disabled is sent after all, or discarded; a little at a time, by the sweeper.

use domain::{BusinessId, EndpointId};
use postgres::StoreError;

use crate::app::App;
use crate::domain::{Endpoint, ParkedFate};
use crate::store;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ParkedError {
    #[error("the business has no such endpoint")]
    NotFound,
    #[error("the endpoint is still disabled")]
    Disabled,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for ParkedError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// # Errors
/// When there is no such endpoint, or it is to be sent what is parked while it is disabled.
pub(crate) async fn decide_parked(
    app: &App,
    business: BusinessId,
    id: EndpointId,
    fate: ParkedFate,
) -> Result<Endpoint, ParkedError> {
    let endpoint = app
        .database
        .transaction(async |conn| {
            let endpoint = store::find_endpoint(conn, business, id).await?.ok_or(ParkedError::NotFound)?;
            if endpoint.facts.disabled && fate == ParkedFate::Replay {
                return Err(ParkedError::Disabled);
            }
            if endpoint.facts.disabled {
                store::park_of(conn, business, id).await?;
            }
            store::decide_parked(conn, business, id, fate).await?;
            Ok(endpoint)
        })
        .await?;
    tracing::info!(business_id = %business, endpoint_id = %id, ?fate, "an owner decided on what is parked");
    Ok(endpoint)
}
