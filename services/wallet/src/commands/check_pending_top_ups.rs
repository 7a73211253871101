//! Asks the provider about pending top-ups: those that a crash interrupted, and those whose webhook was lost. The queries
//! become rarer with the age of the top-up and end after a week.

use postgres::StoreError;

use super::apply_payment::apply_payment;
use super::top_up::{TopUpError, fail};
use crate::domain::{TopUp, next_check};
use crate::state::State;
use crate::store;

/// Top-ups per call, checked one after the other: one of each business.
const BATCH_MAX: i64 = 20;

/// Checks the top-ups that are due.
///
/// # Errors
/// When the database fails. A failed check of one top-up is only logged: it is due again later.
pub(crate) async fn check_pending_top_ups(state: &State) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    let due = state
        .unit
        .database
        .transaction(async |conn| {
            let due = store::top_ups::lock_due(conn, now, BATCH_MAX).await?;
            for top_up in &due {
                let pause = next_check(now - top_up.created_at).unwrap_or_default();
                store::top_ups::schedule_check(conn, top_up, now + pause).await?;
            }
            Ok::<_, StoreError>(due)
        })
        .await?;
    for top_up in &due {
        if let Err(error) = check(state, top_up).await {
            tracing::warn!(%error, top_up = %top_up.id, "check of a pending top-up failed");
        }
    }
    Ok(())
}

async fn check(state: &State, top_up: &TopUp) -> Result<(), TopUpError> {
    let is_last_check = next_check(state.unit.clock.now() - top_up.created_at).is_none();
    // Only the provider of a top-up knows it.
    let payment = match top_up.provider == state.provider.name() {
        true => state.provider.find_payment(top_up).await?,
        false => None,
    };
    match payment {
        Some(payment) => {
            apply_payment::<TopUpError>(state, top_up, &payment).await?;
        }
        None if is_last_check => {
            fail(&state.unit, top_up).await?;
            tracing::info!(top_up = %top_up.id, business_id = %top_up.business, "unpaid top-up expired");
        }
        None => {}
    }
    Ok(())
}
