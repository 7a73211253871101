//! `PATCH …/webhook-endpoints/{endpoint}`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::{BusinessId, EndpointId};
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks};

use super::errors::from_update;
use super::{input, path, view};
use crate::commands::{self, EndpointUpdate};
use crate::state::State;

pub(super) async fn update(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let update = read(path::endpoint(&ids)?, &body, state.offers_requests)?;
    let state = state.into_inner();
    let context = view::ViewContext::of(&state);
    let endpoint = tasks
        .run(async move { commands::update_endpoint(&state, update).await })
        .await?
        .map_err(from_update)?;
    Ok(HttpResponse::Ok().json(view::of_endpoint(endpoint, context)))
}

fn read(
    (business, endpoint): (BusinessId, EndpointId),
    body: &JsonBody,
    offers_requests: bool,
) -> Result<EndpointUpdate, ApiError> {
    let field_errors = FieldErrors::default();
    let update = Fields::of_body(&body.0, &field_errors).map(|fields| {
        input::refuse_unknown(&fields, &["url", "events", "modes", "status", "maxPerSecond"]);
        EndpointUpdate {
            business,
            endpoint,
            url: input::url(&fields),
            events: input::events(&fields, offers_requests),
            modes: input::modes(&fields),
            activity: input::activity(&fields),
            max_per_second: input::max_per_second(&fields),
        }
    });
    match update {
        Some(update) if field_errors.is_empty() => Ok(update),
        _ => Err(ApiError::invalid(field_errors)),
    }
}
