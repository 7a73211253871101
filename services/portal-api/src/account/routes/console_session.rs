//! `POST`, `GET`, `DELETE /v1/operator/session`: log in to the operator's console, check the session, log out.

use std::rc::Rc;

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::Email;
use identity::Realm;
use identity::passwords::Password;
use serde_json::Value;
use web::{ApiError, JsonBody, TextRule, accepted_token, read_body};

use crate::account::commands::OpenedSession;
use crate::account::commands::console_session::{self, ConsoleSession};
use crate::account::routes::account_fields::{email, password_text};
use crate::account::routes::opened;
use crate::account::routes::second_step::ChallengeView;
use crate::account::routes::session::log_in_with_password;
use crate::account::routes::session_views::{LoggedOutView, OperatorSessionView};
use crate::audit::commands::audit_line::{Refusal, log_refusal};
use crate::domain::OperatorActor;
use crate::http::audited::{browser, request_id};
use crate::http::caller::address;
use crate::http::errors;
use crate::http::openapi::bodies;
use crate::http::operator_caller::{self, author};
use crate::http::session_cookie::OPERATOR;
use crate::state::State;

/// Longer than any operator token.
const TOKEN_TEXT: TextRule = TextRule::line(1_024);

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
pub(crate) async fn open(
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
    let Some(token) = accepted_token(token, &state.operator_tokens) else {
        // A session would outlive a named token.
        if operator_caller::of_token(state, token).await?.is_some() {
            return Err(errors::named_token_opens_no_session());
        }
        let from = address(state, request);
        log_refusal(Refusal::WrongToken, Realm::Staff, from.as_ref(), request_id(request));
        return Err(state.failure_limits.count(request, errors::operator_token_invalid()));
    };
    let author = author(state, request, OperatorActor::Configuration);
    Ok(console_session::open(state, token, &browser(state, request, Realm::Staff), &author).await?)
}

#[utoipa::path(
    get,
    path = "/v1/operator/session",
    operation_id = "readOperatorSession",
    tag = "Operator",
    summary = "Who is logged in to the console, and what they may do",
    responses((status = 200, description = "The session.", body = OperatorSessionView)),
)]
pub(crate) async fn read(
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
pub(crate) async fn close(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    if let Some(token) = OPERATOR.read(&state, &request)
        && let Some(session) = console_session::find(&state, &token, false).await?
    {
        console_session::close(&state, &token, &author(&state, &request, session.actor)).await?;
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
