//! The cash of deliveries, per business and for the operator.

use std::collections::BTreeMap;

use domain::{BusinessId, OrderId};
use postgres::StoreError;

use super::one_more;
use crate::domain::{CashFilter, CashRecord, CashTotals};
use crate::state::State;
use crate::store;

/// Up to `limit + 1` orders of a business with its totals. `None` when `filter.before` names no order with cash.
pub(crate) async fn of_business(
    state: &State,
    business: BusinessId,
    filter: CashFilter,
    limit: usize,
) -> Result<Option<(Vec<CashRecord>, CashTotals)>, StoreError> {
    let now = state.unit.clock.now();
    let read = async |conn: &mut _| {
        if let Some(before) = filter.before
            && !store::cash::exists(conn, Some(business), before).await?
        {
            return Ok(None);
        }
        let records = store::cash::page(conn, business, &filter, one_more(limit)).await?;
        let mut totals = store::cash_totals::of_businesses(conn, &[business], now).await?;
        Ok(Some((records, totals.remove(&business).unwrap_or_default())))
    };
    state.unit.database.read(read).await
}

/// The totals of up to `limit + 1` businesses after this one.
pub(crate) async fn of_all(
    state: &State,
    after: Option<BusinessId>,
    limit: usize,
) -> Result<BTreeMap<BusinessId, CashTotals>, StoreError> {
    let now = state.unit.clock.now();
    let read = async |conn: &mut _| {
        let businesses = store::cash_totals::businesses(conn, after, one_more(limit)).await?;
        store::cash_totals::of_businesses(conn, &businesses, now).await
    };
    state.unit.database.read(read).await
}

/// Up to `limit + 1` orders with a discrepancy. `None` when `before` names no order with cash.
pub(crate) async fn discrepancies(
    state: &State,
    before: Option<OrderId>,
    limit: usize,
) -> Result<Option<Vec<CashRecord>>, StoreError> {
    let read = async |conn: &mut _| {
        if let Some(before) = before
            && !store::cash::exists(conn, None, before).await?
        {
            return Ok(None);
        }
        store::cash::discrepancies(conn, before, one_more(limit)).await.map(Some)
    };
    state.unit.database.read(read).await
}
