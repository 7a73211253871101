//! Fees and refunds per day.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;
use domain::{BusinessId, Paise};
use postgres::StoreError;

use crate::state::State;
use crate::store::spend::{self, DaySum};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Day {
    pub(crate) date: NaiveDate,
    pub(crate) fees: Paise,
    pub(crate) attempt_fees: Paise,
    pub(crate) refunds: Paise,
    /// Orders with a fee on this day.
    pub(crate) orders: i64,
}

/// The last `count` days, oldest first. `None` for an unknown time zone.
///
/// # Errors
/// When the database fails.
pub(crate) async fn by_day(
    state: &State,
    business: BusinessId,
    count: i32,
    time_zone: &str,
) -> Result<Option<Vec<Day>>, StoreError> {
    if !time_zones(state).await?.contains(time_zone) {
        return Ok(None);
    }
    let (database, now) = (&state.unit.database, state.unit.clock.now());
    let (days, fees, attempt_fees, refunds) = database
        .read(async |conn| -> Result<_, StoreError> {
            let days = spend::days(conn, now, time_zone, count).await?;
            let fees = spend::fees(conn, business, days.since, time_zone).await?;
            let attempt_fees = spend::attempt_fees(conn, business, days.since, time_zone).await?;
            let refunds = spend::refunds(conn, business, days.since, time_zone).await?;
            Ok((days, by_date(fees), by_date(attempt_fees), by_date(refunds)))
        })
        .await?;
    let amount = |sum: Option<&DaySum>| Paise::new(sum.map_or(0, |sum| sum.amount_paise));
    let day = |date: NaiveDate| Day {
        date,
        fees: amount(fees.get(&date)),
        attempt_fees: amount(attempt_fees.get(&date)),
        refunds: amount(refunds.get(&date)),
        orders: fees.get(&date).map_or(0, |sum| sum.orders),
    };
    Ok(Some(days.first.iter_days().take_while(|date| *date <= days.last).map(day).collect()))
}

/// Read from the database once per process.
async fn time_zones(state: &State) -> Result<&HashSet<String>, StoreError> {
    let read = async || state.unit.database.read(async |conn| spend::time_zones(conn).await).await;
    state.time_zones.get_or_try_init(read).await
}

fn by_date(sums: Vec<DaySum>) -> HashMap<NaiveDate, DaySum> {
    sums.into_iter().map(|sum| (sum.day, sum)).collect()
}
