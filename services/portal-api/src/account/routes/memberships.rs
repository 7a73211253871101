//! The businesses of a person: `POST /v1/portal/session/business` switches, `POST /v1/portal/memberships` joins one with an
//! invitation, `POST /v1/portal/businesses` creates one.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Data, ReqData};
use domain::BusinessId;
use serde_json::Value;
use web::{ApiError, Fields, JsonBody, TextRule, read_object};

use crate::account::commands::ReplacedSession;
use crate::account::commands::join_business::{create_business, join_business};
use crate::account::commands::switch_business::switch_business;
use crate::account::routes::account_fields::business_name;
use crate::account::routes::session_views::SessionView;
use crate::domain::Session;
use crate::http::audited::UserAuthor;
use crate::http::openapi::bodies;
use crate::http::{errors, session_cookie};
use crate::state::State;
use crate::team::routes::invitations::parse_token;

/// Longer than any id.
const ID: TextRule = TextRule::code(64);

#[utoipa::path(
    post,
    path = "/v1/portal/session/business",
    operation_id = "switchBusiness",
    tag = "Account",
    summary = "Continue in another business of the person",
    description = "The present session ends, also in other tabs of the browser. The new one is no new log-in: it ends when the present one would, and counts as authenticated when the present one was. 404 for a business that the person does not belong to.",
    request_body = bodies::SwitchBusiness,
    responses((status = 200, description = "The session in that business. A new cookie carries it.", body = SessionView)),
)]
pub(crate) async fn switch(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = parse_business(&body.0)?.ok_or_else(errors::business_not_found)?;
    let switched = switch_business(&state, &session, &author.0, business).await;
    Ok(respond(&state, StatusCode::OK, &switched.map_err(errors::switch_business)?))
}

#[utoipa::path(
    post,
    path = "/v1/portal/memberships",
    operation_id = "joinBusiness",
    tag = "Account",
    summary = "Join a business with an invitation to the address of the own account, and continue in it",
    description = "403 `business_not_active` while the business is not active, `other_account` for an invitation to another address. 409 `already_member`, `too_many_users` of the business, `too_many_businesses` of the person.",
    request_body = bodies::LinkToken,
    responses((status = 201, description = "The session in that business. A new cookie carries it.", body = SessionView)),
)]
pub(crate) async fn join(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let token = parse_token(&body.0)?.ok_or_else(errors::invitation_invalid)?;
    let joined = join_business(&state, &session, &author.0, &token).await;
    Ok(respond(&state, StatusCode::CREATED, &joined.map_err(errors::join)?))
}

#[utoipa::path(
    post,
    path = "/v1/portal/businesses",
    operation_id = "createBusiness",
    tag = "Account",
    summary = "Create a further business with the own account as its owner, and continue in it",
    request_body = bodies::RenameBusiness,
    responses((status = 201, description = "The session in that business. A new cookie carries it.", body = SessionView)),
)]
pub(crate) async fn create(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let name = parse_name(&body.0)?;
    let created = create_business(&state, &session, &author.0, &name).await;
    Ok(respond(&state, StatusCode::CREATED, &created.map_err(errors::join)?))
}

fn respond(state: &State, status: StatusCode, replaced: &ReplacedSession) -> HttpResponse {
    HttpResponse::build(status)
        .cookie(session_cookie::PORTAL.set(state, &replaced.token, replaced.session.expires_at))
        .json(SessionView::of(&replaced.session))
}

/// `None` for a text that is no id.
fn parse_business(body: &Value) -> Result<Option<BusinessId>, ApiError> {
    let id = read_object(body, |fields| {
        reject_unknown(fields, "businessId");
        fields.required_text("businessId", ID)
    })?;
    Ok(id.parse().ok())
}

fn parse_name(body: &Value) -> Result<String, ApiError> {
    read_object(body, |fields| {
        reject_unknown(fields, "businessName");
        business_name(fields)
    })
}

fn reject_unknown(fields: &Fields<'_>, known: &str) {
    for name in fields.unknown(&[known]) {
        fields.reject(&name, "unknown_field", format!("{name} is unknown."));
    }
}
