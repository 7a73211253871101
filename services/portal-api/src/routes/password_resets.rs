//! Resetting a password: `POST /v1/portal/password-resets` has a link mailed, `…/confirm` uses it; and the operator's
//! `POST /v1/operator/businesses/{id}/password-resets` gives one to hand over.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody};

use super::accounts::email;
use super::address::origin;
use super::author::{ByOperator, request_id};
use super::errors;
use super::invitations::{parse_token, parse_token_and_password};
use super::openapi::bodies;
use super::operator::business_id;
use crate::app::App;
use crate::commands::reset_password;
use crate::domain::Email;

/// The same whether or not there is an account, and whether or not a mail goes out.
const ASKED: &str = "If there is an account with this e-mail, a link to choose a new password is on its way to it. \
Without a mail within a few minutes, ask the operator of this service for a link.";

#[derive(Serialize, utoipa::ToSchema)]
struct ResetAskedView {
    message: &'static str,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct ResetLinkView {
    /// Works once.
    url: String,
    expires_at: DateTime<Utc>,
}

#[utoipa::path(
    post,
    path = "/v1/portal/password-resets",
    operation_id = "requestPasswordReset",
    tag = "Account",
    summary = "Have a link mailed to choose a new password",
    request_body = bodies::RequestPasswordReset,
    responses((status = 202, description = "The same answer whether or not there is such an account.", body = ResetAskedView)),
)]
pub(super) async fn request(
    app: Data<App>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let email = parse(&body.0)?;
    let origin = origin(&app, &request);
    reset_password::request_reset(&app, email, &origin, request_id(&request))
        .await
        .map_err(errors::request_reset)?;
    Ok(HttpResponse::Accepted().json(ResetAskedView { message: ASKED }))
}

#[utoipa::path(
    post,
    path = "/v1/portal/password-resets/look-up",
    operation_id = "lookUpPasswordReset",
    tag = "Account",
    summary = "Whether a link to choose a new password would work",
    request_body = bodies::LinkToken,
    responses((status = 204, description = "It would.")),
)]
pub(super) async fn look_up(app: Data<App>, body: JsonBody) -> Result<HttpResponse, ApiError> {
    let token = parse_token(&body.0)?.ok_or_else(errors::reset_link_invalid)?;
    if reset_password::is_good(&app, &token).await.map_err(errors::store)? {
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
    summary = "Choose a new password; every session ends",
    request_body = bodies::TokenAndPassword,
    responses((status = 204, description = "The new password works.")),
)]
pub(super) async fn confirm(
    app: Data<App>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (token, password) = parse_token_and_password(&body.0)?;
    let token = token.ok_or_else(errors::reset_link_invalid)?;
    reset_password::reset_password(&app, &token, &password, &origin(&app, &request), request_id(&request))
        .await
        .map_err(errors::reset_password)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/password-resets",
    operation_id = "issuePasswordReset",
    tag = "Operator",
    summary = "A link to choose a new password, to be handed to one of a business's people",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    request_body = bodies::RequestPasswordReset,
    responses((status = 201, description = "The link, which is shown this once.", body = ResetLinkView)),
)]
pub(super) async fn issue(
    app: Data<App>,
    author: ByOperator,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let email = parse(&body.0)?;
    let business = business_id(&app, &business).await?;
    let issued =
        reset_password::issue_link(&app, business, &author.0, &email).await.map_err(errors::store)?;
    let (token, expires_at) = issued.ok_or_else(errors::user_not_found)?;
    let url = app.links.reset_password(&token);
    Ok(HttpResponse::Created().json(ResetLinkView { url, expires_at }))
}

fn parse(body: &Value) -> Result<Email, ApiError> {
    let field_errors = FieldErrors::default();
    match Fields::of_body(body, &field_errors).and_then(|fields| email(&fields)) {
        Some(email) if field_errors.is_empty() => Ok(email),
        _ => Err(ApiError::invalid(field_errors)),
    }
}
