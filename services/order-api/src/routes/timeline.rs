//! `GET …/orders/{id}/events?limit=&startingAfter=`: all that happened to an order, oldest first.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path};
use domain::{BusinessId, Mode};
use internal_api::orders::TimelinePage;
use web::{ApiError, page_query};

use super::{authenticate, errors, integration, views};
use crate::app::App;
use crate::queries::{TimelineError, order_timeline};

/// `GET /v1/integration/orders/{id}/events`
pub(super) async fn of_key(
    app: Data<App>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<Json<TimelinePage>, ApiError> {
    let caller = authenticate::business(&app, &request).await?;
    page(&app, caller.business_id, Some(caller.mode), &id, &request).await
}

/// `GET /internal/businesses/{business}/orders/{id}/events`; either mode
pub(super) async fn of_business(
    app: Data<App>,
    request: HttpRequest,
    path: Path<(String, String)>,
) -> Result<Json<TimelinePage>, ApiError> {
    page(&app, integration::parse_business(&path.0)?, None, &path.1, &request).await
}

async fn page(
    app: &App,
    business: BusinessId,
    mode: Option<Mode>,
    id: &str,
    request: &HttpRequest,
) -> Result<Json<TimelinePage>, ApiError> {
    let page = page_query(request)?;
    let id = integration::parse_id(id)?;
    let found = order_timeline(app, business, mode, id, &page).await.map_err(|error| match error {
        TimelineError::NotFound => errors::order_not_found(),
        TimelineError::UnknownStart => integration::unknown_cursor(),
        TimelineError::Peer(error) => error.into(),
        TimelineError::Store(error) => errors::from_store(error),
    })?;
    Ok(Json(views::timeline_page(found, page.limit)))
}
