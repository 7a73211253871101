//! `GET /internal/businesses/{id}/webhooks/summary`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::ApiError;

use super::errors::from_store;
use super::path;
use crate::app::App;
use crate::queries;

pub(super) async fn summary(app: Data<App>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let summary = queries::webhook_summary(&app, business).await.map_err(from_store)?;
    Ok(HttpResponse::Ok().json(summary))
}
