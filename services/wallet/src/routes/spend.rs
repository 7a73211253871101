//! `GET /internal/wallets/{business}/spend?days=&timeZone=`: what delivery fees cost, day by day where the business is.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use web::{ApiError, TextRule, read_query};

use super::path;
use crate::queries;
use crate::state::State;

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
    let shared = state.clone();
    let read = async move { queries::spend::by_day(&shared, business, days, time_zone).await };
    let spend = state.tasks.run(read).await??;
    let unknown = || {
        let message = "timeZone must be the name of a time zone, such as Asia/Kolkata.";
        ApiError::invalid_field("timeZone", "invalid_value", message)
    };
    Ok(HttpResponse::Ok().json(spend.ok_or_else(unknown)?))
}
