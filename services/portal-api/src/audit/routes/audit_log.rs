//! `GET /v1/portal/audit-log`, and the same for the operator.

use std::collections::HashMap;
use std::net::IpAddr;

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{AuditEntryId, BusinessId};
use identity::CallerAddress;
use internal_api::{Page, PageQuery};
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, QueryFields, TextRule, read_query};

use crate::audit::commands::audit::record_export;
use crate::audit::domain::{AuditEntry, AuditFilter, AuditTarget, Author};
use crate::business::routes::businesses::business_id;
use crate::domain::{RegionFormat, Session};
use crate::http::audited::UserAuthor;
use crate::http::export::{self, Pages};
use crate::http::log_export::{self, EXPORT_PAGE, ExportedLine, Format, Progress};
use crate::http::openapi::params;
use crate::http::operator_records::Sent;
use crate::http::pagination::PageRequest;
use crate::state::State;
use crate::{audit, team};

/// As long as an e-mail address may be.
pub(crate) const ACTOR: TextRule = TextRule::line(320);

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct LineView {
    id: AuditEntryId,
    at: DateTime<Utc>,
    /// What was done, as `thing.verb`.
    action: String,
    actor: ActorView,
    /// The IP address of the user, or of a failed log-in; for IPv6 its /64 network. Null for the operator.
    address: Option<String>,
    target: Option<TargetView>,
    request_id: Option<String>,
    /// Further details. Never contains secrets.
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
    /// The e-mail address at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    /// The present name of the user. For the operator only: also the e-mail address of the operator's person, or the name of the
    /// token.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct TargetView {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
}

impl From<AuditTarget> for TargetView {
    fn from(target: AuditTarget) -> Self {
        Self { kind: target.kind, id: target.id, label: target.label }
    }
}

impl From<AuditEntry> for LineView {
    fn from(entry: AuditEntry) -> Self {
        Self {
            id: entry.id,
            at: entry.at,
            action: entry.action,
            actor: ActorView {
                kind: entry.actor_type,
                user_id: entry.actor_user_id,
                email: entry.actor_email,
                name: None,
            },
            address: entry.address,
            target: entry.target.map(TargetView::from),
            request_id: entry.request_id,
            details: entry.details,
        }
    }
}

#[utoipa::path(
    get,
    path = "/v1/portal/audit-log",
    operation_id = "listAuditLog",
    tag = "Team",
    summary = "Read the audit log, newest first",
    params(params::AuditLogFilters, params::PageParams),
    responses((status = 200, description = "A page of the log.", body = Page<LineView>)),
)]
pub(crate) async fn list(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = page_of(&state, session.business, &request).await?;
    let users = names_of_users(&state, session.business, &page.data).await?;
    Ok(HttpResponse::Ok().json(page.map(|entry| line(entry, &users))))
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/audit-log",
    operation_id = "listAuditLogOfBusiness",
    tag = "Operator",
    summary = "Read the audit log of a business, newest first",
    params(("id" = BusinessId, Path, description = "The business."), params::AuditLogFilters, params::PageParams),
    responses((status = 200, description = "A page of the log.", body = Page<LineView>)),
)]
pub(crate) async fn list_for_operator(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    let page = page_of(&state, business, &request).await?;
    Sent::new("entries", page.data.iter().map(|entry| entry.id)).record(&request);
    let names = audit::queries::operator_audit_log::actors(&state, &page.data).await?;
    let users = names_of_users(&state, business, &page.data).await?;
    Ok(HttpResponse::Ok().json(page.map(|entry| {
        let request = entry.request_id.as_ref().filter(|_| entry.actor_type == "operator");
        let name = request.and_then(|request| names.get(request).cloned());
        let mut line = line(entry, &users);
        line.actor.name = name.or(line.actor.name);
        line
    })))
}

#[utoipa::path(
    get,
    path = "/v1/portal/audit-log.csv",
    operation_id = "exportAuditLogAsCsv",
    tag = "Team",
    summary = "Export the audit log as CSV, newest first. The export is an entry of the log",
    params(params::AuditLogFilters),
    responses((status = 200, description = "All matching entries.", body = String, content_type = "text/csv")),
)]
pub(crate) async fn export_csv(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    export_as(Format::Csv, state, &session, &author.0, &request).await
}

