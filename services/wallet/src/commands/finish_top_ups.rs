//! Finishing what was left pending: top-ups that a crash left between two steps, and those whose payment the provider
//! told us of in vain. The provider is asked how they stand, ever more seldom, for a week.

use postgres::StoreError;

use super::confirm_top_up::confirm;
use super::top_up::{TopUpError, abandon};
use crate::domain::{TopUp, next_check};
use crate::state::State;
use crate::store;

/// Looked up in one round, one after the other.
const BATCH: i64 = 20;

pub(crate) async fn finish_top_ups(state: &State) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    let due = state
        .unit
        .database
        .transaction(async |conn| {
            let due = store::top_ups::lock_due(conn, now, BATCH).await?;
            for top_up in &due {
                let pause = next_check(now - top_up.created_at).unwrap_or_default();
                store::top_ups::check_again_at(conn, top_up, now + pause).await?;
            }
            Ok::<_, StoreError>(due)
        })
        .await?;
    for top_up in &due {
        // One that cannot be finished now is due again later.
        if let Err(error) = finish(state, top_up).await {
            tracing::warn!(%error, top_up = %top_up.id, "a pending top-up could not be finished");
        }
    }
    Ok(())
}

async fn finish(state: &State, top_up: &TopUp) -> Result<(), TopUpError> {
    let over = next_check(state.unit.clock.now() - top_up.created_at).is_none();
    // What another provider was to collect cannot be asked of this one.
    let found =
        if top_up.provider == state.provider.name() { state.provider.payment(top_up).await? } else { None };
    match found {
        Some(payment) => {
            confirm(state, top_up, &payment).await?;
        }
        None if over => {
            abandon(state, top_up).await?;
            tracing::info!(top_up = %top_up.id, business_id = %top_up.business, "a top-up that nobody paid is given up");
        }
        None => {}
    }
    Ok(())
}
