//! `GET /internal/wallets/{business}/spend?days=&timeZone=`: what delivery fees cost, day by day where the business is.

use std::collections::{HashMap, HashSet};

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::NaiveDate;
use domain::{BusinessId, Paise};
use internal_api::wallet::{SpendDay, SpendView};
use postgres::StoreError;
use web::{ApiError, TextRule, read_query};

use super::{errors, path};
use crate::app::State;
use crate::store::spend::{self, Moved};

const DAYS_DEFAULT: i32 = 30;
const DAYS_MAX: i32 = 366;
const TIME_ZONE_DEFAULT: &str = "Asia/Kolkata";
/// The longest name has about half as many.
const TIME_ZONE: TextRule = TextRule::code(64);

pub(super) async fn spend(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let (days, time_zone) = read_query(&request, |fields| {
        let days = fields.parsed_by("days", "a whole number between 1 and 366", |text| {
            text.parse().ok().filter(|days| (1..=DAYS_MAX).contains(days))
        });
        (days.unwrap_or(DAYS_DEFAULT), fields.text("timeZone", TIME_ZONE))
    })?;
    let time_zone = time_zone.unwrap_or_else(|| TIME_ZONE_DEFAULT.to_owned());
    let asked = state.clone();
    let read = async move {
        if !time_zones(&asked).await?.contains(&time_zone) {
            return Ok(None);
        }
        by_day(&asked, business, days, time_zone).await.map(Some)
    };
    let spend = state.tasks.run(read).await?.map_err(errors::from_store)?;
    let unknown = || {
        let message = "timeZone must be the name of a time zone, such as Asia/Kolkata.";
        ApiError::invalid_field("timeZone", "invalid_value", message)
    };
    Ok(HttpResponse::Ok().json(spend.ok_or_else(unknown)?))
}

/// Asked of the database once in the life of a process.
async fn time_zones(state: &State) -> Result<&HashSet<String>, StoreError> {
    let ask = async || state.database.read(async |conn| spend::time_zones(conn).await).await;
    state.time_zones.get_or_try_init(ask).await
}

async fn by_day(
    state: &State,
    business: BusinessId,
    count: i32,
    time_zone: String,
) -> Result<SpendView, StoreError> {
    let now = state.clock.now();
    let (days, fees, refunds) = state
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
