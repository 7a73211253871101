//! Records a go-live fact: from an event, from a call that caused it, or as reported by the service that owns it.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, EventId, Paise};
use postgres::StoreError;

use crate::business::domain::GoLiveFact;
use crate::commands::announce::announce_business_change;
use crate::state::State;
use crate::store::go_live::{self, Recorded};

/// The inbox stores processed events under this name.
const CONSUMER: &str = "portal-api.facts";

/// Records the fact, and announces it if it is new. Does nothing for an unknown business.
pub(crate) async fn record_go_live_fact(
    state: &State,
    business: BusinessId,
    fact: GoLiveFact,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let recorded = state.unit.transaction(async |conn| record(conn, state, business, fact, at).await).await?;
    log_if_new(business, fact, recorded);
    Ok(())
}

/// Records that money has reached the wallet. A failure is only logged: the payment succeeded, and its event will record the
/// fact.
pub(crate) async fn record_funding(state: &State, business: BusinessId, amount: Paise) {
    if amount <= Paise::ZERO {
        return;
    }
    let now = state.unit.clock.now();
    if let Err(error) = record_go_live_fact(state, business, GoLiveFact::WalletFunded, now).await {
        tracing::warn!(%error, business_id = %business, "recording the funding failed: its event will record it");
    }
}

/// As [`record_go_live_fact`], once per event. False for an unknown business.
pub(crate) async fn record_from_event(
    state: &State,
    event: EventId,
    business: BusinessId,
    fact: GoLiveFact,
    at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let outcome: Result<_, StoreError> = state
        .unit
        .transaction(async |conn| {
            if !outbox::first_time(conn, CONSUMER, event, state.unit.clock.now()).await? {
                return Ok(Some(Recorded::AlreadyKnown));
            }
            record(conn, state, business, fact, at).await
        })
        .await;
    let recorded = outcome?;
    log_if_new(business, fact, recorded);
    Ok(recorded.is_some())
}

async fn record(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
    fact: GoLiveFact,
    at: DateTime<Utc>,
) -> Result<Option<Recorded>, StoreError> {
    let recorded = go_live::record(conn, business, fact, at).await?;
    if recorded == Some(Recorded::New) {
        announce_business_change(conn, state, business).await?;
    }
    Ok(recorded)
}

fn log_if_new(business: BusinessId, fact: GoLiveFact, recorded: Option<Recorded>) {
    if recorded == Some(Recorded::New) {
        tracing::info!(business_id = %business, ?fact, "go-live fact recorded");
    }
}
