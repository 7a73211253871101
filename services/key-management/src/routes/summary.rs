//! `GET /internal/businesses/{id}/api-keys/summary`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::Mode;
use internal_api::keys::ApiKeySummary;
use web::ApiError;

use super::errors::from_store;
use super::path;
use crate::app::App;
use crate::queries;

pub(super) async fn summary(app: Data<App>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let modes = queries::working_modes(&app, path::business(&business)?).await.map_err(from_store)?;
    let summary = ApiKeySummary { test: modes.contains(&Mode::Test), live: modes.contains(&Mode::Live) };
    Ok(HttpResponse::Ok().json(summary))
}
