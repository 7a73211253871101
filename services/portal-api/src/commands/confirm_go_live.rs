//! Before a business is refused for an item that it may have done this very moment, with the event of it still under
//! way, the service that owns the fact is asked.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{BusinessId, GoLiveItem};
use internal_api::CallError;
use postgres::StoreError;

use super::record_fact::{Fact, record_fact};
use crate::app::App;
use crate::domain::Standing;

/// Owners that do not answer in this time are not waited for: whoever asks us is waiting too.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// A standing after its owners were asked.
pub(crate) struct Confirmed {
    pub(crate) standing: Standing,
    /// Open items whose owner did not answer, so that they may be done after all.
    pub(crate) unconfirmed: Vec<GoLiveItem>,
}

impl Confirmed {
    /// Whether nothing is known to be open, though not everything is known to be done.
    pub(crate) fn is_undecided(&self) -> bool {
        let missing = self.standing.missing();
        !missing.is_empty() && missing.iter().all(|item| self.unconfirmed.contains(item))
    }
}

/// Asks for the facts that are not known yet and notes those that are true.
pub(crate) async fn confirm_go_live(app: &App, mut standing: Standing) -> Result<Confirmed, StoreError> {
    let business = standing.business.id;
    let (test_order, funded) = tokio::join!(
        ask(!standing.successful_test_order, any_test_order(app, business)),
        ask(!standing.wallet_funded, funded_at(app, business)),
    );
    let mut unconfirmed = Vec::new();
    match test_order {
        Answer::Since(at) => {
            record_fact(app, business, Fact::SuccessfulTestOrder, at).await?;
            standing.successful_test_order = true;
            standing.since.successful_test_order = Some(at);
        }
        Answer::Never => {}
        Answer::Unknown => unconfirmed.push(GoLiveItem::SuccessfulTestOrder),
    }
    match funded {
        Answer::Since(at) => {
            record_fact(app, business, Fact::WalletFunded, at).await?;
            standing.wallet_funded = true;
            standing.since.wallet_funded = Some(at);
        }
        Answer::Never => {}
        Answer::Unknown => unconfirmed.push(GoLiveItem::WalletFunded),
    }
    Ok(Confirmed { standing, unconfirmed })
}

enum Answer {
    Since(DateTime<Utc>),
    /// It has not happened, or it was known before and not asked for.
    Never,
    Unknown,
}

async fn ask(
    wanted: bool,
    question: impl Future<Output = Result<Option<DateTime<Utc>>, CallError>>,
) -> Answer {
    if !wanted {
        return Answer::Never;
    }
    match tokio::time::timeout(WAIT_MAX, question).await {
        Ok(Ok(Some(at))) => Answer::Since(at),
        Ok(Ok(None)) => Answer::Never,
        Ok(Err(error)) => {
            tracing::warn!(%error, "a go-live fact could not be confirmed");
            Answer::Unknown
        }
        Err(_) => {
            tracing::warn!("a go-live fact could not be confirmed in time");
            Answer::Unknown
        }
    }
}

async fn any_test_order(app: &App, business: BusinessId) -> Result<Option<DateTime<Utc>>, CallError> {
    let answer = app.peers.orders.any_test_order(business).await?;
    Ok(answer.exists.then(|| app.clock.now()))
}

async fn funded_at(app: &App, business: BusinessId) -> Result<Option<DateTime<Utc>>, CallError> {
    Ok(app.peers.wallet.wallet(business).await?.funded_at)
}
