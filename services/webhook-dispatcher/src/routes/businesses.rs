//! `GET /internal/businesses`, and `POST …/{id}/erasure` of a closed one

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::{ErasureProgress, Page};
use web::{ApiError, Tasks};

use super::path;
use crate::state::State;
use crate::{commands, queries};

pub(super) async fn list(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, ApiError> {
    let page = web::page_query(&request)?;
    let after = page.starting_after.unwrap_or_default();
    let businesses = queries::businesses(&state, &after, page.limit).await?;
    Ok(HttpResponse::Ok().json(Page::cut(businesses, page.limit)))
}

pub(super) async fn erase(
    state: Data<State>,
    tasks: Data<Tasks>,
    business: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let state = state.into_inner();
    let complete = tasks.run(async move { commands::erase_business(&state, business).await }).await??;
    Ok(HttpResponse::Ok().json(ErasureProgress { complete }))
}
