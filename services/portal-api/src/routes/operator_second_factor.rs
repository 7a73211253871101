//! `/v1/operator/second-factor`: a person of the staff manages their own second factor. Also: an administrator resets that of a
//! person, and the support that of a user.

use actix_web::http::header;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{BusinessId, SessionId, StaffId, UserId};
use serde::Serialize;
use web::{ApiError, JsonBody};

use super::audited::OperatorAuthor;
use super::caller::caller;
use super::errors;
use super::openapi::bodies;
use super::operator::business_id;
use super::operator_caller::{self, author, require_enrolled};
use super::second_factor::{EnrolmentView, FactorView, RecoveryCodesView, begin, parse_app_code};
use super::sensitive_calls::require_recent;
use super::session_cookie::OPERATOR;
use crate::commands::operator_session::ConsoleSession;
use crate::commands::staff_log_in::accepts_password;
use crate::commands::{Holder, enrol_factor, reset_factor};
use crate::domain::{
    Account, Author, CeremonyKey, CeremonyPurpose, OperatorActor, OperatorRole, SessionToken,
};
use crate::state::State;

/// The person whose console session sends a call.
pub(super) struct Person {
    pub(super) holder: Holder,
    pub(super) token: SessionToken,
    session: SessionId,
    role: OperatorRole,
    /// Of the session.
    pub(super) expires_at: DateTime<Utc>,
    pub(super) author: Author,
    pub(super) authenticated_at: DateTime<Utc>,
    single_sign_on: bool,
}

impl Person {
    /// The key of a passkey's challenge in this session.
    pub(super) fn ceremony(&self, purpose: CeremonyPurpose) -> CeremonyKey {
        CeremonyKey::new(purpose, self.session.to_string())
    }

    /// Who logged in with single sign-on, or is linked, proves nothing with a password: the provider decides about their access.
    ///
    /// # Errors
    /// 403 `password_log_in_off`.
    pub(super) async fn require_password(&self, state: &State) -> Result<(), ApiError> {
        let Account::Staff(id) = self.holder.account else { return Err(errors::account_required()) };
        if self.single_sign_on || !accepts_password(state, id).await? {
            return Err(errors::password_log_in_off());
        }
        Ok(())
    }
}

/// # Errors
/// 401 without a session, 403 if it is one of the configured token, or the person must set up a second factor first.
pub(super) async fn person(state: &State, request: &HttpRequest) -> Result<Person, ApiError> {
    of_session(state, request, require_enrolled(operator_caller::session_of_page(state, request).await?)?)
}

/// As [`person`], for the calls that set up a second factor: they are open to people who must do it first.
pub(super) async fn person_while_enrolling(state: &State, request: &HttpRequest) -> Result<Person, ApiError> {
    let session =
        operator_caller::session_of_page(state, request).await?.ok_or_else(errors::not_logged_in)?;
    of_session(state, request, session)
}

fn of_session(state: &State, request: &HttpRequest, session: ConsoleSession) -> Result<Person, ApiError> {
    let token = OPERATOR.read(state, request).ok_or_else(errors::not_logged_in)?;
    let OperatorActor::Person { id, email } = &session.actor else { return Err(errors::account_required()) };
    Ok(Person {
        holder: Holder { account: Account::Staff(*id), email: email.clone() },
        token,
        session: session.id,
        role: session.role,
        expires_at: session.expires_at,
        authenticated_at: session.authenticated_at,
        single_sign_on: session.single_sign_on,
        author: author(state, request, session.actor),
    })
}

/// As [`person`], if the last authentication is recent.
pub(super) async fn recent_person(state: &State, request: &HttpRequest) -> Result<Person, ApiError> {
    let person = person(state, request).await?;
    require_recent(state, Some(person.authenticated_at))?;
    Ok(person)
}

pub(super) fn private(view: impl Serialize) -> HttpResponse {
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(view)
}

#[utoipa::path(
    get,
    path = "/v1/operator/second-factor",
    operation_id = "readStaffSecondFactor",
    tag = "Operator",
    summary = "Whether the own account has a second factor",
    responses((status = 200, description = "The second factor.", body = FactorView)),
)]
pub(super) async fn read(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let person = person_while_enrolling(&state, &request).await?;
    let is_required = state.second_factors.requires_staff(person.role);
    Ok(private(FactorView::read(&state, person.holder.account, is_required).await?))
}

#[utoipa::path(
    post,
    path = "/v1/operator/second-factor",
    operation_id = "startStaffSecondFactor",
    tag = "Operator",
    summary = "Start to set up an authenticator app for the own account",
    responses((status = 201, description = "The secret, which is shown only once.", body = EnrolmentView)),
)]
pub(super) async fn start(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let person = person_while_enrolling(&state, &request).await?;
    require_recent(&state, Some(person.authenticated_at))?;
    let view = begin(&state, &person.holder).await?;
    Ok(HttpResponse::Created().insert_header((header::CACHE_CONTROL, "no-store")).json(view))
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
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let person = person_while_enrolling(&state, &request).await?;
    let code = parse_app_code(&body.0)?;
    let caller = caller(&state, &request);
    let confirmed = enrol_factor::confirm(&state, &person.holder, &code, &caller, &person.author).await;
    Ok(private(RecoveryCodesView::from(confirmed.map_err(errors::factor)?)))
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
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let person = recent_person(&state, &request).await?;
    let replaced = enrol_factor::replace_recovery_codes(&state, &person.holder, &person.author).await;
    Ok(private(RecoveryCodesView::from(replaced.map_err(errors::factor)?)))
}

#[utoipa::path(
    delete,
    path = "/v1/operator/second-factor",
    operation_id = "removeStaffSecondFactor",
    tag = "Operator",
    summary = "Turn off two-factor authentication of the own account",
    responses((status = 204, description = "The second factor is removed.")),
)]
pub(super) async fn remove(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let person = recent_person(&state, &request).await?;
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
