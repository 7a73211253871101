//! Go-live facts that other services report. Set once, never unset.

use chrono::{DateTime, Utc};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::StoreError;

use crate::business::domain::GoLiveFact;
use crate::store::schema::go_live_facts;
use diesel::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    New,
    AlreadyKnown,
}

/// Creates the row of a new business, without any fact.
pub(crate) async fn insert(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<(), StoreError> {
    diesel::insert_into(go_live_facts::table)
        .values(go_live_facts::business_id.eq(business.to_string()))
        .execute(conn)
        .await?;
    Ok(())
}

/// Records the fact; `None` for an unknown business.
pub(crate) async fn record(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    fact: GoLiveFact,
    at: DateTime<Utc>,
) -> Result<Option<Recorded>, StoreError> {
    let row = || go_live_facts::table.find(business.to_string());
    let updated = match fact {
        GoLiveFact::SuccessfulTestOrder => {
            diesel::update(row().filter(go_live_facts::successful_test_order_at.is_null()))
                .set(go_live_facts::successful_test_order_at.eq(at))
                .execute(conn)
                .await?
        }
        GoLiveFact::WalletFunded => {
            diesel::update(row().filter(go_live_facts::wallet_funded_at.is_null()))
                .set(go_live_facts::wallet_funded_at.eq(at))
                .execute(conn)
                .await?
        }
    };
    if updated > 0 {
        return Ok(Some(Recorded::New));
    }
    let known: bool = diesel::select(diesel::dsl::exists(row())).get_result(conn).await?;
    Ok(known.then_some(Recorded::AlreadyKnown))
}
