//! The go-live facts that others tell of: set once, never unset.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::StoreError;

use super::schema::go_live_facts;

/// What became of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    New,
    KnownAlready,
}

/// A new business has done nothing yet.
pub(crate) async fn insert(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<(), StoreError> {
    diesel::insert_into(go_live_facts::table)
        .values(go_live_facts::business_id.eq(business.to_string()))
        .execute(conn)
        .await?;
    Ok(())
}

/// Notes that a test order was received; `None` for an unknown business.
pub(crate) async fn record_test_order(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    at: DateTime<Utc>,
) -> Result<Option<Recorded>, StoreError> {
    let unset = go_live_facts::successful_test_order_at.is_null();
    let updated = diesel::update(go_live_facts::table.find(business.to_string()).filter(unset))
        .set(go_live_facts::successful_test_order_at.eq(at))
        .execute(conn)
        .await?;
    outcome(conn, business, updated).await
}

/// Notes that the wallet was funded; `None` for an unknown business.
pub(crate) async fn record_wallet_funded(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    at: DateTime<Utc>,
) -> Result<Option<Recorded>, StoreError> {
    let unset = go_live_facts::wallet_funded_at.is_null();
    let updated = diesel::update(go_live_facts::table.find(business.to_string()).filter(unset))
        .set(go_live_facts::wallet_funded_at.eq(at))
        .execute(conn)
        .await?;
    outcome(conn, business, updated).await
}

async fn outcome(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    updated: usize,
) -> Result<Option<Recorded>, StoreError> {
    if updated > 0 {
        return Ok(Some(Recorded::New));
    }
    let known: bool = diesel::select(diesel::dsl::exists(go_live_facts::table.find(business.to_string())))
        .get_result(conn)
        .await?;
    Ok(known.then_some(Recorded::KnownAlready))
}
