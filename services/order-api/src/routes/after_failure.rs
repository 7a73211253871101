//! What a business does about a delivery that failed or would fail: another attempt, the return, and a corrected address.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path, Payload};
use chrono::{DateTime, NaiveDate, Utc};
use domain::{ApiKeyId, BusinessId, KeyScope, Mode, OrderId, RequestedBy};
use internal_api::orders::{self, OrderView};
use serde_json::Value;
use web::{
    ApiError, FieldErrors, Fields, JsonBody, TextRule, no_query, read_body, read_json, read_no_fields,
    read_optional_json, read_query,
};

use super::openapi::{bodies, params};
use super::{authenticate, errors, integration, limits, order_body, views};
use crate::commands::correct_delivery::correct_delivery;
use crate::commands::decide_after_failure::decide_after_failure;
use crate::domain::{Correction, Decision, SeenDecision, reattempt_days};
use crate::state::State;

/// Longer than a day, because spaces around it are accepted.
const DAY: TextRule = TextRule::line(40);

/// Attempt a failed delivery again
///
/// Asks the fleet for another attempt, while it has the parcel after one that failed. It takes `reattempt.feePaise` from your
/// wallet when it begins; `reattemptFeePaise` of the order says so before. An order that failed before its pickup got its fee
/// back: place a new one. The same request again changes nothing; another one replaces it.
#[utoipa::path(
    post,
    path = "/v1/integration/orders/{id}/reattempt",
    operation_id = "reattemptOrder",
    tag = "Orders",
    params(params::OrderPath),
    request_body(content = Option<bodies::NewReattempt>, description = "Optional."),
    responses((status = 200, description = "The order, with its `reattempt`.", body = OrderView)),
)]
pub(super) async fn reattempt(
    state: Data<State>,
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
) -> Result<Json<OrderView>, ApiError> {
    let caller = authenticate::business(&state, &request, KeyScope::WriteOrders).await?;
    no_query(&request)?;
    let id = integration::parse_id(&id)?;
    let body = read_optional_json(&request, payload).await?;
    let (decision, note) = read_reattempt(&body, state.unit.clock.now())?;
    decide(&state, (caller.business_id, caller.mode, id), (decision, RequestedBy::ApiKey), note, None).await
}

/// Request the return of a parcel
///
/// Asks the fleet to bring the parcel back, while it has it after an attempt that failed. `order.returned` follows once it did. The
/// same request again changes nothing; it replaces a `reattempt` that has not begun.
#[utoipa::path(
    post,
    path = "/v1/integration/orders/{id}/return",
    operation_id = "requestReturn",
    tag = "Orders",
    params(params::OrderPath),
    responses((status = 200, description = "The order, with `returnRequestedAt`.", body = OrderView)),
)]
pub(super) async fn request_return(
    state: Data<State>,
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
) -> Result<Json<OrderView>, ApiError> {
    let caller = authenticate::business(&state, &request, KeyScope::WriteOrders).await?;
    no_query(&request)?;
    let id = integration::parse_id(&id)?;
    read_no_fields(&request, payload).await?;
    let decided = (Decision::Return, RequestedBy::ApiKey);
    decide(&state, (caller.business_id, caller.mode, id), decided, None, None).await
}

/// Correct the address or phone
///
/// Replaces the customer's phone, the whole delivery address, or both, until the delivery has ended. The fleet sees the change in its
/// list of orders. The same request again changes nothing. The order lists its latest corrections, without values.
#[utoipa::path(
    post,
    path = "/v1/integration/orders/{id}/delivery-details",
    operation_id = "correctDelivery",
    tag = "Orders",
    params(params::OrderPath),
    request_body(content = bodies::NewDeliveryDetails, description = "What is right."),
    responses((status = 200, description = "The order, corrected.", body = OrderView)),
)]
pub(super) async fn correct(
    state: Data<State>,
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
) -> Result<Json<OrderView>, ApiError> {
    let caller = authenticate::business(&state, &request, KeyScope::WriteOrders).await?;
    no_query(&request)?;
    let id = integration::parse_id(&id)?;
    let correction = read_correction(&read_json(&request, payload).await?)?;
    run_correction(&state, (caller.business_id, caller.mode, id), Some(caller.key_id), correction).await
}

/// `POST /internal/businesses/{business}/orders/{id}/reattempt?seen=&by=`
pub(super) async fn reattempt_of_business(
    state: Data<State>,
    path: Path<(String, String)>,
    request: HttpRequest,
    payload: Payload,
) -> Result<Json<OrderView>, ApiError> {
    let (seen, by) = read_decider(&request)?;
    let body = read_optional_json(&request, payload).await?;
    let (decision, note) = read_reattempt(&body, state.unit.clock.now())?;
    let key = key_of(&state, &path).await?;
    decide(&state, key, (decision, by), note, seen).await
}

