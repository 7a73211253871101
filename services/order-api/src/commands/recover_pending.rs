//! Recovery: orders that a crash left between their intent and their end. Calling the debit off tells which end it is:
//! it was posted, so the order is placed, or it never will be, so the reference is free again.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::OrderId;
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
/// An order whose recovery is refused makes way for the others this long.
const REFUSED_PAUSE: TimeDelta = TimeDelta::minutes(1);
/// One about which the wallet does not answer, this long: it may be the order, or the wallet.
const UNANSWERED_PAUSE: TimeDelta = TimeDelta::seconds(5);
/// So many in a row, and the wallet is taken to be away.
const UNANSWERED_MAX: usize = 3;

#[derive(Debug, thiserror::Error)]
enum RecoverError {
    #[error(transparent)]
    Wallet(#[from] CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RecoverError {
    fn is_refusal(&self) -> bool {
        match self {
            Self::Wallet(error) => error.refusal_code().is_some(),
            Self::Store(error) => !error.is_unavailable(),
        }
    }
}

/// Orders that make way for the others. Few: a round adds a batch at most, and the pauses are short.
#[derive(Default)]
struct SetAside(HashMap<OrderId, Pause>);

struct Pause {
    until: DateTime<Utc>,
    is_refused: bool,
}

impl SetAside {
    fn add(&mut self, order: OrderId, now: DateTime<Utc>, is_refused: bool) {
        let pause = if is_refused { REFUSED_PAUSE } else { UNANSWERED_PAUSE };
        self.0.insert(order, Pause { until: now + pause, is_refused });
    }

    fn tell(&self) {
        let refused = self.0.values().filter(|pause| pause.is_refused).count();
        metrics::gauge!("orders_recovery_refused").set(u32::try_from(refused).map_or(f64::MAX, f64::from));
    }
}

/// Looks for such orders until the service stops.
pub async fn recover_pending(app: std::sync::Arc<App>, stop: CancellationToken) {
    // A counter that begins with what it counts hides that from whoever watches its increase.
    for outcome in [DebitOutcome::Posted, DebitOutcome::Rejected, DebitOutcome::Voided] {
        metrics::counter!("orders_recovered_total", "outcome" => outcome.to_string()).increment(0);
    }
    let (mut set_aside, mut failing) = (SetAside::default(), false);
    set_aside.tell();
    while stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await.is_some() {
        let round = recover_round(&app, &mut set_aside).await;
        set_aside.tell();
        match round {
            Ok(()) => failing = false,
            Err(error) if !failing => {
                tracing::warn!(%error, "orders that wait for their payment cannot be recovered yet");
                failing = true;
            }
            Err(_) => {}
        }
    }
}

async fn recover_round(app: &App, set_aside: &mut SetAside) -> Result<(), RecoverError> {
    let now = app.ambient.clock.now();
    set_aside.0.retain(|_, pause| pause.until > now);
    let left_behind = look(app, now, set_aside).await?;
    let mut unanswered = 0;
    for claim in &left_behind {
        let span =
            tracing::info_span!("recover", order_id = %claim.order_id, trace_id = tracing::field::Empty);
        if let Some(trace_id) = telemetry::trace_id(&span) {
            span.record("trace_id", trace_id);
        }
        match recover(app, claim).instrument(span).await {
            Ok(()) => unanswered = 0,
            Err(error @ RecoverError::Store(_)) if !error.is_refusal() => return Err(error),
            Err(error) if error.is_refusal() => {
                tracing::error!(order_id = %claim.order_id, %error, "the recovery of an order was refused");
                set_aside.add(claim.order_id, now, true);
            }
            Err(error) => {
                set_aside.add(claim.order_id, now, false);
                unanswered += 1;
                if unanswered == UNANSWERED_MAX {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// What recovery should do next, and what shows of it.
async fn look(app: &App, now: DateTime<Utc>, set_aside: &SetAside) -> Result<Vec<Claim>, StoreError> {
    let before = now - LEFT_BEHIND_AFTER;
    let mut conn = app.database.connection().await?;
    let left_behind = claims::pending_since(&mut conn, before, set_aside.0.keys(), BATCH).await?;
    let (pending, oldest) = claims::pending_orders(&mut conn).await?;
    let age = oldest.map_or(TimeDelta::zero(), |oldest| now - oldest);
    metrics::gauge!("orders_pending_payment").set(precise(pending));
    metrics::gauge!("orders_pending_payment_oldest_seconds").set(age.as_seconds_f64().max(0.0));
    Ok(left_behind)
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
