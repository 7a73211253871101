//! Finishing what was left pending: top-ups that a crash left between two steps, and those whose payment the provider
//! told us of in vain. The provider is asked how they stand, ever more seldom, for a week.

use std::sync::Arc;
use std::time::Duration;

use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use super::confirm_top_up::confirm;
use super::top_up::{TopUpError, give_up};
use crate::app::State;
use crate::domain::{TopUp, next_check};
use crate::store;

const INTERVAL: Duration = Duration::from_secs(2);
/// Looked up in one round, one after the other.
const BATCH: i64 = 20;

/// Looks for such top-ups until the service stops.
pub(crate) async fn finish_top_ups(state: Arc<State>, stop: CancellationToken) {
    let mut failing = false;
    while stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await.is_some() {
        match finish_round(&state).await {
            Ok(()) => failing = false,
            Err(error) if !failing => {
                tracing::warn!(%error, "pending top-ups cannot be looked up yet");
                failing = true;
            }
            Err(_) => {}
        }
    }
}

async fn finish_round(state: &State) -> Result<(), StoreError> {
    let now = state.clock.now();
    let due = state
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
    let over = next_check(state.clock.now() - top_up.created_at).is_none();
    // What another provider was to collect cannot be asked of this one.
    let found =
        if top_up.provider == state.provider.name() { state.provider.payment(top_up).await? } else { None };
    match found {
        Some(payment) => {
            confirm(state, top_up, &payment).await?;
        }
        None if over => {
            give_up(state, top_up).await?;
            tracing::info!(top_up = %top_up.id, business_id = %top_up.business, "a top-up that nobody paid is given up");
        }
        None => {}
    }
    Ok(())
}