/// `POST /internal/businesses/{business}/orders/{id}/return?seen=&by=`
pub(super) async fn return_of_business(
    state: Data<State>,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> Result<Json<OrderView>, ApiError> {
    let (seen, by) = read_decider(&request)?;
    let key = key_of(&state, &path).await?;
    decide(&state, key, (Decision::Return, by), None, seen).await
}

/// What the caller of the portal saw, and who that is. The integration API replaces any decision.
fn read_decider(request: &HttpRequest) -> Result<(Option<SeenDecision>, RequestedBy), ApiError> {
    read_query(request, |fields| {
        let seen = fields.parsed::<orders::SeenDecision>("seen", "none or the time of a decision");
        let by = fields.parsed("by", "portal or operator").unwrap_or(RequestedBy::Portal);
        (seen.map(|seen| SeenDecision(seen.0)), by)
    })
}

/// `POST /internal/businesses/{business}/orders/{id}/delivery-details`
pub(super) async fn correct_of_business(
    state: Data<State>,
    path: Path<(String, String)>,
    body: JsonBody,
) -> Result<Json<OrderView>, ApiError> {
    let correction = read_correction(&body.0)?;
    let key = key_of(&state, &path).await?;
    run_correction(&state, key, None, correction).await
}

pub(super) type Key = (BusinessId, Mode, OrderId);

/// Of an order in either mode.
pub(super) async fn key_of(state: &State, path: &(String, String)) -> Result<Key, ApiError> {
    let order = integration::find(state, integration::parse_business(&path.0)?, None, &path.1).await?;
    Ok((order.business_id, order.mode, order.id))
}

/// Decides, also when the client disconnects.
async fn decide(
    state: &Data<State>,
    key: Key,
    decision: (Decision, RequestedBy),
    note: Option<String>,
    seen: Option<SeenDecision>,
) -> Result<Json<OrderView>, ApiError> {
    let running = Data::clone(state);
    let work = async move { decide_after_failure(&running, key, decision, note, seen).await };
    let decided = state.tasks.run(work).await?;
    Ok(Json(views::order_view(&state.tracking_urls, state.attempts, decided.map_err(errors::from_decide)?)))
}

async fn run_correction(
    state: &Data<State>,
    key: Key,
    key_id: Option<ApiKeyId>,
    correction: Correction,
) -> Result<Json<OrderView>, ApiError> {
    let running = Data::clone(state);
    let work = async move { correct_delivery(&running, key, key_id, correction).await };
    let corrected = state.tasks.run(work).await?;
    Ok(Json(views::order_view(
        &state.tracking_urls,
        state.attempts,
        corrected.map_err(errors::from_correct)?,
    )))
}

/// `{date?, note?}`
pub(super) fn read_reattempt(
    body: &Value,
    now: DateTime<Utc>,
) -> Result<(Decision, Option<String>), ApiError> {
    if body.is_null() {
        return Ok((Decision::Reattempt { on: None }, None));
    }
    read_body(body, &["date", "note"], |fields| {
        let on = read_day(fields, now);
        Some((Decision::Reattempt { on }, fields.optional_text("note", limits::NOTE)))
    })
}

fn read_day(fields: &Fields<'_>, now: DateTime<Utc>) -> Option<NaiveDate> {
    let text = fields.optional_text("date", DAY)?;
    // chrono also reads days without leading zeros.
    let day = text.parse::<NaiveDate>().ok().filter(|day| day.to_string() == text);
    let Some(day) = day else {
        fields.reject("date", "invalid_format", "date must be a day such as 2026-01-31.");
        return None;
    };
    let (first, last) = reattempt_days(now);
    if day < first || day > last {
        let message = format!("date must be a day from {first} to {last}, in India.");
        fields.reject("date", "out_of_range", message);
    }
    Some(day)
}

/// `{phone?, delivery?}`, not neither.
pub(super) fn read_correction(body: &Value) -> Result<Correction, ApiError> {
    let field_errors = FieldErrors::default();
    let read = Fields::only(body, &field_errors, &["phone", "delivery"]).map(|fields| {
        let phone = fields.optional_phone("phone");
        let delivery = fields.optional_object("delivery").map(|delivery| order_body::read_address(&delivery));
        if phone.is_none() && delivery.is_none() && field_errors.is_empty() {
            fields.reject("delivery", "required", "delivery or phone is required: what is to be corrected?");
        }
        Correction { phone, delivery }
    });
    match read {
        Some(correction) if field_errors.is_empty() => Ok(correction),
        _ => Err(ApiError::invalid(field_errors)),
    }
}
