//! Decides whether parked deliveries are replayed or discarded. The sweeper carries out the decision.

use domain::{BusinessId, EndpointId};
use postgres::StoreError;

use crate::domain::{Endpoint, ParkedDecision};
use crate::state::State;
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

/// # Errors
/// When there is no such endpoint, or a replay is requested while it is disabled.
pub(crate) async fn decide_on_parked(
    state: &State,
    business: BusinessId,
    id: EndpointId,
    decision: ParkedDecision,
) -> Result<Endpoint, ParkedError> {
    let endpoint = state
        .unit
        .database
        .transaction(async |conn| {
            let endpoint = store::find_endpoint(conn, business, id).await?.ok_or(ParkedError::NotFound)?;
            if endpoint.facts.disabled && decision == ParkedDecision::Replay {
                return Err(ParkedError::Disabled);
            }
            if endpoint.facts.disabled {
                store::park_for_endpoint(conn, business, id).await?;
            }
            store::set_parked_decision(conn, business, id, decision).await?;
            Ok(endpoint)
        })
        .await?;
    tracing::info!(business_id = %business, endpoint_id = %id, ?decision, "owner decided on parked deliveries");
    Ok(endpoint)
}
