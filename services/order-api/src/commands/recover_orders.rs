//! Recovers orders that a crash left before the end of their payment. Voiding the debit decides the end: if it was
//! posted, the order is placed; otherwise it can never be posted, and the order is released.

use std::collections::HashSet;

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::BusinessId;
use internal_api::CallError;
use internal_api::wallet::DebitOutcome;
use postgres::StoreError;
use tracing::Instrument;

use super::settlement::{call_void, settle};
use crate::domain::{ExistingOrder, Postponed};
use crate::state::State;
use crate::store::existing_orders;

/// Longer than the deadline of any request, so that recovery does not void an active payment.
const ABANDONED_AFTER: TimeDelta = TimeDelta::seconds(6);
const BATCH: i64 = 100;
/// When the wallet answers for none of this many businesses, it counts as unreachable. With fewer, the failure may
/// concern only these businesses.
const UNANSWERED_MAX: usize = 3;

#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
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

/// Recovers one batch, oldest first.
///
/// # Errors
/// When the wallet or the database is unreachable.
pub async fn recover_orders(state: &State, postponed: &mut Postponed) -> Result<(), RecoverError> {
    let outcome = recover_batch(state, postponed).await;
    report_refused(postponed, state.unit.clock.now());
    outcome
}

async fn recover_batch(state: &State, postponed: &mut Postponed) -> Result<(), RecoverError> {
    let clock = &state.unit.clock;
    postponed.remove_expired(clock.now());
    let abandoned = find_abandoned(state, clock.now(), postponed).await?;
    let (mut has_answered, mut unanswered, mut failure) = (false, HashSet::<BusinessId>::new(), None);
    for order in &abandoned {
        if unanswered.contains(&order.business_id) {
            postponed.skipped(order.order_id, clock.now());
            continue;
        }
        match recover_traced(state, order).await {
            Ok(()) => {
                postponed.recovered(order.order_id);
                has_answered = true;
            }
            Err(error) if error.is_refusal() => {
                tracing::error!(order_id = %order.order_id, %error, "order recovery was refused");
                postponed.refused(order.order_id, clock.now());
                has_answered = true;
            }
            Err(error @ RecoverError::Store(_)) => return Err(error),
            Err(error) => {
                postponed.unanswered(order.order_id, clock.now());
                unanswered.insert(order.business_id);
                failure = Some(error);
                if !has_answered && unanswered.len() == UNANSWERED_MAX {
                    break;
                }
            }
        }
    }
    failure.filter(|_| !has_answered).map_or(Ok(()), Err)
}

/// The next orders to recover. Also publishes how many orders wait for their payment.
async fn find_abandoned(
    state: &State,
    now: DateTime<Utc>,
    postponed: &Postponed,
) -> Result<Vec<ExistingOrder>, StoreError> {
    let before = now - ABANDONED_AFTER;
    let find = async |conn: &mut AsyncPgConnection| -> Result<_, StoreError> {
        let abandoned = existing_orders::pending_since(conn, before, postponed.active(now), BATCH).await?;
        Ok((abandoned, existing_orders::count_pending(conn).await?))
    };
    let (abandoned, (pending, oldest)) = state.unit.database.transaction(find).await?;
    let age = oldest.map_or(TimeDelta::zero(), |oldest| now - oldest);
    metrics::gauge!("orders_pending_payment").set(precise(pending));
    metrics::gauge!("orders_pending_payment_oldest_age_seconds").set(age.as_seconds_f64().max(0.0));
    Ok(abandoned)
}

async fn recover_traced(state: &State, order: &ExistingOrder) -> Result<(), RecoverError> {
    let span = tracing::info_span!("recover", order_id = %order.order_id, trace_id = tracing::field::Empty);
    if let Some(trace_id) = telemetry::trace_id(&span) {
        span.record("trace_id", trace_id);
    }
    recover(state, order).instrument(span).await
}

async fn recover(state: &State, order: &ExistingOrder) -> Result<(), RecoverError> {
    let answer = call_void(state, order).await?;
    settle(state, order, &answer).await?;
    metrics::counter!("orders_recovered_total", "outcome" => answer.outcome.to_string()).increment(1);
    tracing::info!(order_id = %order.order_id, outcome = %answer.outcome, "recovered an abandoned order");
    Ok(())
}

fn report_refused(postponed: &Postponed, now: DateTime<Utc>) {
    let refused = u32::try_from(postponed.count_refused(now)).map_or(f64::MAX, f64::from);
    metrics::gauge!("orders_recovery_refused").set(refused);
}

/// Publishes 0 up front: alerts ignore absent series.
pub fn publish_zeros() {
    for outcome in [DebitOutcome::Posted, DebitOutcome::Rejected, DebitOutcome::Voided] {
        metrics::counter!("orders_recovered_total", "outcome" => outcome.to_string()).increment(0);
    }
    metrics::gauge!("orders_recovery_refused").set(0.0);
}

/// A count as a gauge's value; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^53")]
fn precise(count: i64) -> f64 {
    count as f64
}
