//! `GET …/orders/{id}/events?limit=&startingAfter=`: the timeline of an order, oldest first.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path};
use domain::{BusinessId, KeyScope, Mode};
use internal_api::orders::TimelinePage;
use web::{ApiError, page_query};

use super::openapi::params;
use super::{authenticate, errors, integration, views};
use crate::queries::{TimelineError, order_timeline};
use crate::state::State;

/// List the timeline of an order
///
/// Status changes, money and webhooks of the order in one list, oldest first.
#[utoipa::path(
    get,
    path = "/v1/integration/orders/{id}/events",
    operation_id = "listOrderEvents",
    tag = "Orders",
    params(params::OrderPath, params::TimelineQuery),
    responses((status = 200, description = "The timeline.", body = TimelinePage)),
)]
pub(super) async fn of_key(
    state: Data<State>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<Json<TimelinePage>, ApiError> {
    let caller = authenticate::business(&state, &request, KeyScope::ReadOrders).await?;
    page(&state, caller.business_id, Some(caller.mode), &id, &request).await
}

/// `GET /internal/businesses/{business}/orders/{id}/events`, in either mode
pub(super) async fn of_business(
    state: Data<State>,
    request: HttpRequest,
    path: Path<(String, String)>,
) -> Result<Json<TimelinePage>, ApiError> {
    page(&state, integration::parse_business(&path.0)?, None, &path.1, &request).await
}

async fn page(
    state: &State,
    business: BusinessId,
    mode: Option<Mode>,
    id: &str,
    request: &HttpRequest,
) -> Result<Json<TimelinePage>, ApiError> {
    let page = page_query(request)?;
    let id = integration::parse_id(id)?;
    let found = order_timeline(state, business, mode, id, &page).await.map_err(|error| match error {
        TimelineError::NotFound => errors::order_not_found(),
        TimelineError::UnknownStart => integration::unknown_cursor(),
        TimelineError::Peer(error) => error.into(),
        TimelineError::Store(error) => error.into(),
    })?;
    Ok(Json(views::timeline_page(found, page.limit)))
}
