//! `POST`, `GET`, `DELETE /v1/operator/session`: log in to the operator's console, check the session, log out.

use std::rc::Rc;

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{Email, Paise};
use identity::Realm;
use identity::passwords::Password;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, TextRule, read_body};

use crate::commands::audit_line::{Refusal, log_refusal};
use crate::commands::operator_session::{self, ConsoleSession};
use crate::commands::{OpenedSession, approval_limit};
use crate::domain::{OperatorActor, OperatorPermission, OperatorRole};
use crate::routes::account_fields::{email, password_text};
use crate::routes::audited::{browser, request_id};
use crate::routes::caller::address;
use crate::routes::openapi::bodies;
use crate::routes::operator_caller::{self, author};
use crate::routes::second_step::ChallengeView;
use crate::routes::session::log_in_with_password;
use crate::routes::session_cookie::OPERATOR;
use crate::routes::{errors, opened};
use crate::state::State;

/// Longer than any operator token.
const TOKEN_TEXT: TextRule = TextRule::line(1_024);

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OperatorSessionView {
    expires_at: DateTime<Utc>,
    /// `person`, or `configuration` for the installation token.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The id of the person.
    id: Option<String>,
    /// The e-mail address of the person, or `configuration`.
    name: String,
    /// The name of the person.
    display_name: Option<String>,
    role: OperatorRole,
    permissions: Vec<OperatorPermission>,
    /// Present if the role requires two-factor authentication that the person has not set up. All other calls are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    mfa_enrolment_required: Option<bool>,
    /// Present if the identity provider has authenticated the person. It also confirms the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    single_sign_on: Option<bool>,
    approvals: ApprovalPolicyView,
}

/// Which calls need a second person.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct ApprovalPolicyView {
    /// Credits and debits of wallets above this amount. `null`: none.
    credits_above_paise: Option<Paise>,
    /// The setting, which `creditsAbovePaise` cannot exceed.
    credits_above_max_paise: Option<Paise>,
    lift_suspension: bool,
    reset_links: bool,
}

impl ApprovalPolicyView {
    async fn read(state: &State) -> Result<Self, ApiError> {
        let policy = approval_limit::policy(state).await?;
        Ok(Self {
            credits_above_paise: policy.credits_above,
            credits_above_max_paise: state.approvals.credits_above,
            lift_suspension: policy.lift_suspension,
            reset_links: policy.reset_links,
        })
    }
}

/// Present if the person also has a session at the identity provider.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoggedOutView {
    /// The page that ends the session at the identity provider.
    pub(super) log_out_url: String,
}

impl OperatorSessionView {
    pub(super) async fn new(state: &State, session: &ConsoleSession) -> Result<Self, ApiError> {
        Ok(Self {
            expires_at: session.expires_at,
            kind: session.actor.kind(),
            id: session.actor.id(),
            name: session.actor.name().to_owned(),
            display_name: session.display_name.clone(),
            role: session.role,
            permissions: session.role.permissions(),
            mfa_enrolment_required: session.must_enrol.then_some(true),
            single_sign_on: session.single_sign_on.then_some(true),
            approvals: ApprovalPolicyView::read(state).await?,
        })
    }
}

/// What somebody logs in with.
enum Given {
    Token(String),
    Account(Email, Password),
}

#[utoipa::path(
    post,
    path = "/v1/operator/session",
    operation_id = "openOperatorSession",
    tag = "Operator",
    summary = "Log in to the console: with e-mail and password, or with the installation token",
    request_body = bodies::OperatorLogIn,
    responses(
        (status = 200, description = "The session. A cookie carries it.", body = OperatorSessionView),
        (status = 202, description = "The account has a second factor. Send its code with the cookie of this response.", body = ChallengeView),
    ),
)]
pub(super) async fn open(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let opened = match parse(&body.0)? {
        Given::Account(email, password) => {
            return log_in_with_password(&state, Realm::Staff, &request, email, password).await;
        }
        Given::Token(token) => open_with_token(&state, &request, &token).await?,
    };
    opened::opened(&state, Realm::Staff, &mut HttpResponse::Ok(), &opened).await
}

async fn open_with_token(
    state: &State,
    request: &HttpRequest,
    token: &str,
) -> Result<OpenedSession, ApiError> {
    let Some((actor, _)) = operator_caller::of_token(state, token).await? else {
        let from = address(state, request);
        log_refusal(Refusal::WrongToken, Realm::Staff, from.as_ref(), request_id(request));
        return Err(state.failure_limits.count(request, errors::operator_token_invalid()));
    };
    // A session would outlive the token.
    if actor != OperatorActor::Configuration {
        return Err(errors::named_token_opens_no_session());
    }
    let author = author(state, request, actor);
    Ok(operator_session::open(state, &browser(state, request, Realm::Staff), &author).await?)
}

#[utoipa::path(
    get,
    path = "/v1/operator/session",
    operation_id = "readOperatorSession",
    tag = "Operator",
    summary = "Who is logged in to the console, and what they may do",
    responses((status = 200, description = "The session.", body = OperatorSessionView)),
)]
pub(super) async fn read(
    state: Data<State>,
    session: ReqData<Rc<ConsoleSession>>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(OperatorSessionView::new(&state, &session).await?))
}

/// Succeeds without a session too.
#[utoipa::path(
    delete,
    path = "/v1/operator/session",
    operation_id = "closeOperatorSession",
    tag = "Operator",
    summary = "Log out of the console",
    responses(
        (status = 200, description = "Logged out here, and not yet at the identity provider.", body = LoggedOutView),
        (status = 204, description = "Logged out."),
    ),
)]
pub(super) async fn close(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    if let Some(token) = OPERATOR.read(&state, &request)
        && let Some(session) = operator_session::find(&state, &token, false).await?
    {
        operator_session::close(&state, &token, &author(&state, &request, session.actor)).await?;
        if session.single_sign_on
            && let Some(sso) = &state.single_sign_on
            && let Some(url) = sso.log_out_url(&state.links.console_page("operator")).await
        {
            let view = LoggedOutView { log_out_url: url.into() };
            return Ok(HttpResponse::Ok().cookie(OPERATOR.clear(&state)).json(view));
        }
    }
    Ok(HttpResponse::NoContent().cookie(OPERATOR.clear(&state)).finish())
}

/// `token`, or `email` and `password`.
fn parse(body: &Value) -> Result<Given, ApiError> {
    read_body(body, &["token", "email", "password"], |fields| {
        if fields.value("token").is_none() {
            let (email, password) = (email(fields), password_text(fields, "password"));
            return Some(Given::Account(email?, Password::entered(password?)));
        }
        for other in ["email", "password"].into_iter().filter(|other| fields.value(other).is_some()) {
            fields.reject(other, "invalid_value", format!("{other} is not allowed together with token."));
        }
        fields.required_text("token", TOKEN_TEXT).map(Given::Token)
    })
}
