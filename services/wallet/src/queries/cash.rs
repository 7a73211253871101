//! Cash on delivery.

use std::collections::BTreeMap;

use chrono::{Datelike, Days, Months, NaiveDate};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, OrderId, Paise, indian_time, start_of_indian_day};
use postgres::StoreError;

use super::one_more;
use crate::domain::{CashRecord, DifferenceState, Remittance};
use crate::state::State;
use crate::store;

pub(crate) use crate::store::cash::CashFilter;
pub(crate) use crate::store::cash_differences::CashDifference;
pub(crate) use crate::store::cash_months::CashMonth;
pub(crate) use crate::store::cash_totals::{AGES, Totals};

/// The months that [`months`] returns. Older cash is in remittances.
const MONTHS: u32 = 6;
/// An order that was created longer before its delivery is in no month and no period, so that the queries read a range of ids.
const DELIVERY_MAX: Days = Days::new(90);

/// The cash of an order.
pub(crate) struct CashLine {
    pub(crate) record: CashRecord,
    pub(crate) remittance: Option<Remittance>,
    pub(crate) difference: Option<CashDifference>,
}

impl CashLine {
    /// `None` if the amounts of the steps match, and the fleet reported no other settlement than the remittance. The lists and
    /// totals of the store have the same rule.
    pub(crate) fn difference_state(&self) -> Option<DifferenceState> {
        let known = self.difference.as_ref();
        let is_reported = known.is_some_and(|known| known.reported.is_some());
        (self.record.discrepant || is_reported).then_some(match known {
            Some(CashDifference { resolution: Some(_), .. }) => DifferenceState::Closed,
            Some(CashDifference { owner: Some(_), .. }) => DifferenceState::Assigned,
            _ => DifferenceState::Open,
        })
    }
}

async fn complete(
    conn: &mut AsyncPgConnection,
    records: Vec<CashRecord>,
) -> Result<Vec<CashLine>, StoreError> {
    let businesses: Vec<BusinessId> = records.iter().map(|record| record.business).collect();
    let orders: Vec<OrderId> = records.iter().map(|record| record.order).collect();
    let mut remittances = store::remittances::of_cash(conn, &businesses, &orders).await?;
    let mut differences = store::cash_differences::of_cash(conn, &businesses, &orders).await?;
    let line = |record: CashRecord| CashLine {
        remittance: remittances.remove(&record.order),
        difference: differences.remove(&record.order),
        record,
    };
    Ok(records.into_iter().map(line).collect())
}

/// The matching cash of a business, newest order first: up to `limit`, and one more if there are more; and the totals of the
/// business, if wanted. `None` if the filter names an order without cash.
///
/// # Errors
/// When the database fails.
pub(crate) async fn of_business(
    state: &State,
    business: BusinessId,
    filter: &CashFilter,
    (is_late, has_totals): (bool, bool),
    limit: usize,
) -> Result<Option<(Vec<CashLine>, Totals)>, StoreError> {
    let (database, now) = (&state.unit.database, state.unit.clock.now());
    let late_before = state.cash_terms.late_before(now);
    let filter = CashFilter {
        late_before: is_late.then_some(late_before),
        created_since: filter.due_from.map(|from| from - DELIVERY_MAX),
        ..*filter
    };
    database
        .read(async |conn| {
            if let Some(before) = filter.before
                && !store::cash::exists(conn, Some(business), before).await?
            {
                return Ok(None);
            }
            let records = store::cash::page(conn, business, &filter, one_more(limit)).await?;
            let lines = complete(conn, records).await?;
            let counted = if has_totals { &[business][..] } else { &[] };
            let mut totals = store::cash_totals::of_businesses(conn, counted, (now, late_before)).await?;
            Ok(Some((lines, totals.remove(&business).unwrap_or_default())))
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
    let late_before = state.cash_terms.late_before(now);
    database
        .read(async |conn| {
            let businesses = store::cash_totals::businesses(conn, after, one_more(limit)).await?;
            store::cash_totals::of_businesses(conn, &businesses, (now, late_before)).await
        })
        .await
}

/// Cash of all businesses with an open difference, newest order first: up to `limit`, and one more if there are more. `None` if
/// `before` has no cash.
///
/// # Errors
/// When the database fails.
pub(crate) async fn discrepancies(
    state: &State,
    before: Option<OrderId>,
    limit: usize,
) -> Result<Option<Vec<CashLine>>, StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            if let Some(before) = before
                && !store::cash::exists(conn, None, before).await?
            {
                return Ok(None);
            }
            let records = store::cash::discrepancies(conn, before, one_more(limit)).await?;
            complete(conn, records).await.map(Some)
        })
        .await
}

/// Orders and amount of all businesses that are not settled although the promised day is over.
///
/// # Errors
/// When the database fails.
pub(crate) async fn late_of_all(state: &State) -> Result<(i64, Paise), StoreError> {
    let late_before = state.cash_terms.late_before(state.unit.clock.now());
    let database = &state.unit.database;
    database.read(async |conn| store::cash_totals::late_of_all(conn, late_before).await).await
}

/// The cash of a business by the month of its delivery in India: this month and those before it, newest first.
///
/// # Errors
/// When the database fails.
pub(crate) async fn months(state: &State, business: BusinessId) -> Result<Vec<CashMonth>, StoreError> {
    let first = first_month(indian_time(state.unit.clock.now()).date_naive());
    let created_since = start_of_indian_day(first - DELIVERY_MAX);
    let database = &state.unit.database;
    database.read(async |conn| store::cash_months::since(conn, business, first, created_since).await).await
}

fn first_month(today: NaiveDate) -> NaiveDate {
    today - Days::new(today.day0().into()) - Months::new(MONTHS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_month_is_five_before_this_one() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        for (today, first) in [("2026-12-31", "2026-07-01"), ("2026-03-01", "2025-10-01")] {
            assert_eq!(first_month(day(today)), day(first));
        }
    }
}
