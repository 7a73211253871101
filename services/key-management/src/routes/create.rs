//! `POST /internal/businesses/{id}/api-keys`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::BusinessId;
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks, TextRule};

use super::errors::from_create;
use super::{path, view};
use crate::commands::{self, NewKey};
use crate::state::State;

const NAME: TextRule = TextRule::line(80);

pub(super) async fn create(
    state: Data<State>,
    tasks: Data<Tasks>,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let new = read(path::business(&business)?, &body)?;
    let state = state.into_inner();
    let issued = tasks.run(async move { commands::create(&state, new).await }).await?.map_err(from_create)?;
    Ok(HttpResponse::Created().json(view::of_issued(issued)))
}

fn read(business: BusinessId, body: &JsonBody) -> Result<NewKey, ApiError> {
    let field_errors = FieldErrors::default();
    let new = Fields::of_body(&body.0, &field_errors).and_then(|fields| {
        let (mode, name) = (fields.required_word("mode", "test or live"), fields.required_text("name", NAME));
        Some(NewKey { business, mode: mode?, name: name? })
    });
    new.ok_or_else(|| ApiError::invalid(field_errors))
}
