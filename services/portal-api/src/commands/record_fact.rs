//! A go-live fact becomes known: from an event, from a call that just did it, or from the service that owns it.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::BusinessId;
use postgres::StoreError;

use super::announce;
use crate::app::App;
use crate::store::go_live::{self, Recorded};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    SuccessfulTestOrder,
    WalletFunded,
}

/// Notes the fact and, if it is new, tells the others. Knowing it already is no fault; `None` for an unknown business.
pub(crate) async fn record_fact(
    app: &App,
    business: BusinessId,
    fact: Fact,
    at: DateTime<Utc>,
) -> Result<Option<Recorded>, StoreError> {
    let outcome: Result<_, StoreError> =
        app.database.transaction(async |conn| record_within(conn, app, business, fact, at).await).await;
    let recorded = outcome?;
    app.notifier.notify();
    tell(business, fact, recorded);
    Ok(recorded)
}

/// As [`record_fact`], within the caller's transaction, who then [tells](tell) of it.
pub(crate) async fn record_within(
    conn: &mut AsyncPgConnection,
    app: &App,
    business: BusinessId,
    fact: Fact,
    at: DateTime<Utc>,
) -> Result<Option<Recorded>, StoreError> {
    let recorded = match fact {
        Fact::SuccessfulTestOrder => go_live::record_test_order(conn, business, at).await?,
        Fact::WalletFunded => go_live::record_wallet_funded(conn, business, at).await?,
    };
    if recorded == Some(Recorded::New) {
        announce(conn, app, business).await?;
    }
    Ok(recorded)
}

/// To be called after the commit.
pub(crate) fn tell(business: BusinessId, fact: Fact, recorded: Option<Recorded>) {
    if recorded == Some(Recorded::New) {
        tracing::info!(business_id = %business, ?fact, "a go-live fact became known");
    }
}
