//! `PUT /v1/portal/name`: a user changes their own name. `PUT /v1/portal/business`: an owner changes the name of the business.

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody};

use super::account_fields::{business_name, plain_name};
use super::audited::UserAuthor;
use super::errors;
use super::openapi::bodies;
use crate::commands::change_name;
use crate::domain::Session;
use crate::state::State;

/// In characters.
const NAME_MAX: usize = 100;

#[utoipa::path(
    put,
    path = "/v1/portal/name",
    operation_id = "changeName",
    tag = "Account",
    summary = "Change or remove the own name",
    request_body = bodies::ChangeName,
    responses((status = 204, description = "The name is changed.")),
)]
pub(super) async fn of_user(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let name = parse(&body.0, "name", |fields| match fields.value("name") {
        None => Some(None),
        Some(_) => plain_name(fields, "name", NAME_MAX).map(Some),
    })?;
    let changed = change_name::of_user(&state, &session, &author.0, name.as_deref()).await;
    changed.map_err(errors::change_name)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    put,
    path = "/v1/portal/business",
    operation_id = "renameBusiness",
    tag = "Account",
    summary = "Change the name of the business",
    request_body = bodies::RenameBusiness,
    responses((status = 204, description = "The name is changed.")),
)]
pub(super) async fn of_business(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let name = parse(&body.0, "businessName", business_name)?;
    let changed = change_name::of_business(&state, session.business, &author.0, &name).await;
    changed.map_err(errors::change_name)?;
    Ok(HttpResponse::NoContent().finish())
}

/// The only field of a body. It must be there, so that a misspelled name of the field removes nothing.
fn parse<T>(body: &Value, field: &str, read: impl FnOnce(&Fields<'_>) -> Option<T>) -> Result<T, ApiError> {
    let field_errors = FieldErrors::default();
    let parsed = Fields::of_body(body, &field_errors).and_then(|fields| {
        for name in fields.unknown(&[field]) {
            field_errors.add(&name, "unknown_field", format!("{name} cannot be changed here."));
        }
        if body.get(field).is_none() { fields.missing(field) } else { read(&fields) }
    });
    match parsed {
        Some(parsed) if field_errors.is_empty() => Ok(parsed),
        _ => Err(ApiError::invalid(field_errors)),
    }
}
