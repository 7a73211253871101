//! Looks now and then for what nobody else comes by: deliveries of deleted endpoints, orders that wait for a missing
//! event, and events that were taken in long ago.

use std::time::{Duration, Instant};

use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::store;

const EVERY: Duration = Duration::from_secs(5);
/// This service publishes nothing, so that no relay looks after its inbox.
const PRUNE_INBOX_EVERY: Duration = Duration::from_secs(10 * 60);
/// At most this many in one statement.
const BATCH_MAX: i64 = 1_000;
/// Events cross the broker within seconds. One that is still waited for after this time may never come.
const PARKED_ALARM_SECONDS: f64 = 60.0;

pub(crate) async fn sweep(app: App, stop: CancellationToken) {
    let mut alarmed = false;
    let mut pruned_at = None::<Instant>;
    while tokio::time::timeout(EVERY, stop.cancelled()).await.is_err() {
        if let Err(error) = discard(&app, &stop).await {
            tracing::warn!(%error, "deliveries of deleted endpoints were not called off yet");
        }
        match watch_parked(&app).await {
            Ok((parked, age)) => {
                let alarm = age > PARKED_ALARM_SECONDS;
                if alarm && !alarmed {
                    tracing::error!(
                        parked,
                        age_seconds = age,
                        "events wait for predecessors that do not come"
                    );
                }
                alarmed = alarm;
            }
            Err(error) => tracing::warn!(%error, "parked events were not counted"),
        }
        if pruned_at.is_none_or(|at| at.elapsed() > PRUNE_INBOX_EVERY) {
            match outbox::prune_inbox(&app.database, &app.clock).await {
                Ok(()) => pruned_at = Some(Instant::now()),
                Err(error) => tracing::warn!(%error, "old events were not forgotten yet"),
            }
        }
    }
}

async fn discard(app: &App, stop: &CancellationToken) -> Result<(), StoreError> {
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

async fn watch_parked(app: &App) -> Result<(i64, f64), StoreError> {
    let (parked, since) = app.database.read(async |conn| store::parked_overview(conn).await).await?;
    let age = since.and_then(|since| (app.clock.now() - since).to_std().ok()).unwrap_or_default();
    let count = i32::try_from(parked).map_or(f64::MAX, f64::from);
    metrics::gauge!("webhook_parked_events").set(count);
    metrics::gauge!("webhook_parked_oldest_seconds").set(age.as_secs_f64());
    Ok((parked, age.as_secs_f64()))
}
