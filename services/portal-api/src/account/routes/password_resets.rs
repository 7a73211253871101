//! Password resets: `POST /v1/portal/password-resets` mails a link, `…/confirm` uses it. The operator gets a link to pass on
//! with `POST /v1/operator/businesses/{id}/password-resets`.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::Email;
use identity::{LinkToken, Realm};
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, read_body};

use crate::account;
use crate::account::commands::reset_password::{self, IssuedReset};
use crate::account::commands::use_password_link::use_link;
use crate::account::routes::account_fields::email;
use crate::approvals::routes::approval_view::{self, ApprovalView};
use crate::business::routes::businesses::business_id;
use crate::http::audited::{OperatorAuthor, request_id, visitor};
use crate::http::caller::caller;
use crate::http::errors;
use crate::http::openapi::bodies;
use crate::state::State;
use crate::team::routes::invitations::{parse_token, parse_token_and_password};

/// Does not reveal whether the account exists, or whether mails are sent.
const REQUESTED: &str = "If an account with this e-mail address exists, we sent a link to reset the password to it. \
If no e-mail arrives within a few minutes, ask the operator of this service for a link.";

#[derive(Serialize, utoipa::ToSchema)]
struct ResetAskedView {
    message: &'static str,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResetLinkView {
    /// Can be used once.
    url: String,
    expires_at: DateTime<Utc>,
}

impl ResetLinkView {
    pub(crate) fn new(state: &State, token: &LinkToken, expires_at: DateTime<Utc>) -> Self {
        Self { url: state.links.reset_password(token), expires_at }
    }
}

#[utoipa::path(
    post,
    path = "/v1/portal/password-resets",
    operation_id = "requestPasswordReset",
    tag = "Account",
    summary = "Request a mail with a password reset link",
    request_body = bodies::RequestPasswordReset,
    responses((status = 202, description = "The response is the same whether or not the account exists.", body = ResetAskedView)),
)]
pub(crate) async fn request(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let email = parse(&body.0)?;
    let caller = caller(&state, &request, Realm::User);
    reset_password::request_reset(&state, email, &caller, request_id(&request))
        .await
        .map_err(errors::request_reset)?;
    Ok(HttpResponse::Accepted().json(ResetAskedView { message: REQUESTED }))
}

#[utoipa::path(
    post,
    path = "/v1/portal/password-resets/look-up",
    operation_id = "lookUpPasswordReset",
    tag = "Account",
    summary = "Check whether a password reset link is valid",
    request_body = bodies::LinkToken,
    responses((status = 204, description = "The link is valid.")),
)]
pub(crate) async fn look_up(state: Data<State>, body: JsonBody) -> Result<HttpResponse, ApiError> {
    let token = parse_token(&body.0)?.ok_or_else(errors::reset_link_invalid)?;
    if account::queries::password_resets::is_valid(&state, &token).await? {
        Ok(HttpResponse::NoContent().finish())
    } else {
        Err(errors::reset_link_invalid())
    }
}

#[utoipa::path(
    post,
    path = "/v1/portal/password-resets/confirm",
    operation_id = "confirmPasswordReset",
    tag = "Account",
    summary = "Set a new password with a link. All sessions end",
    request_body = bodies::TokenAndPassword,
    responses((status = 204, description = "The password is changed.")),
)]
pub(crate) async fn confirm(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (token, password) = parse_token_and_password(&body.0)?;
    let token = token.ok_or_else(errors::reset_link_invalid)?;
    let used = use_link(&state, &token, &password, &visitor(&state, &request, Realm::User)).await;
    used.map_err(|error| errors::use_link(error, errors::reset_link_invalid))?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/password-resets",
    operation_id = "issuePasswordReset",
    tag = "Operator",
    summary = "Create a password reset link that the operator passes on to a user",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    request_body = bodies::RequestPasswordReset,
    responses(
        (status = 201, description = "The link, which is shown only once.", body = ResetLinkView),
        (status = 202, description = "A second person must approve it first.", body = ApprovalView),
    ),
)]
pub(crate) async fn issue(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let email = parse(&body.0)?;
    let business = business_id(&state, &business).await?;
    let issued = reset_password::issue_link(&state, business, &author.0, &email).await;
    match issued.map_err(errors::issue_reset)? {
        IssuedReset::Link(token, expires_at) => {
            Ok(HttpResponse::Created().json(ResetLinkView::new(&state, &token, expires_at)))
        }
        IssuedReset::Requested(approval) => approval_view::requested(&state, &author.0, *approval).await,
    }
}

fn parse(body: &Value) -> Result<Email, ApiError> {
    read_body(body, &["email"], email)
}
