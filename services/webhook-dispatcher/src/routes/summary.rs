//! `GET /internal/businesses/{id}/webhooks/summary`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::ApiError;

use super::{path, view};
use crate::queries;
use crate::state::State;

pub(super) async fn summary(state: Data<State>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let summary = queries::endpoints_summary(&state, business).await?;
    Ok(HttpResponse::Ok().json(view::of_summary(summary)))
}
