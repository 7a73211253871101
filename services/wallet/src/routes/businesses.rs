//! `GET /internal/businesses`

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use internal_api::Page;
use web::ApiError;

use super::errors;
use crate::app::State;
use crate::store;

pub(super) async fn list(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, ApiError> {
    let page = web::page_query(&request)?;
    let behind = page.starting_after.unwrap_or_default();
    let database = state.database.clone();
    let read = async move {
        database.read(async |conn| store::wallets::businesses(conn, &behind, page.limit + 1).await).await
    };
    let businesses = state.tasks.run(read).await?.map_err(errors::from_store)?;
    Ok(HttpResponse::Ok().json(Page::cut(businesses, page.limit)))
}
