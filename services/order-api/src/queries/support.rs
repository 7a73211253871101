//! Queries that help operators to support businesses.

use std::ops::Range;

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Mode, OrderId};
use outbox::Unit;
use postgres::StoreError;

use super::orders::ListError;
use crate::domain::{
    Activity, BusinessActivity, LiveOrders, LiveOrdersQuery, OpenOrders, Order, TestedRetries,
};
use crate::state::State;
use crate::store::{retry_tests, search, support};

/// The activity of a business in live and in test mode. Counts recent orders since `since`, up to `max`.
pub async fn activity(
    state: &State,
    business: BusinessId,
    since: DateTime<Utc>,
    max: i64,
) -> Result<(Activity, Activity), StoreError> {
    let read = async |conn: &mut _| -> Result<_, StoreError> {
        let live = support::activity(conn, business, Mode::Live, since, max).await?;
        let test = support::activity(conn, business, Mode::Test, since, max).await?;
        Ok((live, test))
    };
    state.unit.database.read(read).await
}

/// The live orders of each of these businesses since `since`, up to `max`.
pub async fn activity_of(
    state: &State,
    businesses: &[BusinessId],
    since: DateTime<Utc>,
    max: i64,
) -> Result<Vec<BusinessActivity>, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| support::activity_of(conn, businesses, since, max).await).await
}

pub async fn live_orders(
    state: &State,
    business: BusinessId,
    query: &LiveOrdersQuery,
) -> Result<LiveOrders, StoreError> {
    state.unit.database.read(async |conn| support::live_orders(conn, business, query).await).await
}

/// What keeps a business from being closed; each kind is counted up to `max`.
pub async fn open_orders(state: &State, business: BusinessId, max: i64) -> Result<OpenOrders, StoreError> {
    state.unit.database.read(async |conn| support::open_orders(conn, business, max).await).await
}

pub async fn tested_retries(state: &State, business: BusinessId) -> Result<TestedRetries, StoreError> {
    state.unit.database.read(async |conn| retry_tests::find(conn, business).await).await
}

/// The placed orders of all businesses with exactly this id, tracking code or reference, newest first.
pub async fn find_anywhere(unit: &Unit, text: &str, max: i64) -> Result<Vec<Order>, StoreError> {
    let find = async |conn: &mut AsyncPgConnection| -> Result<_, StoreError> {
        let ids = support::with_code(conn, text, max).await?;
        support::of_any_business(conn, &ids, max).await
    };
    unit.database.read(find).await
}

/// The newest placed orders of all businesses that a search text finds among these ids.
pub async fn search_anywhere(
    state: &State,
    text: &str,
    created: Range<OrderId>,
    max: i64,
) -> Result<Vec<Order>, ListError> {
    let database = &state.unit.database;
    let mut ids = database.read(async |conn| support::with_code(conn, text, max).await).await?;
    ids.retain(|id| created.contains(id));
    match database.transaction(async |conn| search::find_anywhere(conn, text, &created, max).await).await {
        Ok(found) => ids.extend(found),
        // An exact id, code or reference is found also if its words are frequent.
        Err(error) if error.is_timeout() && !ids.is_empty() => {}
        Err(error) => return Err(ListError::of_search(error)),
    }
    Ok(database.read(async |conn| support::of_any_business(conn, &ids, max).await).await?)
}
