//! `GET /internal/businesses`

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use internal_api::Page;
use web::ApiError;

use super::errors::from_store;
use crate::app::App;
use crate::queries;

pub(super) async fn list(request: HttpRequest, app: Data<App>) -> Result<HttpResponse, ApiError> {
    let page = web::page_query(&request)?;
    let behind = page.starting_after.unwrap_or_default();
    let businesses = queries::businesses(&app, &behind, page.limit).await.map_err(from_store)?;
    Ok(HttpResponse::Ok().json(Page::cut(businesses, page.limit)))
}
