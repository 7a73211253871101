//! Begins and cancels recoveries. A worker advances them.

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, RecoveryId};
use postgres::StoreError;

use crate::domain::{Recovery, RecoveryState};
use crate::state::State;
use crate::store;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RecoverError {
    #[error("the business has no such endpoint")]
    NoEndpoint,
    #[error("the endpoint has no such recovery")]
    NotFound,
    #[error("another recovery of this endpoint is running")]
    UnderWay,
    #[error("the recovery is already completed")]
    Completed,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// # Errors
/// When there is no such endpoint, or another recovery of it is running.
pub(crate) async fn begin_recovery(
    state: &State,
    business: BusinessId,
    endpoint: EndpointId,
    span: (DateTime<Utc>, DateTime<Utc>),
) -> Result<Recovery, RecoverError> {
    let id = RecoveryId::generate(&state.unit.clock, &state.unit.entropy);
    let recovery = state
        .unit
        .database
        .transaction(async |conn| {
            if store::find_endpoint(conn, business, endpoint).await?.is_none() {
                return Err(RecoverError::NoEndpoint);
            }
            let now = store::now(conn).await?;
            let begun = store::begin_recovery(conn, (business, endpoint), id, span, now).await?;
            let begun = begun.ok_or(RecoverError::UnderWay)?;
            // Deliveries that are still pending are not part of the recovery, but get their next attempt now, or after the
            // one in flight. First those in flight: an outcome that is stored meanwhile leaves a retry to bring forward.
            store::request_unless_received(conn, business, endpoint).await?;
            store::bring_forward_endpoint(conn, &endpoint.to_string(), now).await?;
            Ok(begun)
        })
        .await?;
    state.sender.wake_for((endpoint, business));
    tracing::info!(
        business_id = %business, endpoint_id = %endpoint, recovery_id = %id, total = recovery.total,
        "recovery begun"
    );
    Ok(recovery)
}

/// Deliveries that are with the senders are still sent. Idempotent.
///
/// # Errors
/// When there is no such recovery, or it is completed.
pub(crate) async fn cancel_recovery(
    state: &State,
    business: BusinessId,
    endpoint: EndpointId,
    id: RecoveryId,
) -> Result<Recovery, RecoverError> {
    state
        .unit
        .database
        .transaction(async |conn| {
            if store::find_recovery(conn, business, endpoint, id).await?.is_none() {
                return Err(RecoverError::NotFound);
            }
            let now = store::now(conn).await?;
            store::end_recovery(conn, business, id, RecoveryState::Cancelled, now).await?;
            let ended = store::find_recovery(conn, business, endpoint, id).await?;
            let ended = ended.ok_or(RecoverError::NotFound)?;
            if ended.state == RecoveryState::Completed { Err(RecoverError::Completed) } else { Ok(ended) }
        })
        .await
}
