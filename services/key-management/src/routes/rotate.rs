//! `POST /internal/businesses/{id}/api-keys/{key}/rotate?createdBy=`

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks, read_query};

use super::errors::from_rotate;
use super::{options, path, view};
use crate::commands::{self, Rotation};
use crate::domain::Grace;
use crate::state::State;

pub(super) async fn rotate(
    request: HttpRequest,
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (business, id) = path::key_of_business(&ids)?;
    let rotated_by = read_query(&request, |query| query.parsed("createdBy", "the id of a user"))?;
    let (grace, expires_at) = read(&body, state.unit.clock.now())?;
    let rotation = Rotation { grace, expires_at, rotated_by };
    let state = state.into_inner();
    let work = async move { commands::rotate(&state, business, id, rotation).await };
    let issued = tasks.run(work).await?;
    Ok(HttpResponse::Ok().json(view::of_issued(issued.map_err(from_rotate)?)))
}

fn read(body: &JsonBody, now: DateTime<Utc>) -> Result<(Grace, Option<DateTime<Utc>>), ApiError> {
    let (errors, option_errors) = (FieldErrors::default(), FieldErrors::default());
    let read = Fields::of_body(&body.0, &errors).and_then(|fields| {
        options::refuse_unknown(&fields, &["graceSeconds", options::EXPIRES_AT]);
        let grace = grace(&fields);
        let expires_at = options::expires_at(&Fields::of_body(&body.0, &option_errors)?, now);
        Some((grace?, expires_at))
    });
    match read {
        Some(read) if errors.is_empty() && option_errors.is_empty() => Ok(read),
        _ => Err(options::refusal(errors, option_errors)),
    }
}

fn grace(fields: &Fields<'_>) -> Option<Grace> {
    let grace = Grace::from_seconds(fields.required_integer("graceSeconds", 0, 86_400)?);
    if grace.is_none() {
        let message = "graceSeconds must be 0, 900, 3600, 21600 or 86400.";
        fields.reject("graceSeconds", "invalid_value", message);
    }
    grace
}
