//! `GET /internal/wallets/{business}/spend?days=&timeZone=`: fees and refunds per day in the time zone of the business.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::wallet::{SpendDay, SpendView};
use web::{ApiError, TextRule, read_query};

use super::path;
use crate::queries;
use crate::queries::spend::Day;
use crate::state::State;

const DAYS_DEFAULT: i32 = 30;
const DAYS_MAX: i32 = 366;
const TIME_ZONE_DEFAULT: &str = "Asia/Kolkata";
/// About twice the length of the longest name.
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
    let days = queries::spend::by_day(&state, business, days, &time_zone).await?;
    let days = days.ok_or_else(|| {
        let message = "timeZone must be the name of a time zone, such as Asia/Kolkata.";
        ApiError::invalid_field("timeZone", "invalid_value", message)
    })?;
    Ok(HttpResponse::Ok().json(SpendView { time_zone, days: days.into_iter().map(view).collect() }))
}

fn view(day: Day) -> SpendDay {
    SpendDay {
        date: day.date,
        fees_paise: day.fees,
        attempt_fees_paise: day.attempt_fees,
        refunds_paise: day.refunds,
        orders: day.orders,
    }
}
