//! `GET /internal/businesses/{id}/webhook-endpoints` and `GET …/{endpoint}`

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::Page;
use web::ApiError;

use super::errors::{endpoint_not_found, from_store, unknown_start};
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
    let unknown = || unknown_start("webhook endpoint of this list");
    let after = page.starting_after.map(|id| id.parse().map_err(|_| unknown())).transpose()?;
    let endpoints = queries::endpoints(&app, business, after, page.limit).await.map_err(from_store)?;
    let page = Page::cut(endpoints.ok_or_else(unknown)?, page.limit);
    let moment = view::Moment::of(&app);
    Ok(HttpResponse::Ok().json(page.map(|endpoint| view::of_endpoint(endpoint, moment))))
}

pub(super) async fn show(app: Data<App>, ids: Path<(String, String)>) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&ids)?;
    let endpoint = queries::endpoint(&app, business, endpoint).await.map_err(from_store)?;
    let endpoint = endpoint.ok_or_else(endpoint_not_found)?;
    Ok(HttpResponse::Ok().json(view::of_endpoint(endpoint, view::Moment::of(&app))))
}
