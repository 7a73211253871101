//! `GET /internal/businesses/{id}/api-keys/{key}`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::ApiError;

use super::errors::key_not_found;
use super::{path, view};
use crate::queries;
use crate::state::State;

pub(super) async fn read(state: Data<State>, ids: Path<(String, String)>) -> Result<HttpResponse, ApiError> {
    let (business, id) = path::key_of_business(&ids)?;
    let key = queries::find(&state, business, id).await?.ok_or_else(key_not_found)?;
    Ok(HttpResponse::Ok().json(view::of_listed(key)))
}
