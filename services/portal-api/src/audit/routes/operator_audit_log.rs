//! `GET /v1/operator/audit-log`: what the operator's staff and tokens did, and whose data they read.

use std::collections::{BTreeSet, HashMap};

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{AuditEntryId, BusinessId};
use internal_api::{Page, PageQuery};
use postgres::StoreError;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, QueryFields, read_query};

use crate::audit::commands::audit::record_export;
use crate::audit::domain::{Author, OperatorEntry, OperatorFilter};
use crate::audit::routes::audit_log::{ACTOR, TargetView, ip_address};
use crate::audit::routes::operator_actor_view::OperatorActorView;
use crate::domain::RegionFormat;
use crate::http::audited::OperatorAuthor;
use crate::http::export::{self, Pages};
use crate::http::log_export::{self, EXPORT_PAGE, ExportedLine, Format, Progress};
use crate::http::openapi::params;
use crate::http::pagination::PageRequest;
use crate::state::State;
use crate::{audit, business};

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
    /// Its present name.
    business_name: Option<String>,
    target: Option<TargetView>,
    request_id: Option<String>,
    /// Further details. Never contains secrets or customers' data.
    details: Value,
}

impl OperatorLineView {
    fn of(entry: OperatorEntry, names: &HashMap<String, String>) -> Self {
        Self {
            business_name: entry.business.as_ref().and_then(|id| names.get(id).cloned()),
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
    params(params::OperatorAuditLogFilters, params::PageParams),
    responses((status = 200, description = "A page of the log.", body = Page<OperatorLineView>)),
)]
pub(crate) async fn list(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (page, filter) = read_query(&request, read)?;
    let page = PageRequest::new(page, "entry")?;
    let rows = audit::queries::operator_audit_log::list(&state, &filter, page.limit, page.after).await?;
    let Page { data, has_more } = page.page(rows)?;
    Ok(HttpResponse::Ok().json(Page { data: lines(&state, data).await?, has_more }))
}

async fn lines(state: &State, entries: Vec<OperatorEntry>) -> Result<Vec<OperatorLineView>, StoreError> {
    let ids = entries.iter().filter_map(|entry| entry.business.as_ref()?.parse().ok());
    let ids: BTreeSet<BusinessId> = ids.collect();
    let names = business::queries::businesses::names(state, &Vec::from_iter(ids)).await?;
    let names = names.into_iter().map(|(id, name)| (id.to_string(), name)).collect();
    Ok(entries.into_iter().map(|entry| OperatorLineView::of(entry, &names)).collect())
}

#[utoipa::path(
    get,
    path = "/v1/operator/audit-log.csv",
    operation_id = "exportOperatorAuditLogAsCsv",
    tag = "Operator",
    summary = "Export the operator's audit log as CSV, newest first. The export is an entry of the log",
    params(params::OperatorAuditLogFilters),
    responses((status = 200, description = "All matching entries.", body = String, content_type = "text/csv")),
)]
pub(crate) async fn export_csv(
    state: Data<State>,
    author: OperatorAuthor,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    export_as(Format::Csv, state, &author.0, &request).await
}

#[utoipa::path(
    get,
    path = "/v1/operator/audit-log.jsonl",
    operation_id = "exportOperatorAuditLogAsJsonLines",
    tag = "Operator",
    summary = "Export the operator's audit log as JSON Lines, newest first. The export is an entry of the log",
    params(params::OperatorAuditLogFilters),
    responses((status = 200, description = "All matching entries, one object per line.", body = String, content_type = "application/x-ndjson")),
)]
pub(crate) async fn export_json_lines(
    state: Data<State>,
    author: OperatorAuthor,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    export_as(Format::JsonLines, state, &author.0, &request).await
}

async fn export_as(
    format: Format,
    state: Data<State>,
    author: &Author,
    request: &HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let filter = read_query(request, read_filter)?;
    let slot = export::begin(&state, author, None)?;
    record_export(&state, None, author, &format.event(request)).await?;
    let file = format.file("operator", (filter.since, filter.until), &state);
    let log = OperatorLog { filter, progress: Progress::new(format) };
    export::send((state, slot), &file, format.head::<OperatorLineView>(), log).await
}

struct OperatorLog {
    filter: OperatorFilter,
    progress: Progress,
}

impl Pages for OperatorLog {
    async fn next(&mut self, state: &State) -> Result<Option<Vec<u8>>, ApiError> {
        if self.progress.is_done {
            return Ok(None);
        }
        let after = self.progress.after;
        let rows = audit::queries::operator_audit_log::list(state, &self.filter, EXPORT_PAGE, after).await?;
        let rows = match rows {
            Some(rows) => Some(lines(state, rows).await?),
            None => None,
        };
        self.progress.write(rows, state.mailbox.region).map(Some)
    }
}

impl ExportedLine for OperatorLineView {
    const COLUMNS: &[&str] = &[
        "id",
        "at",
        "action",
        "actorType",
        "actorId",
        "actorName",
        "address",
        "businessId",
        "businessName",
        "targetType",
        "targetId",
        "targetLabel",
        "requestId",
        "details",
        "atLocal",
    ];

    fn id(&self) -> AuditEntryId {
        self.id
    }

    fn cells(&self, region: RegionFormat) -> Vec<String> {
        let target = self.target.as_ref();
        vec![
            self.id.to_string(),
            log_export::time(self.at),
            self.action.clone(),
            self.actor.kind.clone(),
            self.actor.id.clone().unwrap_or_default(),
            self.actor.name.clone(),
            self.address.clone().unwrap_or_default(),
            self.business_id.clone().unwrap_or_default(),
            self.business_name.clone().unwrap_or_default(),
            target.map(|target| target.kind.clone()).unwrap_or_default(),
            target.map(|target| target.id.clone()).unwrap_or_default(),
            target.and_then(|target| target.label.clone()).unwrap_or_default(),
            self.request_id.clone().unwrap_or_default(),
            log_export::details(&self.details),
            region.spreadsheet_time(self.at),
        ]
    }
}

fn read(fields: &mut QueryFields) -> (PageQuery, OperatorFilter) {
    let filter = read_filter(fields);
    (fields.page(), filter)
}

fn read_filter(fields: &mut QueryFields) -> OperatorFilter {
    let time = "a time, such as 2026-01-31T09:30:00Z";
    let filter = OperatorFilter {
        action: fields.parsed("action", "an action of the log, such as staff.invited"),
        actor: fields.text("actor", ACTOR),
        address: ip_address(fields),
        business: fields.parsed("businessId", "a business's id"),
        without_reads: fields.parsed("withoutReads", "true or false").unwrap_or(false),
        since: fields.parsed("since", time),
        until: fields.parsed("until", time),
    };
    if let (Some(since), Some(until)) = (filter.since, filter.until)
        && since >= until
    {
        fields.reject("since", "invalid_value", "since must be before until.");
    }
    filter
}
