//! `POST`, `GET`, `DELETE /v1/portal/session`: log in, read the session, log out.

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{BusinessId, Email, UserId};
use identity::Realm;
use identity::passwords::Password;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, read_body};

use crate::commands::log_in::{self, LogIn, LogInOutcome};
use crate::commands::log_out::log_out as end_session;
use crate::domain::{BusinessStatus, Membership, Permission, Role, Session};
use crate::queries;
use crate::routes::account_fields::{email, password_text};
use crate::routes::audited::{request_id, visitor};
use crate::routes::caller::address;
use crate::routes::openapi::bodies;
use crate::routes::opened::opened;
use crate::routes::operator_session::LoggedOutView;
use crate::routes::second_step::{self, ChallengeView};
use crate::routes::{errors, session_cookie};
use crate::state::State;

/// The session of the logged-in user.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionView<'a> {
    business_id: BusinessId,
    business_name: &'a str,
    user_id: UserId,
    email: &'a str,
    /// Whether the user has confirmed the e-mail address.
    email_verified: bool,
    name: Option<&'a str>,
    role: Role,
    /// What the role may do.
    permissions: Vec<Permission>,
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    /// Present if the role requires two-factor authentication that the user has not set up. All other calls are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    mfa_enrolment_required: Option<bool>,
    /// Present if the identity provider of the business has authenticated the user. Such a session changes nothing of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    single_sign_on: Option<bool>,
    /// The businesses of the person, by name; with the present one. Only in the response to `GET`.
    #[serde(skip_serializing_if = "Option::is_none")]
    memberships: Option<Vec<MembershipView>>,
}

/// A business that the person belongs to.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct MembershipView {
    business_id: BusinessId,
    business_name: String,
    role: Role,
    status: BusinessStatus,
}

impl From<Membership> for MembershipView {
    fn from(membership: Membership) -> Self {
        Self {
            business_id: membership.business,
            business_name: membership.business_name,
            role: membership.role,
            status: membership.status,
        }
    }
}

impl<'a> SessionView<'a> {
    pub(super) fn of(session: &'a Session) -> Self {
        Self {
            business_id: session.business,
            business_name: &session.business_name,
            user_id: session.user,
            email: &session.email,
            email_verified: session.email_verified,
            name: session.name.as_deref(),
            role: session.role,
            permissions: session.role.permissions(),
            created_at: session.created_at,
            expires_at: session.expires_at,
            mfa_enrolment_required: session.must_enrol.then_some(true),
            memberships: None,
            single_sign_on: session.single_sign_on.then_some(true),
        }
    }
}

#[utoipa::path(
    post,
    path = "/v1/portal/session",
    operation_id = "logIn",
    tag = "Account",
    summary = "Log in",
    request_body = bodies::LogIn,
    responses(
        (status = 200, description = "The session. A cookie carries it.", body = SessionView),
        (status = 202, description = "The account has a second factor. Send its code with the cookie of this response.", body = ChallengeView),
    ),
)]
pub(super) async fn log_in(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (email, password) = parse(&body.0)?;
    log_in_with_password(&state, Realm::User, &request, email, password).await
}

/// In either realm.
pub(super) async fn log_in_with_password(
    state: &Data<State>,
    realm: Realm,
    request: &HttpRequest,
    email: Email,
    password: Password,
) -> Result<HttpResponse, ApiError> {
    let log_in = LogIn { email, password, visitor: visitor(state, request, realm) };
    match log_in::log_in(state, log_in).await.map_err(errors::log_in)? {
        LogInOutcome::Session(session) => opened(state, realm, &mut HttpResponse::Ok(), &session).await,
        LogInOutcome::Challenge(challenge) => Ok(second_step::challenge(state, realm, &challenge)),
    }
}

#[utoipa::path(
    get,
    path = "/v1/portal/session",
    operation_id = "whoAmI",
    tag = "Account",
    summary = "Read the session",
    responses((status = 200, description = "The session.", body = SessionView)),
)]
pub(super) async fn who_am_i(
    state: Data<State>,
    session: ReqData<Session>,
) -> Result<HttpResponse, ApiError> {
    let memberships = queries::memberships::of_session(&state, &session).await?;
    let memberships = Some(memberships.into_iter().map(MembershipView::from).collect());
    Ok(HttpResponse::Ok().json(SessionView { memberships, ..SessionView::of(&session) }))
}

/// Succeeds without a session too.
#[utoipa::path(
    delete,
    path = "/v1/portal/session",
    operation_id = "logOut",
    tag = "Account",
    summary = "Log out",
    responses(
        (status = 200, description = "Logged out here, and not yet at the identity provider.", body = LoggedOutView),
        (status = 204, description = "Logged out."),
    ),
)]
pub(super) async fn log_out(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    if let Some(token) = session_cookie::PORTAL.read(&state, &request) {
        let from = (request_id(&request), address(&state, &request));
        if let Some(url) = end_session(&state, &token, from).await? {
            let view = LoggedOutView { log_out_url: url.into() };
            return Ok(HttpResponse::Ok().cookie(session_cookie::PORTAL.clear(&state)).json(view));
        }
    }
    Ok(HttpResponse::NoContent().cookie(session_cookie::PORTAL.clear(&state)).finish())
}

fn parse(body: &Value) -> Result<(Email, Password), ApiError> {
    read_body(body, &["email", "password"], |fields| {
        let (email, password) = (email(fields), password_text(fields, "password"));
        Some((email?, Password::entered(password?)))
    })
}
