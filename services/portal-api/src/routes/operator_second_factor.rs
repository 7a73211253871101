//! `/v1/operator/second-factor`: a person of the staff manages their own second factor. Also: an administrator resets that of a
//! person, and the support that of a user.

use std::rc::Rc;

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::{BusinessId, StaffId, UserId};
use web::{ApiError, JsonBody};

use super::audited::OperatorAuthor;
use super::caller::caller;
use super::errors;
use super::openapi::bodies;
use super::operator::business_id;
use super::operator_caller::Person;
use super::second_factor::{EnrolmentView, FactorView, RecoveryCodesView, begin, parse_app_code};
use crate::commands::{enrol_factor, reset_factor};
use crate::state::State;

#[utoipa::path(
    get,
    path = "/v1/operator/second-factor",
    operation_id = "readStaffSecondFactor",
    tag = "Operator",
    summary = "Whether the own account has a second factor",
    responses((status = 200, description = "The second factor.", body = FactorView)),
)]
pub(super) async fn read(state: Data<State>, person: ReqData<Rc<Person>>) -> Result<HttpResponse, ApiError> {
    let is_required = state.second_factors.requires_staff(person.role);
    let view = FactorView::read(&state, person.holder.account, is_required).await?;
    Ok(HttpResponse::Ok().json(view))
}

#[utoipa::path(
    post,
    path = "/v1/operator/second-factor",
    operation_id = "startStaffSecondFactor",
    tag = "Operator",
    summary = "Start to set up an authenticator app for the own account",
    responses((status = 201, description = "The secret, which is shown only once.", body = EnrolmentView)),
)]
pub(super) async fn start(state: Data<State>, person: ReqData<Rc<Person>>) -> Result<HttpResponse, ApiError> {
    let view = begin(&state, &person.holder).await?;
    Ok(HttpResponse::Created().json(view))
}

#[utoipa::path(
    post,
    path = "/v1/operator/second-factor/confirm",
    operation_id = "confirmStaffSecondFactor",
    tag = "Operator",
    summary = "Turn on two-factor authentication with the first code of the app",
    request_body = bodies::AppCode,
    responses((status = 200, description = "The recovery codes, which are shown only once.", body = RecoveryCodesView)),
)]
pub(super) async fn confirm(
    state: Data<State>,
    person: ReqData<Rc<Person>>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let code = parse_app_code(&body.0)?;
    let caller = caller(&state, &request);
    let confirmed = enrol_factor::confirm(&state, &person.holder, &code, &caller, &person.author).await;
    Ok(HttpResponse::Ok().json(RecoveryCodesView::from(confirmed.map_err(errors::factor)?)))
}

#[utoipa::path(
    post,
    path = "/v1/operator/second-factor/recovery-codes",
    operation_id = "replaceStaffRecoveryCodes",
    tag = "Operator",
    summary = "Replace all recovery codes of the own account",
    responses((status = 200, description = "The recovery codes, which are shown only once.", body = RecoveryCodesView)),
)]
pub(super) async fn replace_recovery_codes(
    state: Data<State>,
    person: ReqData<Rc<Person>>,
) -> Result<HttpResponse, ApiError> {
    let replaced = enrol_factor::replace_recovery_codes(&state, &person.holder, &person.author).await;
    Ok(HttpResponse::Ok().json(RecoveryCodesView::from(replaced.map_err(errors::factor)?)))
}

#[utoipa::path(
    delete,
    path = "/v1/operator/second-factor",
    operation_id = "removeStaffSecondFactor",
    tag = "Operator",
    summary = "Turn off two-factor authentication of the own account",
    responses((status = 204, description = "The second factor is removed.")),
)]
pub(super) async fn remove(
    state: Data<State>,
    person: ReqData<Rc<Person>>,
) -> Result<HttpResponse, ApiError> {
    enrol_factor::remove(&state, &person.holder, &person.author).await.map_err(errors::factor)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    delete,
    path = "/v1/operator/staff/{id}/second-factor",
    operation_id = "resetStaffSecondFactor",
    tag = "Operator",
    summary = "Remove the second factor of a person who has lost it, and end their sessions",
    params(("id" = StaffId, Path, description = "The person.")),
    responses((status = 204, description = "The second factor is removed.")),
)]
pub(super) async fn reset_staff(
    state: Data<State>,
    author: OperatorAuthor,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let id = id.parse().map_err(|_| errors::staff_not_found())?;
    let reset = reset_factor::of_staff(&state, &author.0, id).await;
    reset.map_err(|error| errors::reset_factor(error, errors::staff_not_found))?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    delete,
    path = "/v1/operator/businesses/{id}/users/{user}/second-factor",
    operation_id = "resetSecondFactorOfUser",
    tag = "Operator",
    summary = "Remove the second factor of a user who has lost it, and end their sessions",
    params(
        ("id" = BusinessId, Path, description = "The business."),
        ("user" = UserId, Path, description = "The user."),
    ),
    responses((status = 204, description = "The second factor is removed.")),
)]
pub(super) async fn reset_user(
    state: Data<State>,
    author: OperatorAuthor,
    path: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, user) = path.into_inner();
    let business = business_id(&state, &business).await?;
    let user = user.parse().map_err(|_| errors::user_not_found())?;
    let reset = reset_factor::of_user(&state, business, &author.0, user).await;
    reset.map_err(|error| errors::reset_factor(error, errors::user_not_found))?;
    Ok(HttpResponse::NoContent().finish())
}
