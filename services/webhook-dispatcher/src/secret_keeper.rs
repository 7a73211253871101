//! Tidies up after rotations, and tells an operator in time of secrets that no key of this process opens.

use std::time::{Duration, Instant};

use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::store;

/// Nothing waits for it: who signs goes by the clock.
const EVERY: Duration = Duration::from_secs(60);
/// While the database has not been reached yet.
const AGAIN: Duration = Duration::from_secs(2);
const COUNT_EVERY: Duration = Duration::from_secs(10 * 60);
/// In one statement.
const BATCH_MAX: i64 = 500;

pub(crate) async fn keep(app: App, stop: CancellationToken) {
    let mut counted_at = None::<Instant>;
    let mut pause = Duration::ZERO;
    while tokio::time::timeout(pause, stop.cancelled()).await.is_err() {
        pause = EVERY;
        if let Err(error) = fold(&app, &stop).await {
            tracing::warn!(%error, "rotated secrets were not put into their place yet");
        }
        if counted_at.is_none_or(|at| at.elapsed() > COUNT_EVERY) {
            match count_unreadable(&app).await {
                Ok(()) => counted_at = Some(Instant::now()),
                Err(error) => {
                    tracing::warn!(%error, "signing secrets were not looked through yet");
                    pause = AGAIN;
                }
            }
        }
    }
}

async fn fold(app: &App, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let now = app.clock.now();
        let folded = app.database.read(async |conn| store::fold_secrets(conn, now, BATCH_MAX).await).await?;
        if folded == 0 {
            break;
        }
        tracing::info!(folded, "rotated secrets were put into their place");
    }
    Ok(())
}

/// Their webhooks wait; see `WAYBILL_SECRETS__PREVIOUS_KEYS`.
async fn count_unreadable(app: &App) -> Result<(), StoreError> {
    let keys = app.secrets.key_ids();
    let endpoints = app.database.read(async |conn| store::count_sealed_otherwise(conn, &keys).await).await?;
    metrics::gauge!("webhook_endpoints_with_unreadable_secret")
        .set(i32::try_from(endpoints).map_or(f64::MAX, f64::from));
    if endpoints > 0 {
        tracing::warn!(
            endpoints,
            "signing secrets are encrypted with a key that is neither WAYBILL_SECRETS__KEY nor one of \
             WAYBILL_SECRETS__PREVIOUS_KEYS; their webhooks wait"
        );
    }
    Ok(())
}
