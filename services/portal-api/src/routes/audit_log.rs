//! `GET /v1/portal/audit-log`, and the same of any business for the operator: who did what.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{AuditEntryId, BusinessId};
use internal_api::{Page, PageQuery};
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, QueryFields, read_query};

use super::lists::Wanted;
use super::openapi::params;
use super::operator::business_id;
use crate::app::App;
use crate::domain::Session;
use crate::store::audit_log::{self, Filter, Line};

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct LineView {
    id: AuditEntryId,
    at: DateTime<Utc>,
    /// What was done, as `thing.verb`.
    action: String,
    actor: ActorView,
    target: Option<TargetView>,
    request_id: Option<String>,
    /// What else there is to say; never a secret.
    details: Value,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct ActorView {
    /// `user`, `operator` or `system`.
    #[serde(rename = "type")]
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    /// As it was then.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
}

#[derive(Serialize, utoipa::ToSchema)]
struct TargetView {
    #[serde(rename = "type")]
    kind: String,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

impl From<Line> for LineView {
    fn from(line: Line) -> Self {
        Self {
            id: line.id,
            at: line.at,
            action: line.action,
            actor: ActorView { kind: line.actor_type, user_id: line.actor_user_id, email: line.actor_email },
            target: line.target.map(|target| TargetView {
                kind: target.kind,
                id: target.id,
                label: target.label,
            }),
            request_id: line.request_id,
            details: line.details,
        }
    }
}

#[utoipa::path(
    get,
    path = "/v1/portal/audit-log",
    operation_id = "listAuditLog",
    tag = "Team",
    summary = "Who did what, newest first",
    params(params::AuditLogParams),
    responses((status = 200, description = "A page of the log.", body = Page<LineView>)),
)]
pub(super) async fn list(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    page_of(&app, session.business, &request).await
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/audit-log",
    operation_id = "listAuditLogOfBusiness",
    tag = "Operator",
    summary = "Who did what for a business, newest first",
    params(("id" = BusinessId, Path, description = "The business."), params::AuditLogParams),
    responses((status = 200, description = "A page of the log.", body = Page<LineView>)),
)]
pub(super) async fn list_for_operator(
    app: Data<App>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&app, &business).await?;
    page_of(&app, business, &request).await
}

async fn page_of(app: &App, business: BusinessId, request: &HttpRequest) -> Result<HttpResponse, ApiError> {
    let (page, filter) = read_query(request, read)?;
    let wanted = Wanted::of(page, "line")?;
    let (limit, after) = (wanted.limit, wanted.after);
    let read =
        app.database.read(async |conn| audit_log::list(conn, business, filter, limit, after).await).await;
    Ok(HttpResponse::Ok().json(wanted.page(read)?.map(LineView::from)))
}

fn read(fields: &mut QueryFields) -> (PageQuery, Filter) {
    let time = "a time, such as 2026-01-31T09:30:00Z";
    let filter = Filter {
        action: fields.parsed("action", "an action of the log, such as api_key.created"),
        user: fields.parsed("userId", "a user's id"),
        since: fields.parsed("since", time),
        until: fields.parsed("until", time),
    };
    if let (Some(since), Some(until)) = (filter.since, filter.until)
        && since >= until
    {
        fields.reject("since", "invalid_value", "since must lie before until.");
    }
    (fields.page(), filter)
}
