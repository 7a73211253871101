//! Asks the owning services about open go-live items before they count as open: an item may have been completed a moment ago,
//! with its event still in transit.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{BusinessId, GoLiveItem};
use internal_api::CallError;
use postgres::StoreError;

use crate::business::domain::{GoLiveFact, Standing};
use crate::go_live::commands::record_go_live_fact::record_go_live_fact;
use crate::state::State;

/// Short, because the caller is waiting.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A standing after the owning services were asked.
pub(crate) struct ConfirmedStanding {
    pub(crate) standing: Standing,
    /// Open items whose service did not answer.
    pub(crate) unconfirmed: Vec<GoLiveItem>,
}

impl ConfirmedStanding {
    /// Whether all open items are unconfirmed, so that the business may be unlocked or not.
    pub(crate) fn is_undecided(&self) -> bool {
        let missing = self.standing.missing();
        !missing.is_empty() && missing.iter().all(|item| self.unconfirmed.contains(item))
    }
}

/// Asks about facts that are not known yet, and records those that are true.
pub(crate) async fn confirm_go_live(
    state: &State,
    mut standing: Standing,
) -> Result<ConfirmedStanding, StoreError> {
    let business = standing.business.id;
    let (test_order, funded) = tokio::join!(
        ask(!standing.successful_test_order, first_test_order(state, business)),
        ask(!standing.wallet_funded, funded_at(state, business)),
    );
    let mut unconfirmed = Vec::new();
    match test_order {
        Answer::Since(at) => {
            record_go_live_fact(state, business, GoLiveFact::SuccessfulTestOrder, at).await?;
            standing.successful_test_order = true;
            standing.since.successful_test_order = Some(at);
        }
        Answer::NoChange => {}
        Answer::Unknown => unconfirmed.push(GoLiveItem::SuccessfulTestOrder),
    }
    match funded {
        Answer::Since(at) => {
            record_go_live_fact(state, business, GoLiveFact::WalletFunded, at).await?;
            standing.wallet_funded = true;
            standing.since.wallet_funded = Some(at);
        }
        Answer::NoChange => {}
        Answer::Unknown => unconfirmed.push(GoLiveItem::WalletFunded),
    }
    Ok(ConfirmedStanding { standing, unconfirmed })
}

enum Answer {
    Since(DateTime<Utc>),
    /// The fact is not true, or was already known.
    NoChange,
    Unknown,
}

async fn ask(
    needed: bool,
    question: impl Future<Output = Result<Option<DateTime<Utc>>, CallError>>,
) -> Answer {
    if !needed {
        return Answer::NoChange;
    }
    match tokio::time::timeout(TIMEOUT, question).await {
        Ok(Ok(Some(at))) => Answer::Since(at),
        Ok(Ok(None)) => Answer::NoChange,
        Ok(Err(error)) => {
            tracing::warn!(%error, "confirming a go-live fact failed");
            Answer::Unknown
        }
        Err(_) => {
            tracing::warn!("confirming a go-live fact timed out");
            Answer::Unknown
        }
    }
}

async fn first_test_order(state: &State, business: BusinessId) -> Result<Option<DateTime<Utc>>, CallError> {
    let answer = state.peers.orders.any_test_order(business).await?;
    Ok(answer.exists.then(|| state.unit.clock.now()))
}

async fn funded_at(state: &State, business: BusinessId) -> Result<Option<DateTime<Utc>>, CallError> {
    Ok(state.peers.wallet.wallet(business).await?.funded_at)
}
