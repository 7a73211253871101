//! `/v1/portal/email`: the user's e-mail address. `/v1/portal/email-confirmations` mails links that confirm it, and uses them.

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use chrono::{DateTime, Utc};
use domain::Email;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, read_object};

use crate::account;
use crate::account::commands::change_email::{EmailChange, change_email};
use crate::account::commands::confirm_email::{confirm_email, send_again};
use crate::account::routes::account_fields::reachable_email;
use crate::domain::{EmailState, Session};
use crate::http::audited::UserAuthor;
use crate::http::errors;
use crate::http::openapi::bodies;
use crate::state::State;
use crate::team::routes::invitations::parse_token;

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct EmailView {
    email: String,
    /// Whether the user has confirmed the address.
    verified: bool,
    /// The address that the user changes to, until they open the link in the mail to it.
    pending_email: Option<String>,
    pending_until: Option<DateTime<Utc>>,
}

impl From<EmailState> for EmailView {
    fn from(state: EmailState) -> Self {
        let (pending_email, pending_until) = state.pending.unzip();
        Self { email: state.email, verified: state.verified, pending_email, pending_until }
    }
}

#[derive(Serialize, utoipa::ToSchema)]
struct ConfirmedEmailView<'a> {
    email: &'a str,
}

#[utoipa::path(
    get,
    path = "/v1/portal/email",
    operation_id = "readEmail",
    tag = "Account",
    summary = "Read the own e-mail address and a requested change",
    responses((status = 200, description = "The address.", body = EmailView)),
)]
pub(crate) async fn read(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(view(&state, &session).await?))
}

async fn view(state: &State, session: &Session) -> Result<EmailView, ApiError> {
    let found = account::queries::email_state::of_user(state, session).await?;
    Ok(found.ok_or_else(errors::not_logged_in)?.into())
}

/// The response does not reveal whether another account has the address, if mails are sent.
#[utoipa::path(
    put,
    path = "/v1/portal/email",
    operation_id = "changeEmail",
    tag = "Account",
    summary = "Change the own e-mail address. The present address withdraws a requested change",
    request_body = bodies::ChangeEmail,
    responses(
        (status = 200, description = "The address is changed, because no mails are sent; or a requested change is withdrawn.", body = EmailView),
        (status = 202, description = "The link in the mail to the new address makes the change. The present address gets a notice if it is verified.", body = EmailView),
    ),
)]
pub(crate) async fn change(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let email = parse(&body.0)?;
    let changed = change_email(&state, &session, &author.0, &email).await.map_err(errors::change_email)?;
    let view = view(&state, &session).await?;
    Ok(match changed {
        EmailChange::Made => HttpResponse::Ok().json(view),
        EmailChange::Requested => HttpResponse::Accepted().json(view),
    })
}

#[utoipa::path(
    post,
    path = "/v1/portal/email-confirmations",
    operation_id = "sendEmailConfirmation",
    tag = "Account",
    summary = "Mail another link that confirms the own e-mail address",
    responses((status = 202, description = "The mail is queued.")),
)]
pub(crate) async fn send(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    send_again(&state, &session).await.map_err(errors::send_confirmation)?;
    Ok(HttpResponse::Accepted().finish())
}

/// Needs a session of the account that the link belongs to. A link answers the same until it expires, because people open it twice.
#[utoipa::path(
    post,
    path = "/v1/portal/email-confirmations/confirm",
    operation_id = "confirmEmail",
    tag = "Account",
    summary = "Confirm the own e-mail address with a link",
    request_body = bodies::LinkToken,
    responses((status = 200, description = "The address is confirmed.", body = ConfirmedEmailView)),
)]
pub(crate) async fn confirm(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let token = parse_token(&body.0)?.ok_or_else(errors::confirmation_invalid)?;
    let confirmed = confirm_email(&state, &session, &author.0, &token).await;
    let email = confirmed.map_err(errors::confirm_email)?;
    Ok(HttpResponse::Ok().json(ConfirmedEmailView { email: email.as_str() }))
}

fn parse(body: &Value) -> Result<Email, ApiError> {
    read_object(body, |fields| {
        for name in fields.unknown(&["email"]) {
            fields.reject(&name, "unknown_field", format!("{name} cannot be changed here."));
        }
        reachable_email(fields)
    })
}
