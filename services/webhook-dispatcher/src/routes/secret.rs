//! `POST …/webhook-endpoints/{endpoint}/secret/rotate` and `…/secret/activate`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use chrono::TimeDelta;
use domain::{BusinessId, EndpointId};
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks};

use super::errors::{from_activate, from_rotate};
use super::{input, path, view};
use crate::commands::{self, Rotation};
use crate::state::State;

const GRACE_DEFAULT_SECONDS: i64 = 86_400;
/// A week is long enough for any deployment.
const GRACE_MAX_SECONDS: i64 = 604_800;

pub(super) async fn rotate(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let rotation = read(path::endpoint(&ids)?, &body.0)?;
    let state = state.into_inner();
    let context = view::ViewContext::of(&state);
    let rotated = tasks.run(async move { commands::rotate_secret(&state, rotation).await }).await?;
    Ok(HttpResponse::Ok().json(view::of_created(rotated.map_err(from_rotate)?, context)))
}

pub(super) async fn activate(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&ids)?;
    let state = state.into_inner();
    let context = view::ViewContext::of(&state);
    let work = async move { commands::activate_secret(&state, business, endpoint).await };
    Ok(HttpResponse::Ok().json(view::of_endpoint(tasks.run(work).await?.map_err(from_activate)?, context)))
}

/// A missing body counts as an empty one.
fn read((business, endpoint): (BusinessId, EndpointId), body: &Value) -> Result<Rotation, ApiError> {
    let field_errors = FieldErrors::default();
    let empty = Value::Object(serde_json::Map::new());
    let body = if body.is_null() { &empty } else { body };
    let rotation = Fields::of_body(body, &field_errors).map(|fields| {
        input::refuse_unknown(&fields, &["graceSeconds", "replaceStaged"]);
        let grace = fields.optional_integer("graceSeconds", 0, GRACE_MAX_SECONDS);
        Rotation {
            business,
            endpoint,
            grace: TimeDelta::seconds(grace.unwrap_or(GRACE_DEFAULT_SECONDS)),
            replace_staged: fields.optional_boolean("replaceStaged").unwrap_or(false),
        }
    });
    match rotation {
        Some(rotation) if field_errors.is_empty() => Ok(rotation),
        _ => Err(ApiError::invalid(field_errors)),
    }
}
