//! `/v1/operator/password-links`: a person of the staff sets their password with a link.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use identity::Realm;
use serde::Serialize;
use web::{ApiError, JsonBody};

use crate::account::commands::use_password_link::use_link;
use crate::console;
use crate::domain::OperatorRole;
use crate::http::audited::visitor;
use crate::http::openapi::bodies;
use crate::http::{browser_cookie, errors};
use crate::state::State;
use crate::team::routes::invitations::{parse_token, parse_token_and_password};

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
pub(crate) async fn look_up(state: Data<State>, body: JsonBody) -> Result<HttpResponse, ApiError> {
    let token = parse_token(&body.0)?.ok_or_else(errors::password_link_invalid)?;
    let found = console::queries::staff::of_link(&state, &token).await?;
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
pub(crate) async fn set_password(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (token, password) = parse_token_and_password(&body.0)?;
    let token = token.ok_or_else(errors::password_link_invalid)?;
    let used = use_link(&state, &token, &password, &visitor(&state, &request, Realm::Staff)).await;
    let browser = used.map_err(|error| errors::use_link(error, errors::password_link_invalid))?;
    let cookie = browser_cookie::of(Realm::Staff).set(&state, &browser);
    Ok(HttpResponse::NoContent().cookie(cookie).finish())
}
