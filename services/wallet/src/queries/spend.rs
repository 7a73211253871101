//! Delivery fees per day, in the time zone of the business.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;
use domain::{BusinessId, Paise};
use internal_api::wallet::{SpendDay, SpendView};
use postgres::StoreError;

use crate::state::State;
use crate::store::spend::{self, Moved};

/// The last `days` days. `None` when the time zone is unknown.
pub(crate) async fn by_day(
    state: &State,
    business: BusinessId,
    days: i32,
    time_zone: String,
) -> Result<Option<SpendView>, StoreError> {
    if !time_zones(state).await?.contains(&time_zone) {
        return Ok(None);
    }
    days_of(state, business, days, time_zone).await.map(Some)
}

/// Read once per process.
async fn time_zones(state: &State) -> Result<&HashSet<String>, StoreError> {
    let ask = async || state.unit.database.read(async |conn| spend::time_zones(conn).await).await;
    state.time_zones.get_or_try_init(ask).await
}

async fn days_of(
    state: &State,
    business: BusinessId,
    count: i32,
    time_zone: String,
) -> Result<SpendView, StoreError> {
    let now = state.unit.clock.now();
    let (days, fees, refunds) = state
        .unit
        .database
        .read(async |conn| -> Result<_, StoreError> {
            let days = spend::days(conn, now, &time_zone, count).await?;
            let fees = spend::fees(conn, business, days.since, &time_zone).await?;
            let refunds = spend::refunds(conn, business, days.since, &time_zone).await?;
            Ok((days, by_date(fees), by_date(refunds)))
        })
        .await?;
    let on = |date: NaiveDate| SpendDay {
        date,
        fees_paise: Paise::new(fees.get(&date).map_or(0, |moved| moved.amount_paise)),
        refunds_paise: Paise::new(refunds.get(&date).map_or(0, |moved| moved.amount_paise)),
        orders: fees.get(&date).map_or(0, |moved| moved.orders),
    };
    let data = days.first.iter_days().take_while(|date| *date <= days.last).map(on).collect();
    Ok(SpendView { time_zone, days: data })
}

fn by_date(moved: Vec<Moved>) -> HashMap<NaiveDate, Moved> {
    moved.into_iter().map(|moved| (moved.day, moved)).collect()
}
