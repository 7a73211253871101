//! An event that its endpoint does not take, while it takes others, must not hold up its order for good.

use postgres::StoreError;

use super::BATCH_MAX;
use crate::app::App;
use crate::store;

pub(super) async fn step_aside(app: &App) -> Result<(), StoreError> {
    let now = app.clock.now();
    let since = now - app.patience.step_aside;
    let stepped =
        app.database.transaction(async |conn| store::step_aside(conn, since, now, BATCH_MAX).await).await?;
    for one in &stepped {
        metrics::counter!("webhook_skipped_total").increment(1);
        tracing::warn!(
            delivery_id = %one.delivery,
            endpoint_id = %one.queue.endpoint,
            order_id = %one.queue.order,
            "an event that its endpoint does not take lets later ones of its order pass"
        );
    }
    if !stepped.is_empty() {
        app.bell.notify_one();
    }
    Ok(())
}
