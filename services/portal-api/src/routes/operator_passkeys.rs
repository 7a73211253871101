//! `/v1/operator/second-factor/passkeys`: a person of the staff manages the passkeys of their account.

use std::rc::Rc;

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, ReqData};
use domain::PasskeyId;
use web::{ApiError, JsonBody};

use super::errors;
use super::openapi::bodies;
use super::operator_caller::Person;
use super::passkeys::{PasskeyOptionsView, PasskeyView, PasskeysView, parse};
use crate::commands::manage_passkeys;
use crate::domain::CeremonyPurpose;
use crate::state::State;

#[utoipa::path(
    get,
    path = "/v1/operator/second-factor/passkeys",
    operation_id = "listStaffPasskeys",
    tag = "Operator",
    summary = "The passkeys of the own account, the oldest first",
    responses((status = 200, description = "The passkeys.", body = PasskeysView)),
)]
pub(super) async fn list(state: Data<State>, person: ReqData<Rc<Person>>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(PasskeysView::read(&state, person.holder.account).await?))
}

#[utoipa::path(
    post,
    path = "/v1/operator/second-factor/passkeys/options",
    operation_id = "startStaffPasskey",
    tag = "Operator",
    summary = "Begin to add a passkey to the own account, which has an authenticator app",
    responses((status = 200, description = "A challenge. It is valid for five minutes, and once.", body = PasskeyOptionsView)),
)]
pub(super) async fn start(state: Data<State>, person: ReqData<Rc<Person>>) -> Result<HttpResponse, ApiError> {
    let key = person.ceremony(CeremonyPurpose::Add);
    let options = manage_passkeys::start(&state, &person.holder, key).await;
    Ok(PasskeyOptionsView::respond(options.map_err(errors::factor)?))
}

#[utoipa::path(
    post,
    path = "/v1/operator/second-factor/passkeys",
    operation_id = "addStaffPasskey",
    tag = "Operator",
    summary = "Add a passkey to the own account",
    request_body = bodies::AddPasskey,
    responses((status = 201, description = "The passkey.", body = PasskeyView)),
)]
pub(super) async fn add(
    state: Data<State>,
    person: ReqData<Rc<Person>>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let addition = parse(&body.0)?;
    let key = person.ceremony(CeremonyPurpose::Add);
    let added = manage_passkeys::add(&state, &person.holder, &addition, key, &person.author).await;
    let view = PasskeyView::from(added.map_err(errors::factor)?);
    Ok(HttpResponse::Created().json(view))
}

#[utoipa::path(
    delete,
    path = "/v1/operator/second-factor/passkeys/{id}",
    operation_id = "removeStaffPasskey",
    tag = "Operator",
    summary = "Remove a passkey of the own account",
    params(("id" = PasskeyId, Path, description = "The passkey.")),
    responses((status = 204, description = "The passkey is removed.")),
)]
pub(super) async fn remove(
    state: Data<State>,
    person: ReqData<Rc<Person>>,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let id = id.parse().map_err(|_| errors::passkey_not_found())?;
    let removed = manage_passkeys::remove(&state, &person.holder, id, &person.author).await;
    removed.map_err(errors::factor)?;
    Ok(HttpResponse::NoContent().finish())
}
