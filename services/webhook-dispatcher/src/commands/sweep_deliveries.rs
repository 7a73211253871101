//! Deliveries whose endpoint receives no webhooks are discarded if it was deleted, and parked while it is disabled.
//! Parked deliveries are replayed or discarded as the owner decides. Deliveries that block their order are skipped.

use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::state::State;
use crate::store;

/// Deliveries per statement.
const BATCH_MAX: i64 = 1_000;

/// # Errors
/// When the database is unreachable.
pub(crate) async fn discard_for_deleted_endpoints(
    state: &State,
    stop: &CancellationToken,
) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let discard = async |conn: &mut _| store::discard_for_deleted_endpoints(conn, BATCH_MAX).await;
        let discarded = state.unit.database.read(discard).await?;
        if discarded == 0 {
            break;
        }
        tracing::info!(discarded, "deliveries of deleted endpoints discarded");
    }
    Ok(())
}

/// # Errors
/// When the database is unreachable.
pub(crate) async fn park_for_disabled_endpoints(
    state: &State,
    stop: &CancellationToken,
) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let park = async |conn: &mut _| store::park_for_disabled_endpoints(conn, BATCH_MAX).await;
        let parked = state.unit.database.read(park).await?;
        if parked == 0 {
            break;
        }
        tracing::info!(parked, "deliveries of disabled endpoints parked");
    }
    Ok(())
}

/// Works in small batches, so that new deliveries do not wait behind all parked ones.
///
/// # Errors
/// When the database is unreachable.
pub(crate) async fn resolve_parked(state: &State, stop: &CancellationToken) -> Result<(), StoreError> {
    let database = &state.unit.database;
    let mut replayed = 0;
    while !stop.is_cancelled() {
        let batch = database.transaction(async |conn| store::replay_parked(conn, BATCH_MAX).await).await?;
        if batch == 0 {
            break;
        }
        replayed += batch;
        state.sender.wake();
    }
    let discarded = database.transaction(async |conn| store::discard_parked(conn, BATCH_MAX).await).await?;
    if discarded > 0 {
        state.sender.wake();
    }
    database.read(async |conn| store::clear_parked_decisions(conn).await).await?;
    if replayed + discarded > 0 {
        tracing::info!(replayed, discarded, "parked deliveries resolved");
    }
    Ok(())
}

/// An event that its endpoint refuses, while it accepts others, must not block its order forever.
///
/// # Errors
/// When the database is unreachable.
pub(crate) async fn skip_blocking(state: &State) -> Result<(), StoreError> {
    let skip_after = state.skip_after;
    let skipped = state
        .unit
        .database
        .transaction(async |conn| store::skip_blocking(conn, skip_after, BATCH_MAX).await)
        .await?;
    for one in &skipped {
        metrics::counter!("webhook_skipped_total").increment(1);
        tracing::warn!(
            delivery_id = %one.delivery,
            endpoint_id = %one.queue.endpoint,
            order_id = %one.queue.order,
            "delivery skipped: its endpoint refuses this event and accepts others"
        );
    }
    if !skipped.is_empty() {
        state.sender.wake();
    }
    Ok(())
}
