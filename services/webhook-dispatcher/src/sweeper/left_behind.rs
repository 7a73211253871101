//! Deliveries whose endpoint is not sent to any more: called off when it was deleted, parked while it is disabled, and
//! then replayed or discarded, as its owner wants.

use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use super::BATCH_MAX;
use crate::app::App;
use crate::store;

pub(super) async fn by_deleted(app: &App, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let now = app.clock.now();
        let discarded =
            app.database.read(async |conn| store::discard_of_deleted(conn, now, BATCH_MAX).await).await?;
        if discarded == 0 {
            break;
        }
        tracing::info!(discarded, "deliveries of deleted endpoints were called off");
    }
    Ok(())
}

pub(super) async fn by_disabled(app: &App, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let parked = app.database.read(async |conn| store::park_of_disabled(conn, BATCH_MAX).await).await?;
        if parked == 0 {
            break;
        }
        tracing::info!(parked, "deliveries of disabled endpoints were parked");
    }
    Ok(())
}

/// A little at a time, so that what is new is not kept waiting behind all that was parked.
pub(super) async fn parked(app: &App, stop: &CancellationToken) -> Result<(), StoreError> {
    let mut replayed = 0;
    while !stop.is_cancelled() {
        let now = app.clock.now();
        let batch =
            app.database.transaction(async |conn| store::replay_parked(conn, now, BATCH_MAX).await).await?;
        if batch == 0 {
            break;
        }
        replayed += batch;
        app.bell.notify_one();
    }
    let now = app.clock.now();
    let discarded =
        app.database.transaction(async |conn| store::discard_parked(conn, now, BATCH_MAX).await).await?;
    if discarded > 0 {
        app.bell.notify_one();
    }
    app.database.read(async |conn| store::forget_fates(conn).await).await?;
    if replayed + discarded > 0 {
        tracing::info!(replayed, discarded, "parked deliveries were taken up again, or discarded");
    }
    Ok(())
}
