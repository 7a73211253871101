//! `GET /internal/businesses/{id}/api-keys/summary`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::Mode;
use internal_api::keys::ApiKeySummary;
use web::ApiError;

use super::path;
use crate::queries;
use crate::state::State;

pub(super) async fn summary(state: Data<State>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let modes = queries::working_modes(&state, path::business(&business)?).await?;
    let summary = ApiKeySummary { test: modes.contains(&Mode::Test), live: modes.contains(&Mode::Live) };
    Ok(HttpResponse::Ok().json(summary))
}
