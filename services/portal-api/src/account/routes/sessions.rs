//! `/v1/portal/sessions` and `/v1/operator/sessions`: the own sessions of a user, in all their businesses; of a person of the staff; or
//! of the configured token.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{BusinessId, SessionId};
use identity::browser_name;
use identity::sessions::OpenSession;
use internal_api::Page;
use serde::Serialize;
use web::{ApiError, page_query};

use crate::account;
use crate::account::commands::OwnSession;
use crate::account::commands::revoke_sessions::{revoke_one, revoke_others};
use crate::http::openapi::params;
use crate::http::pagination::PageRequest;
use crate::http::session_cookie;
use crate::state::State;

/// One of the user's own sessions.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct OwnSessionView {
    id: String,
    created_at: DateTime<Utc>,
    last_seen_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    /// The IP address at the log-in; for IPv6 its /64 network.
    address: Option<String>,
    /// The browser for people, such as `Firefox on Windows`.
    browser: String,
    /// The browser's `User-Agent`.
    user_agent: Option<String>,
    /// Whether it is the session of this request.
    current: bool,
    /// The business of the session. Absent for console sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    business_id: Option<BusinessId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    business_name: Option<String>,
}

impl OwnSessionView {
    fn of((session, business_name): (OpenSession, Option<String>), current: SessionId) -> Self {
        Self {
            business_id: session.business,
            business_name,
            current: session.id == current,
            id: session.id.to_string(),
            created_at: session.created_at,
            last_seen_at: session.last_seen_at,
            expires_at: session.expires_at,
            address: session.address,
            browser: browser_name(session.user_agent.as_deref()),
            user_agent: session.user_agent,
        }
    }
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct RevokedView {
    pub(crate) revoked: usize,
}

#[utoipa::path(
    get,
    path = "/v1/portal/sessions",
    operation_id = "listSessions",
    tag = "Account",
    summary = "List the open sessions of the account in all businesses, newest first",
    params(params::PageParams),
    responses((status = 200, description = "A page of open sessions.", body = Page<OwnSessionView>)),
)]
pub(crate) async fn list(
    state: Data<State>,
    own: OwnSession,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = PageRequest::new(page_query(&request)?, "session")?;
    let rows = account::queries::sessions::list(&state, own.holder, page.limit, page.after).await?;
    let view = |listed| OwnSessionView::of(listed, own.id);
    Ok(HttpResponse::Ok().json(page.page(rows)?.map(view)))
}

#[utoipa::path(
    delete,
    path = "/v1/portal/sessions/{id}",
    operation_id = "revokeSession",
    tag = "Account",
    summary = "End one session of the account",
    params(("id" = String, Path, description = "The session.")),
    responses((status = 204, description = "The session has ended.")),
)]
pub(crate) async fn revoke(
    state: Data<State>,
    own: OwnSession,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let not_found = || ApiError::not_found("session_not_found", "session");
    let id = id.parse().map_err(|_| not_found())?;
    if !revoke_one(&state, &own, id).await? {
        return Err(not_found());
    }
    let mut response = HttpResponse::NoContent();
    if id == own.id {
        response.cookie(session_cookie::of(own.holder.realm()).clear(&state));
    }
    Ok(response.finish())
}

#[utoipa::path(
    post,
    path = "/v1/portal/sessions/revoke-others",
    operation_id = "revokeOtherSessions",
    tag = "Account",
    summary = "End all other sessions of the account, in all businesses",
    responses((status = 200, description = "How many sessions have ended.", body = RevokedView)),
)]
pub(crate) async fn revoke_all_others(state: Data<State>, own: OwnSession) -> Result<HttpResponse, ApiError> {
    let revoked = revoke_others(&state, &own).await?;
    Ok(HttpResponse::Ok().json(RevokedView { revoked }))
}
