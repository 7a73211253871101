//! `GET /v1/operator/audit-log`: what the operator's staff and tokens did, and whose data they read.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::AuditEntryId;
use internal_api::{Page, PageQuery};
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, QueryFields, TextRule, read_query};

use super::audit_log::TargetView;
use super::openapi::params;
use super::operator_actor_view::OperatorActorView;
use super::pagination::PageRequest;
use crate::domain::{OperatorEntry, OperatorFilter};
use crate::queries;
use crate::state::State;

/// As long as an e-mail address may be.
const ACTOR: TextRule = TextRule::line(320);

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct OperatorLineView {
    id: AuditEntryId,
    at: DateTime<Utc>,
    /// What was done, as `thing.verb`.
    action: String,
    actor: OperatorActorView,
    /// The IP address of the caller; for IPv6 its /64 network.
    address: Option<String>,
    /// The business that the entry is about.
    business_id: Option<String>,
    target: Option<TargetView>,
    request_id: Option<String>,
    /// Further details. Never contains secrets or customers' data.
    details: Value,
}

impl From<OperatorEntry> for OperatorLineView {
    fn from(entry: OperatorEntry) -> Self {
        Self {
            id: entry.id,
            at: entry.at,
            action: entry.action,
            actor: OperatorActorView { kind: entry.actor_type, id: entry.actor_id, name: entry.actor_name },
            address: entry.address,
            business_id: entry.business,
            target: entry.target.map(TargetView::from),
            request_id: entry.request_id,
            details: entry.details,
        }
    }
}

#[utoipa::path(
    get,
    path = "/v1/operator/audit-log",
    operation_id = "listOperatorAuditLog",
    tag = "Operator",
    summary = "Read the operator's audit log, newest first",
    params(params::OperatorAuditLogParams),
    responses((status = 200, description = "A page of the log.", body = Page<OperatorLineView>)),
)]
pub(super) async fn list(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (page, filter) = read_query(&request, read)?;
    let page = PageRequest::new(page, "entry")?;
    let rows = queries::operator_audit_log::list(&state, &filter, page.limit, page.after).await?;
    Ok(HttpResponse::Ok().json(page.page(rows)?.map(OperatorLineView::from)))
}

fn read(fields: &mut QueryFields) -> (PageQuery, OperatorFilter) {
    let time = "a time, such as 2026-01-31T09:30:00Z";
    let filter = OperatorFilter {
        action: fields.parsed("action", "an action of the log, such as staff.invited"),
        actor: fields.text("actor", ACTOR),
        business: fields.parsed("businessId", "a business's id"),
        since: fields.parsed("since", time),
        until: fields.parsed("until", time),
    };
    if let (Some(since), Some(until)) = (filter.since, filter.until)
        && since >= until
    {
        fields.reject("since", "invalid_value", "since must be before until.");
    }
    (fields.page(), filter)
}
