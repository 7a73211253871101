//! `POST /internal/businesses/{id}/webhook-endpoints`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::{BusinessId, DEFAULT_SUBSCRIPTION, Mode};
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks};

use super::errors::from_create;
use super::{input, path, view};
use crate::commands::{self, NewEndpoint};
use crate::state::State;

pub(super) async fn create(
    state: Data<State>,
    tasks: Data<Tasks>,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let new = read(path::business(&business)?, &body, state.offers_requests)?;
    let state = state.into_inner();
    let context = view::ViewContext::of(&state);
    let created =
        tasks.run(async move { commands::create_endpoint(&state, new).await }).await?.map_err(from_create)?;
    Ok(HttpResponse::Created().json(view::of_created(created, context)))
}

fn read(business: BusinessId, body: &JsonBody, offers_requests: bool) -> Result<NewEndpoint, ApiError> {
    let field_errors = FieldErrors::default();
    let given = Fields::of_body(&body.0, &field_errors).map(|fields| {
        input::refuse_unknown(&fields, &["url", "events", "modes", "maxPerSecond"]);
        let limit = input::max_per_second(&fields).flatten();
        let url = input::required_url(&fields);
        (url, input::events(&fields, offers_requests), input::modes(&fields), limit)
    });
    match given {
        Some((Some(url), events, modes, max_per_second)) if field_errors.is_empty() => Ok(NewEndpoint {
            business,
            url,
            events: events.unwrap_or_else(|| DEFAULT_SUBSCRIPTION.to_vec()),
            modes: modes.unwrap_or_else(|| vec![Mode::Live, Mode::Test]),
            max_per_second,
        }),
        _ => Err(ApiError::invalid(field_errors)),
    }
}
