//! `GET /internal/businesses/{id}/webhook-deliveries/{delivery}`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::ApiError;

use super::errors::delivery_not_found;
use super::{path, view};
use crate::queries;
use crate::state::State;

pub(super) async fn show(state: Data<State>, ids: Path<(String, String)>) -> Result<HttpResponse, ApiError> {
    let (business, delivery) = path::delivery(&ids)?;
    let found = queries::delivery(&state, business, delivery).await?;
    let (delivery, body, attempts) = found.ok_or_else(delivery_not_found)?;
    Ok(HttpResponse::Ok().json(view::of_details(delivery, &body, attempts)))
}
