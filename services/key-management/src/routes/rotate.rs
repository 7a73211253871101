//! `POST /internal/businesses/{id}/api-keys/{key}/rotate`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks};

use super::errors::from_rotate;
use super::{path, view};
use crate::commands;
use crate::domain::Grace;
use crate::state::State;

pub(super) async fn rotate(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (business, id) = path::key_of_business(&ids)?;
    let grace = read(&body)?;
    let state = state.into_inner();
    let issued = tasks.run(async move { commands::rotate(&state, business, id, grace).await }).await?;
    Ok(HttpResponse::Ok().json(view::of_issued(issued.map_err(from_rotate)?)))
}

fn read(body: &JsonBody) -> Result<Grace, ApiError> {
    let field_errors = FieldErrors::default();
    if let Some(fields) = Fields::of_body(&body.0, &field_errors)
        && let Some(seconds) = fields.required_integer("graceSeconds", 0, 86_400)
    {
        match Grace::from_seconds(seconds) {
            Some(grace) => return Ok(grace),
            None => fields.reject(
                "graceSeconds",
                "invalid_value",
                "graceSeconds must be 0, 900, 3600, 21600 or 86400.",
            ),
        }
    }
    Err(ApiError::invalid(field_errors))
}
