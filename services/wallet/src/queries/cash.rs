//! Cash on delivery.

use std::collections::BTreeMap;

use domain::{BusinessId, OrderId};
use postgres::StoreError;

use super::one_more;
use crate::domain::CashRecord;
use crate::state::State;
use crate::store;

pub(crate) use crate::store::cash::CashFilter;
pub(crate) use crate::store::cash_totals::{AGES, Totals};

/// The matching cash of a business, newest order first: up to `limit`, and one more if there are more; and the totals of the
/// business. `None` if the filter names an order without cash.
///
/// # Errors
/// When the database fails.
pub(crate) async fn of_business(
    state: &State,
    business: BusinessId,
    filter: &CashFilter,
    limit: usize,
) -> Result<Option<(Vec<CashRecord>, Totals)>, StoreError> {
    let (database, now) = (&state.unit.database, state.unit.clock.now());
    database
        .read(async |conn| {
            if let Some(before) = filter.before
                && !store::cash::exists(conn, Some(business), before).await?
            {
                return Ok(None);
            }
            let records = store::cash::page(conn, business, filter, one_more(limit)).await?;
            let mut totals = store::cash_totals::of_businesses(conn, &[business], now).await?;
            Ok(Some((records, totals.remove(&business).unwrap_or_default())))
        })
        .await
}

/// The totals of businesses with outstanding cash, from the first one after `after`: up to `limit`, and one more if there
/// are more.
///
/// # Errors
/// When the database fails.
pub(crate) async fn totals(
    state: &State,
    after: Option<BusinessId>,
    limit: usize,
) -> Result<BTreeMap<BusinessId, Totals>, StoreError> {
    let (database, now) = (&state.unit.database, state.unit.clock.now());
    database
        .read(async |conn| {
            let businesses = store::cash_totals::businesses(conn, after, one_more(limit)).await?;
            store::cash_totals::of_businesses(conn, &businesses, now).await
        })
        .await
}

/// Cash of all businesses with a discrepancy, newest order first: up to `limit`, and one more if there are more. `None` if
/// `before` has no cash.
///
/// # Errors
/// When the database fails.
pub(crate) async fn discrepancies(
    state: &State,
    before: Option<OrderId>,
    limit: usize,
) -> Result<Option<Vec<CashRecord>>, StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            if let Some(before) = before
                && !store::cash::exists(conn, None, before).await?
            {
                return Ok(None);
            }
            store::cash::discrepancies(conn, before, one_more(limit)).await.map(Some)
        })
        .await
}
