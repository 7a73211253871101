//! Recovery: orders that a crash left between their intent and their end. Calling the debit off tells which end it is:
//! it was posted, so the order is placed, or it never will be, so the reference is free again.

use std::time::Duration;

use chrono::TimeDelta;
use internal_api::CallError;
use internal_api::wallet::{DebitOutcome, DebitRequest};
use postgres::StoreError;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::create_order::settle;
use crate::app::App;
use crate::domain::Claim;
use crate::store::claims;

const INTERVAL: Duration = Duration::from_secs(1);
/// Longer than any request drives its order, so that recovery does not call off what is well under way.
const LEFT_BEHIND_AFTER: TimeDelta = TimeDelta::seconds(6);
const BATCH: i64 = 100;

#[derive(Debug, thiserror::Error)]
enum RecoverError {
    #[error(transparent)]
    Wallet(#[from] CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Looks for such orders until the service stops.
pub async fn recover_pending(app: std::sync::Arc<App>, stop: CancellationToken) {
    // A counter that begins with what it counts hides that from whoever watches its increase.
    for outcome in [DebitOutcome::Posted, DebitOutcome::Rejected, DebitOutcome::Voided] {
        metrics::counter!("orders_recovered_total", "outcome" => outcome.to_string()).increment(0);
    }
    let mut failing = false;
    while stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await.is_some() {
        match recover_round(&app).await {
            Ok(()) => failing = false,
            Err(error) if !failing => {
                tracing::warn!(%error, "orders that wait for their payment cannot be recovered yet");
                failing = true;
            }
            Err(_) => {}
        }
    }
}

async fn recover_round(app: &App) -> Result<(), RecoverError> {
    let now = app.ambient.clock.now();
    let before = now - LEFT_BEHIND_AFTER;
    let mut conn = app.database.connection().await?;
    let left_behind = claims::pending_since(&mut conn, before, BATCH).await?;
    let (pending, oldest) = claims::pending_orders(&mut conn).await?;
    drop(conn);
    let age = oldest.map_or(TimeDelta::zero(), |oldest| now - oldest);
    metrics::gauge!("orders_pending_payment").set(precise(pending));
    metrics::gauge!("orders_pending_payment_oldest_seconds").set(age.as_seconds_f64().max(0.0));
    for claim in &left_behind {
        let span =
            tracing::info_span!("recover", order_id = %claim.order_id, trace_id = tracing::field::Empty);
        if let Some(trace_id) = telemetry::trace_id(&span) {
            span.record("trace_id", trace_id);
        }
        recover(app, claim).instrument(span).await?;
    }
    Ok(())
}

async fn recover(app: &App, claim: &Claim) -> Result<(), RecoverError> {
    let request = DebitRequest { business_id: claim.business_id, amount_paise: claim.delivery_fee };
    let answer = app.wallet.void(claim.order_id, claim.attempt, &request).await?;
    settle(app, claim, answer.outcome).await?;
    metrics::counter!("orders_recovered_total", "outcome" => answer.outcome.to_string()).increment(1);
    tracing::info!(order_id = %claim.order_id, outcome = %answer.outcome, "recovered an order left between two steps");
    Ok(())
}

/// A count as a gauge's value; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^53")]
fn precise(count: i64) -> f64 {
    count as f64
}
