//! `/v1/portal/sessions`: where somebody is logged in, and logging out there.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::SessionId;
use internal_api::Page;
use serde::Serialize;
use web::{ApiError, page_query};

use super::author::ByUser;
use super::lists::Wanted;
use super::openapi::params;
use super::{errors, session_cookie};
use crate::app::App;
use crate::commands::revoke_sessions::{revoke_others, revoke_session};
use crate::domain::Session;
use crate::store::sessions;

/// One of the user's own sessions.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct OwnSessionView {
    id: SessionId,
    created_at: DateTime<Utc>,
    last_seen_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    /// As the browser called itself.
    user_agent: Option<String>,
    /// Whether it is the one that asks.
    current: bool,
}

#[derive(Serialize, utoipa::ToSchema)]
struct RevokedView {
    revoked: usize,
}

#[utoipa::path(
    get,
    path = "/v1/portal/sessions",
    operation_id = "listSessions",
    tag = "Account",
    summary = "Where one is logged in, newest first",
    params(params::PageParams),
    responses((status = 200, description = "A page of open sessions.", body = Page<OwnSessionView>)),
)]
pub(super) async fn list(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let wanted = Wanted::of(page_query(&request)?, "session")?;
    let (limit, after) = (wanted.limit, wanted.after);
    let (whose, now) = ((session.business, session.user), app.clock.now());
    let read = app.database.read(async |conn| sessions::list(conn, whose, limit, after, now).await).await;
    let view = |listed: sessions::Listed| OwnSessionView {
        id: listed.id,
        created_at: listed.created_at,
        last_seen_at: listed.last_seen_at,
        expires_at: listed.expires_at,
        user_agent: listed.user_agent,
        current: listed.id == session.id,
    };
    Ok(HttpResponse::Ok().json(wanted.page(read)?.map(view)))
}

#[utoipa::path(
    delete,
    path = "/v1/portal/sessions/{id}",
    operation_id = "revokeSession",
    tag = "Account",
    summary = "Log out somewhere else",
    params(("id" = SessionId, Path, description = "The session.")),
    responses((status = 204, description = "It has ended.")),
)]
pub(super) async fn revoke(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let not_found = || ApiError::not_found("session_not_found", "session");
    let id = id.parse().map_err(|_| not_found())?;
    if !revoke_session(&app, &session, &author.0, id).await.map_err(errors::store)? {
        return Err(not_found());
    }
    let mut answer = HttpResponse::NoContent();
    if id == session.id {
        answer.cookie(session_cookie::PORTAL.forget(&app));
    }
    Ok(answer.finish())
}

#[utoipa::path(
    post,
    path = "/v1/portal/sessions/revoke-others",
    operation_id = "revokeOtherSessions",
    tag = "Account",
    summary = "Log out everywhere else",
    responses((status = 200, description = "How many ended.", body = RevokedView)),
)]
pub(super) async fn revoke_all_others(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
) -> Result<HttpResponse, ApiError> {
    let revoked = revoke_others(&app, &session, &author.0).await.map_err(errors::store)?;
    Ok(HttpResponse::Ok().json(RevokedView { revoked }))
}
