//! `/v1/operator/password-links`: a person of the staff sets their password with a link.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use web::{ApiError, JsonBody};

use super::audited::request_id;
use super::caller::caller;
use super::invitations::{parse_token, parse_token_and_password};
use super::openapi::bodies;
use super::{browser_cookie, errors};
use crate::commands::set_staff_password::set_password;
use crate::domain::OperatorRole;
use crate::queries;
use crate::state::State;

/// The person of a link as they see it before they set the password.
#[derive(Serialize, utoipa::ToSchema)]
struct LinkedStaffView {
    name: String,
    email: String,
    role: OperatorRole,
}

#[utoipa::path(
    post,
    path = "/v1/operator/password-links/look-up",
    operation_id = "lookUpStaffLink",
    tag = "Operator",
    summary = "Look up the person of a link",
    request_body = bodies::LinkToken,
    responses((status = 200, description = "The person whose password the link sets.", body = LinkedStaffView)),
)]
pub(super) async fn look_up(state: Data<State>, body: JsonBody) -> Result<HttpResponse, ApiError> {
    let token = parse_token(&body.0)?.ok_or_else(errors::password_link_invalid)?;
    let found = queries::staff::of_link(&state, &token).await?;
    let person = found.ok_or_else(errors::password_link_invalid)?;
    let view = LinkedStaffView { name: person.name, email: person.email, role: person.role };
    Ok(HttpResponse::Ok().json(view))
}

#[utoipa::path(
    post,
    path = "/v1/operator/password-links/use",
    operation_id = "useStaffLink",
    tag = "Operator",
    summary = "Set a password with a link. All console sessions of the person end",
    request_body = bodies::TokenAndPassword,
    responses((status = 204, description = "The password is set. Log in with it.")),
)]
pub(super) async fn use_link(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (token, password) = parse_token_and_password(&body.0)?;
    let token = token.ok_or_else(errors::password_link_invalid)?;
    let browser = set_password(&state, &token, &password, &caller(&state, &request), request_id(&request))
        .await
        .map_err(errors::set_password)?;
    Ok(HttpResponse::NoContent().cookie(browser_cookie::OPERATOR.set(&state, &browser)).finish())
}
