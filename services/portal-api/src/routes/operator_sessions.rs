//! `/v1/operator/sessions`: the own console sessions of a person, or those of the configured token.

use std::rc::Rc;

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::Page;
use web::{ApiError, page_query};

use super::openapi::params;
use super::operator_caller::author;
use super::pagination::PageRequest;
use super::session_cookie::OPERATOR;
use super::sessions::{OwnSessionView, RevokedView};
use crate::commands::end_console_sessions::{end_one, end_others};
use crate::commands::operator_session::ConsoleSession;
use crate::queries;
use crate::state::State;

#[utoipa::path(
    get,
    path = "/v1/operator/sessions",
    operation_id = "listOperatorSessions",
    tag = "Operator",
    summary = "List the own open console sessions, newest first. All holders of the installation token share its list",
    params(params::PageParams),
    responses((status = 200, description = "A page of open sessions.", body = Page<OwnSessionView>)),
)]
pub(super) async fn list(
    state: Data<State>,
    session: ReqData<Rc<ConsoleSession>>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = PageRequest::new(page_query(&request)?, "session")?;
    let rows = queries::sessions::of_console(&state, session.holder, page.limit, page.after).await?;
    let view = |listed| OwnSessionView::of(listed, session.id);
    Ok(HttpResponse::Ok().json(page.page(rows)?.map(view)))
}

#[utoipa::path(
    delete,
    path = "/v1/operator/sessions/{id}",
    operation_id = "revokeOperatorSession",
    tag = "Operator",
    summary = "End one of the own console sessions",
    params(("id" = String, Path, description = "The session.")),
    responses((status = 204, description = "The session has ended.")),
)]
pub(super) async fn revoke(
    state: Data<State>,
    session: ReqData<Rc<ConsoleSession>>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let not_found = || ApiError::not_found("session_not_found", "session");
    let id = id.parse().map_err(|_| not_found())?;
    let author = author(&state, &request, session.actor.clone());
    if !end_one(&state, &session, &author, id).await? {
        return Err(not_found());
    }
    let mut response = HttpResponse::NoContent();
    if id == session.id {
        response.cookie(OPERATOR.clear(&state));
    }
    Ok(response.finish())
}

#[utoipa::path(
    post,
    path = "/v1/operator/sessions/revoke-others",
    operation_id = "revokeOtherOperatorSessions",
    tag = "Operator",
    summary = "End all other own console sessions",
    responses((status = 200, description = "How many sessions have ended.", body = RevokedView)),
)]
pub(super) async fn revoke_others(
    state: Data<State>,
    session: ReqData<Rc<ConsoleSession>>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let author = author(&state, &request, session.actor.clone());
    let revoked = end_others(&state, &session, &author).await?;
    Ok(HttpResponse::Ok().json(RevokedView { revoked }))
}
