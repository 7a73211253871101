//! `POST /internal/businesses/{id}/api-keys?createdBy=`

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{BusinessId, UserId};
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks, TextRule, read_query};

use super::errors::from_create;
use super::{options, path, view};
use crate::commands::{self, NewKey};
use crate::state::State;

const NAME: TextRule = TextRule::line(80);

pub(super) async fn create(
    request: HttpRequest,
    state: Data<State>,
    tasks: Data<Tasks>,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let created_by = read_query(&request, |query| query.parsed("createdBy", "the id of a user"))?;
    let new = read(path::business(&business)?, created_by, &body, state.unit.clock.now())?;
    let state = state.into_inner();
    let issued = tasks.run(async move { commands::create(&state, new).await }).await?.map_err(from_create)?;
    Ok(HttpResponse::Created().json(view::of_issued(issued)))
}

fn read(
    business: BusinessId,
    created_by: Option<UserId>,
    body: &JsonBody,
    now: DateTime<Utc>,
) -> Result<NewKey, ApiError> {
    let (errors, option_errors) = (FieldErrors::default(), FieldErrors::default());
    let new = Fields::of_body(&body.0, &errors).and_then(|fields| {
        let known = ["mode", "name", options::EXPIRES_AT, options::SCOPES, options::IP_ALLOW_LIST];
        options::refuse_unknown(&fields, &known);
        let (mode, name) = (fields.required_word("mode", "test or live"), fields.required_text("name", NAME));
        let fields = Fields::of_body(&body.0, &option_errors)?;
        let (expires_at, restrictions) = (options::expires_at(&fields, now), options::restrictions(&fields));
        Some(NewKey { business, mode: mode?, name: name?, created_by, expires_at, restrictions })
    });
    match new {
        Some(new) if errors.is_empty() && option_errors.is_empty() => Ok(new),
        _ => Err(options::refusal(errors, option_errors)),
    }
}
