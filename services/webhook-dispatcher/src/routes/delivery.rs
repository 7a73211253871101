//! `GET /internal/businesses/{id}/webhook-deliveries/{delivery}`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::ApiError;

use super::errors::{delivery_not_found, from_store};
use super::{path, view};
use crate::app::App;
use crate::queries;

pub(super) async fn show(app: Data<App>, ids: Path<(String, String)>) -> Result<HttpResponse, ApiError> {
    let (business, delivery) = path::delivery(&ids)?;
    let found = queries::delivery(&app, business, delivery).await.map_err(from_store)?;
    let (delivery, body, attempts) = found.ok_or_else(delivery_not_found)?;
    Ok(HttpResponse::Ok().json(view::of_details(delivery, &body, attempts)))
}
