//! Looks now and then for what nobody else comes by: what deleted and disabled endpoints leave behind, events that hold
//! up their order, endpoints that only fail, and orders that wait for a missing event. Several instances may do so at the same time.

mod failing;
mod left_behind;
mod stuck;
mod watch;

use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::app::App;

/// At most this many in one statement.
const BATCH_MAX: i64 = 1_000;

pub(crate) async fn sweep(app: App, stop: CancellationToken) {
    let mut watch = watch::Watch::default();
    while tokio::time::timeout(app.patience.sweep, stop.cancelled()).await.is_err() {
        report("of deleted endpoints", left_behind::by_deleted(&app, &stop).await);
        report("of disabled endpoints", left_behind::by_disabled(&app, &stop).await);
        report("that were parked", left_behind::parked(&app, &stop).await);
        report("that hold up their order", stuck::step_aside(&app).await);
        report("of endpoints that only fail", failing::warn_and_disable(&app).await);
        report("that wait", watch.look(&app).await);
    }
}

/// Each chore is tried again the next time.
fn report(which: &'static str, outcome: Result<(), StoreError>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, which, "webhooks were not looked after this time");
    }
}
