//! `GET /internal/businesses/{id}/webhook-endpoints` and `GET …/{endpoint}`

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::Page;
use web::ApiError;

use super::errors::{endpoint_not_found, unknown_start};
use super::{path, view};
use crate::queries;
use crate::state::State;

pub(super) async fn list(
    request: HttpRequest,
    state: Data<State>,
    business: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let page = web::page_query(&request)?;
    let unknown = || unknown_start("webhook endpoint of this list");
    let after = page.starting_after.map(|id| id.parse().map_err(|_| unknown())).transpose()?;
    let endpoints = queries::endpoints(&state, business, after, page.limit).await?;
    let page = Page::cut(endpoints.ok_or_else(unknown)?, page.limit);
    let context = view::ViewContext::of(&state);
    Ok(HttpResponse::Ok().json(page.map(|endpoint| view::of_endpoint(endpoint, context))))
}

pub(super) async fn show(state: Data<State>, ids: Path<(String, String)>) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&ids)?;
    let endpoint = queries::endpoint(&state, business, endpoint).await?;
    let endpoint = endpoint.ok_or_else(endpoint_not_found)?;
    Ok(HttpResponse::Ok().json(view::of_endpoint(endpoint, view::ViewContext::of(&state))))
}
