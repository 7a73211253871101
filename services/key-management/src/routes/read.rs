//! `GET /internal/businesses/{id}/api-keys/{key}`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::ApiError;

use super::errors::{from_store, key_not_found};
use super::{path, view};
use crate::app::App;
use crate::queries;

pub(super) async fn read(app: Data<App>, ids: Path<(String, String)>) -> Result<HttpResponse, ApiError> {
    let (business, id) = path::key_of_business(&ids)?;
    let key = queries::find(&app, business, id).await.map_err(from_store)?.ok_or_else(key_not_found)?;
    Ok(HttpResponse::Ok().json(view::of_key(key)))
}
