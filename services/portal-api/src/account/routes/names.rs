//! `PUT /v1/portal/name` and `PUT /v1/operator/name`: a user, or a person of the staff, changes their own name.
//! `PUT /v1/portal/business`: an owner changes the name of the business.

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use serde_json::Value;
use web::{ApiError, Fields, JsonBody, read_body};

use crate::account::commands::{OwnAccount, change_name};
use crate::account::routes::account_fields::{business_name, plain_name};
use crate::domain::Session;
use crate::http::audited::UserAuthor;
use crate::http::errors;
use crate::http::openapi::bodies;
use crate::state::State;

/// In characters.
const NAME_MAX: usize = 100;
const STAFF_NAME_MAX: usize = 120;

#[utoipa::path(
    put,
    path = "/v1/portal/name",
    operation_id = "changeName",
    tag = "Account",
    summary = "Change or remove the own name",
    request_body = bodies::ChangeName,
    responses((status = 204, description = "The name is changed.")),
)]
pub(crate) async fn of_user(
    state: Data<State>,
    own: OwnAccount,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let name = parse(&body.0, "name", |fields| match fields.value("name") {
        None => Some(None),
        Some(_) => plain_name(fields, "name", NAME_MAX).map(Some),
    })?;
    change(&state, &own, name.as_deref()).await
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
pub(crate) async fn of_business(
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

#[utoipa::path(
    put,
    path = "/v1/operator/name",
    operation_id = "changeStaffName",
    tag = "Operator",
    summary = "Change the own name",
    request_body = bodies::ChangeStaffName,
    responses((status = 204, description = "The name is changed.")),
)]
pub(crate) async fn of_staff(
    state: Data<State>,
    own: OwnAccount,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let name = parse(&body.0, "name", |fields| plain_name(fields, "name", STAFF_NAME_MAX))?;
    change(&state, &own, Some(&name)).await
}

async fn change(state: &State, own: &OwnAccount, name: Option<&str>) -> Result<HttpResponse, ApiError> {
    change_name::of_account(state, own, name).await.map_err(errors::change_name)?;
    Ok(HttpResponse::NoContent().finish())
}

/// The only field of a body. It must be there, so that a misspelled name of the field removes nothing.
fn parse<T>(body: &Value, field: &str, read: impl FnOnce(&Fields<'_>) -> Option<T>) -> Result<T, ApiError> {
    read_body(body, &[field], |fields| match body.get(field) {
        Some(_) => read(fields),
        None => fields.missing(field),
    })
}
