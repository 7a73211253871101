//! `GET /internal/businesses`

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use internal_api::Page;
use web::ApiError;

use crate::queries;
use crate::state::State;

pub(super) async fn list(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, ApiError> {
    let page = web::page_query(&request)?;
    let (shared, limit) = (state.clone(), page.limit);
    let after = page.starting_after.unwrap_or_default();
    let read = async move { queries::businesses::page(&shared, &after, limit).await };
    let businesses = state.tasks.run(read).await??;
    Ok(HttpResponse::Ok().json(Page::cut(businesses, limit)))
}
