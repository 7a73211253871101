//! What an endpoint missed is to be sent again, as a job that goes on by itself; or no longer.

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, RecoveryId};
use internal_api::webhooks::RecoveryState;
use postgres::StoreError;

use crate::app::App;
use crate::domain::Recovery;
use crate::store;

/// Why no job was begun, or none cancelled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecoverError {
    #[error("the business has no such endpoint")]
    NoEndpoint,
    #[error("the endpoint has no such recovery")]
    NotFound,
    #[error("another recovery runs for this endpoint")]
    UnderWay,
    #[error("the recovery has come to its end")]
    Completed,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for RecoverError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// # Errors
/// When there is no such endpoint, or a job runs for it.
pub(crate) async fn begin_recovery(
    app: &App,
    business: BusinessId,
    endpoint: EndpointId,
    span: (DateTime<Utc>, DateTime<Utc>),
) -> Result<Recovery, RecoverError> {
    let now = app.clock.now();
    let id = RecoveryId::generate(&app.clock, &app.entropy);
    let recovery = app
        .database
        .transaction(async |conn| {
            if store::find_endpoint(conn, business, endpoint).await?.is_none() {
                return Err(RecoverError::NoEndpoint);
            }
            let begun = store::begin_recovery(conn, (business, endpoint), id, span, now).await?;
            let begun = begun.ok_or(RecoverError::UnderWay)?;
            // What is still being tried is no part of the job; its next attempt need not wait any longer.
            store::bring_forward_all(conn, &endpoint.to_string(), now).await?;
            Ok(begun)
        })
        .await?;
    app.bell.notify_one();
    tracing::info!(
        business_id = %business, endpoint_id = %endpoint, recovery_id = %id, total = recovery.total,
        "a recovery was begun"
    );
    Ok(recovery)
}

/// What was handed to the senders already stays with them. Cancelling twice is cancelling once.
///
/// # Errors
/// When there is no such job, or it has come to its end.
pub(crate) async fn cancel_recovery(
    app: &App,
    business: BusinessId,
    endpoint: EndpointId,
    id: RecoveryId,
) -> Result<Recovery, RecoverError> {
    let now = app.clock.now();
    app.database
        .transaction(async |conn| {
            if store::find_recovery(conn, business, endpoint, id).await?.is_none() {
                return Err(RecoverError::NotFound);
            }
            store::end_recovery(conn, business, id, RecoveryState::Cancelled, now).await?;
            let ended = store::find_recovery(conn, business, endpoint, id).await?;
            let ended = ended.ok_or(RecoverError::NotFound)?;
            if ended.state == RecoveryState::Completed { Err(RecoverError::Completed) } else { Ok(ended) }
        })
        .await
}
