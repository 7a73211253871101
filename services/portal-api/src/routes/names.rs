//! `PUT /v1/portal/name` and `PUT /v1/operator/name`: a user, or a person of the staff, changes their own name.
//! `PUT /v1/portal/business`: an owner changes the name of the business.

use std::rc::Rc;

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use serde_json::Value;
use web::{ApiError, Fields, JsonBody, read_body};

use super::account_fields::{business_name, plain_name};
use super::audited::UserAuthor;
use super::errors;
use super::openapi::bodies;
use super::operator_caller::Person;
use crate::commands::{change_name, change_staff_name};
use crate::domain::{Account, Session};
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

#[utoipa::path(
    put,
    path = "/v1/operator/name",
    operation_id = "changeStaffName",
    tag = "Operator",
    summary = "Change the own name",
    request_body = bodies::ChangeStaffName,
    responses((status = 204, description = "The name is changed.")),
)]
pub(super) async fn of_staff(
    state: Data<State>,
    person: ReqData<Rc<Person>>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let Account::Staff(id) = person.holder.account else { return Err(errors::account_required()) };
    let name = parse(&body.0, "name", |fields| plain_name(fields, "name", STAFF_NAME_MAX))?;
    let changed = change_staff_name::change_name(&state, &person.author, id, &name).await;
    changed.map_err(errors::staff)?;
    Ok(HttpResponse::NoContent().finish())
}

/// The only field of a body. It must be there, so that a misspelled name of the field removes nothing.
fn parse<T>(body: &Value, field: &str, read: impl FnOnce(&Fields<'_>) -> Option<T>) -> Result<T, ApiError> {
    read_body(body, &[field], |fields| match body.get(field) {
        Some(_) => read(fields),
        None => fields.missing(field),
    })
}