#[utoipa::path(
    get,
    path = "/v1/portal/audit-log.jsonl",
    operation_id = "exportAuditLogAsJsonLines",
    tag = "Team",
    summary = "Export the audit log as JSON Lines, newest first. The export is an entry of the log",
    params(params::AuditLogFilters),
    responses((status = 200, description = "All matching entries, one object per line.", body = String, content_type = "application/x-ndjson")),
)]
pub(crate) async fn export_json_lines(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    export_as(Format::JsonLines, state, &session, &author.0, &request).await
}

async fn export_as(
    format: Format,
    state: Data<State>,
    session: &Session,
    author: &Author,
    request: &HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = session.business;
    let filter = read_query(request, read_filter)?;
    let slot = export::begin(&state, author, Some(business))?;
    record_export(&state, Some(business), author, &format.event(request)).await?;
    let owner = export::owner(business, &session.business_name);
    let file = format.file(&owner, (filter.since, filter.until), &state);
    let log = BusinessLog { business, filter, progress: Progress::new(format) };
    export::send((state, slot), &file, format.head::<LineView>(), log).await
}

struct BusinessLog {
    business: BusinessId,
    filter: AuditFilter,
    progress: Progress,
}

impl Pages for BusinessLog {
    async fn next(&mut self, state: &State) -> Result<Option<Vec<u8>>, ApiError> {
        if self.progress.is_done {
            return Ok(None);
        }
        let after = self.progress.after;
        let rows =
            audit::queries::audit_log::list(state, self.business, &self.filter, EXPORT_PAGE, after).await?;
        let lines = rows.map(|rows| rows.into_iter().map(LineView::from).collect::<Vec<_>>());
        self.progress.write(lines, state.mailbox.region).map(Some)
    }
}

impl ExportedLine for LineView {
    const COLUMNS: &[&str] = &[
        "id",
        "at",
        "action",
        "actorType",
        "actorUserId",
        "actorEmail",
        "address",
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
            self.actor.user_id.clone().unwrap_or_default(),
            self.actor.email.clone().unwrap_or_default(),
            self.address.clone().unwrap_or_default(),
            target.map(|target| target.kind.clone()).unwrap_or_default(),
            target.map(|target| target.id.clone()).unwrap_or_default(),
            target.and_then(|target| target.label.clone()).unwrap_or_default(),
            self.request_id.clone().unwrap_or_default(),
            log_export::details(&self.details),
            region.spreadsheet_time(self.at),
        ]
    }
}

async fn names_of_users(
    state: &State,
    business: BusinessId,
    entries: &[AuditEntry],
) -> Result<HashMap<String, String>, ApiError> {
    let ids: Vec<String> = entries.iter().filter_map(|entry| entry.actor_user_id.clone()).collect();
    Ok(team::queries::users::names_by_id(state, business, &ids).await?)
}

fn line(entry: AuditEntry, users: &HashMap<String, String>) -> LineView {
    let mut line = LineView::from(entry);
    line.actor.name = line.actor.user_id.as_ref().and_then(|user| users.get(user).cloned());
    line
}

async fn page_of(
    state: &State,
    business: BusinessId,
    request: &HttpRequest,
) -> Result<Page<AuditEntry>, ApiError> {
    let (page, filter) = read_query(request, read)?;
    let page = PageRequest::new(page, "entry")?;
    let rows = audit::queries::audit_log::list(state, business, &filter, page.limit, page.after).await?;
    page.page(rows)
}

/// An IPv6 address finds its /64 network, which is what the logs contain.
pub(crate) fn ip_address(fields: &mut QueryFields) -> Option<CallerAddress> {
    let address: IpAddr = fields.parsed("address", "an IP address")?;
    Some(CallerAddress::new(web::CallerAddress::new(address).text()))
}

fn read(fields: &mut QueryFields) -> (PageQuery, AuditFilter) {
    let filter = read_filter(fields);
    (fields.page(), filter)
}

fn read_filter(fields: &mut QueryFields) -> AuditFilter {
    let time = "a time, such as 2026-01-31T09:30:00Z";
    let filter = AuditFilter {
        action: fields.parsed("action", "an action of the log, such as api_key.created"),
        user: fields.parsed("userId", "a user's id"),
        order: fields.parsed("orderId", "the id of an order"),
        actor: fields.text("actor", ACTOR),
        address: ip_address(fields),
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
