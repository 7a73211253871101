//! Where is my parcel: for anyone who holds a tracking code, as a page for people and as JSON for the page itself. No
//! personal data. A code has 65 random bits, and how often an address may ask is limited, so that none is found by trying.

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
use super::errors;
use crate::app::App;
use crate::domain::{Order, OrderEvent};
use crate::store::{orders, timeline};

/// A delivery has few steps; a driver who drops out again and again adds some.
const STEPS_MAX: usize = 100;
/// When the service cannot answer for a moment.
pub(super) const TRY_AGAIN_S: u32 = 5;

/// `GET /v1/tracking/{trackingCode}`
pub(super) async fn json(
    app: Data<App>,
    request: HttpRequest,
    code: Path<String>,
) -> Result<HttpResponse, ApiError> {
    app.tracking.charge(&request).map_err(|Exceeded(standing)| {
        standing
            .headers()
            .fold(too_many(wait_s(standing)), |error, (name, value)| error.with_header(name, value))
    })?;
    no_query(&request)?;
    let view = look_up(&app, &code).await.map_err(errors::from_store)?;
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

/// What the JSON says of an order, for the API's description.
pub(super) fn shown(order: Order, events: Vec<OrderEvent>) -> TrackingView {
    TrackingView::new(order, events)
}

/// `GET /track/{trackingCode}`: a page for every outcome, since people see it
pub(super) async fn page(
    app: Data<App>,
    request: HttpRequest,
    code: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let brand = &app.settings.brand.name;
    if let Err(Exceeded(standing)) = app.tracking.charge(&request) {
        let mut page = Notice::TooMany.answer(StatusCode::TOO_MANY_REQUESTS, brand)?;
        page.headers_mut().insert(RETRY_AFTER, wait_s(standing).into());
        return Ok(page);
    }
    match look_up(&app, &code).await {
        Ok(Some(view)) => page::of_parcel(brand, view),
        Ok(None) => Notice::Unknown.answer(StatusCode::NOT_FOUND, brand),
        Err(error) if error.is_unavailable() => {
            tracing::warn!(%error, "the database did not answer");
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

async fn look_up(app: &App, code: &str) -> Result<Option<TrackingView>, StoreError> {
    // Typed from paper, a code may be in lower case. Its check character spares the database most guesses.
    let Ok(code) = TrackingCode::typed(code) else { return Ok(None) };
    app.database
        .read(async |conn| {
            let Some(order) = orders::by_tracking_code(conn, &code).await? else { return Ok(None) };
            let events = timeline::list(conn, order.business_id, order.id, None, STEPS_MAX).await?;
            Ok(Some(TrackingView::new(order, events)))
        })
        .await
}
