//! `GET /internal/businesses`

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use internal_api::Page;
use web::ApiError;

use crate::queries;
use crate::state::State;

pub(super) async fn list(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, ApiError> {
    let page = web::page_query(&request)?;
    let after = page.starting_after.unwrap_or_default();
    let businesses = queries::wallets::businesses(&state, &after, page.limit).await?;
    Ok(HttpResponse::Ok().json(Page::cut(businesses, page.limit)))
}
