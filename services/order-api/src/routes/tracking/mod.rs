//! The tracking page, for everyone who has the tracking code, and the JSON that the page polls. Neither contains
//! personal data. A code has 65 random bits and requests are limited per address, so codes cannot be guessed.

mod page;
mod view;

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, RETRY_AFTER};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use domain::TrackingCode;
use postgres::StoreError;
use web::{ApiError, Exceeded, Standing, no_query};

use self::page::Notice;
pub(super) use self::view::TrackingView;
use super::openapi::params;
use crate::domain::{Order, OrderEvent};
use crate::queries::all_businesses;
use crate::state::State;

/// A delivery has few steps. Each driver who drops out adds some.
const STEPS_MAX: usize = 100;
/// While the database is unavailable.
const TRY_AGAIN_S: u32 = 5;

/// Track a parcel
///
/// The content of the tracking page as JSON. It needs no key and contains no personal data.
#[utoipa::path(
    get,
    path = "/v1/tracking/{trackingCode}",
    operation_id = "getTracking",
    tag = "Tracking",
    params(params::TrackingPath),
    responses((status = 200, description = "The progress of the parcel.", body = TrackingView)),
)]
pub(super) async fn json(
    state: Data<State>,
    request: HttpRequest,
    code: Path<String>,
) -> Result<HttpResponse, ApiError> {
    state.tracking_limit.charge(&request).map_err(|Exceeded(standing)| {
        standing
            .headers()
            .fold(too_many(wait_s(standing)), |error, (name, value)| error.with_header(name, value))
    })?;
    no_query(&request)?;
    let view = look_up(&state, &code).await?;
    let view = view.ok_or_else(unknown_code)?;
    Ok(HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).json(view))
}

pub(super) fn too_many(wait_s: u32) -> ApiError {
    let message = "Too many requests from your address. Wait a moment, then try again.";
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).retry_after(wait_s)
}

pub(super) fn unknown_code() -> ApiError {
    ApiError::not_found("tracking_code_not_found", "tracking code")
}

/// The content of the JSON, for the examples of the OpenAPI document.
pub(super) fn shown(order: Order, events: Vec<OrderEvent>) -> TrackingView {
    TrackingView::new(order, events)
}

/// Show the tracking page
///
/// The page behind `trackingUrl`, for the customer. It refreshes itself. Every outcome is a page, because people see it.
#[utoipa::path(
    get,
    path = "/track/{trackingCode}",
    operation_id = "getTrackingPage",
    tag = "Tracking",
    params(params::TrackingPath),
    responses(
        (status = 200, description = "The page of the parcel.", body = String, content_type = "text/html"),
        (status = 404, description = "A page that says that the parcel does not exist.", body = String, content_type = "text/html"),
        (status = 429, description = "A page that asks to wait.", body = String, content_type = "text/html"),
        (
            status = 503,
            description = format!("A page that asks to come again, in {TRY_AGAIN_S} s."),
            body = String,
            content_type = "text/html",
        ),
    ),
)]
pub(super) async fn page(
    state: Data<State>,
    request: HttpRequest,
    code: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let brand = &state.brand;
    if let Err(Exceeded(standing)) = state.tracking_limit.charge(&request) {
        let mut page = Notice::TooMany.answer(StatusCode::TOO_MANY_REQUESTS, brand)?;
        page.headers_mut().insert(RETRY_AFTER, wait_s(standing).into());
        return Ok(page);
    }
    match look_up(&state, &code).await {
        Ok(Some(view)) => page::of_parcel(brand, view),
        Ok(None) => Notice::Unknown.answer(StatusCode::NOT_FOUND, brand),
        Err(error) if error.is_unavailable() => {
            tracing::warn!(%error, "database is unavailable");
            let mut page = Notice::Unavailable.answer(StatusCode::SERVICE_UNAVAILABLE, brand)?;
            page.headers_mut().insert(RETRY_AFTER, TRY_AGAIN_S.into());
            Ok(page)
        }
        Err(error) => Err(ApiError::internal(error)),
    }
}

fn wait_s(standing: Standing) -> u32 {
    u32::try_from(standing.resets_in_s).unwrap_or(u32::MAX)
}

async fn look_up(state: &State, code: &str) -> Result<Option<TrackingView>, StoreError> {
    // A code that is typed from paper may be in lower case. The check character rejects most guesses without a query.
    let Ok(code) = TrackingCode::from_user_input(code) else { return Ok(None) };
    let found = all_businesses::tracked(state, &code, STEPS_MAX).await?;
    Ok(found.map(|(order, events)| TrackingView::new(order, events)))
}
