//! `GET /internal/businesses/{id}/api-keys`

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::Page;
use web::ApiError;

use super::errors::from_store;
use super::{path, view};
use crate::app::App;
use crate::queries;

pub(super) async fn list(
    request: HttpRequest,
    app: Data<App>,
    business: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let page = web::page_query(&request)?;
    let unknown = || {
        ApiError::invalid_field(
            "startingAfter",
            "invalid_value",
            "startingAfter names no API key of this list.",
        )
    };
    let after = page.starting_after.map(|id| id.parse().map_err(|_| unknown())).transpose()?;
    let keys = queries::list(&app, business, after, page.limit).await.map_err(from_store)?;
    let keys = keys.ok_or_else(unknown)?;
    Ok(HttpResponse::Ok().json(Page::cut(keys, page.limit).map(view::of_key)))
}
