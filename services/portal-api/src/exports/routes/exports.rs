//! Exports of the lists of orders and cash: `/v1/portal/exports` for users, `/v1/operator/exports` for the staff.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::BusinessId;
use identity::Realm;
use internal_api::cash::CashQuery;
use internal_api::orders::OrdersQuery;
use serde::Serialize;
use web::{ApiError, QueryFields, read_query};

use crate::audit::commands::audit::{record_export, record_operator_read};
use crate::audit::domain::{Action, AuditEvent};
use crate::business::routes::businesses::business_id;
use crate::domain::{Permission, Session, search_digest};
use crate::exports::commands::create_export::{self, NewExport};
use crate::exports::domain::{Export, ExportFormat, ExportKind, ExportState};
use crate::exports::queries::exports;
use crate::exports::routes::caller::ExportCaller;
use crate::exports::routes::export_view::{ExportView, ExportsView, view, view_of_one};
use crate::http::errors;
use crate::http::export::{self, File, Pages};
use crate::http::openapi::params;
use crate::relay::routes::{cash, orders};
use crate::state::State;

#[utoipa::path(
    post,
    path = "/v1/portal/orders/exports",
    operation_id = "exportOrders",
    tag = "Exports",
    summary = "Export the orders of the list or of a search",
    description = "The list's filters apply. A worker writes the file: read the export until it is `done`. Without the permission `read_customers`, the file has what the list shows.",
    params(params::ExportParams, params::OrderFilters),
    responses((status = 202, description = "The export.", body = ExportView)),
)]
pub(crate) async fn of_orders(
    state: Data<State>,
    session: ReqData<Session>,
    caller: ExportCaller,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let shows_customers = session.role.may(Permission::ReadCustomers);
    begin_orders(&state, &caller, (Realm::User, session.business), shows_customers, &request).await
}

/// Only roles that see customers read orders.
#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/orders/exports",
    operation_id = "exportOrdersOfBusiness",
    tag = "Operator",
    summary = "Export orders of a business",
    description = "As `exportOrders`, with customers' data. The operator's log names the export, with a digest of the search.",
    params(("id" = BusinessId, Path, description = "The business."), params::ExportParams, params::OrderFilters),
    responses((status = 202, description = "The export.", body = ExportView)),
)]
pub(crate) async fn of_orders_for_operator(
    state: Data<State>,
    caller: ExportCaller,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    begin_orders(&state, &caller, (Realm::Staff, business), true, &request).await
}

#[utoipa::path(
    post,
    path = "/v1/portal/cod/exports",
    operation_id = "exportCash",
    tag = "Exports",
    summary = "Export the cash on delivery of orders",
    description = "The list's filters apply. A worker writes the file: read the export until it is `done`.",
    params(params::ExportParams, params::CashFilters),
    responses((status = 202, description = "The export.", body = ExportView)),
)]
pub(crate) async fn of_cash(
    state: Data<State>,
    session: ReqData<Session>,
    caller: ExportCaller,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    begin_cash(&state, &caller, (Realm::User, session.business), &request).await
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/cod/exports",
    operation_id = "exportCashOfBusiness",
    tag = "Operator",
    summary = "Export the cash on delivery of a business",
    params(("id" = BusinessId, Path, description = "The business."), params::ExportParams, params::CashFilters),
    responses((status = 202, description = "The export.", body = ExportView)),
)]
pub(crate) async fn of_cash_for_operator(
    state: Data<State>,
    caller: ExportCaller,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    begin_cash(&state, &caller, (Realm::Staff, business), &request).await
}

#[utoipa::path(
    get,
    path = "/v1/portal/exports",
    operation_id = "listExports",
    tag = "Exports",
    summary = "List the own exports, newest first. Owners see those of all users",
    responses((status = 200, description = "All that have not expired.", body = ExportsView)),
)]
pub(crate) async fn list(state: Data<State>, caller: ExportCaller) -> Result<HttpResponse, ApiError> {
    let found = exports::list(&state, &caller.scope()).await?;
    Ok(HttpResponse::Ok().json(view(&state, &caller, found).await?))
}

#[utoipa::path(
    get,
    path = "/v1/portal/exports/{id}",
    operation_id = "readExport",
    tag = "Exports",
    summary = "Read the progress of an export",
    params(("id" = domain::ExportId, Path, description = "The export.")),
    responses((status = 200, description = "The export.", body = ExportView)),
)]
pub(crate) async fn read(
    state: Data<State>,
    caller: ExportCaller,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let export = find(&state, &caller, &id).await?;
    Ok(HttpResponse::Ok().json(view_of_one(&state, &caller, export).await?))
}

#[utoipa::path(
    delete,
    path = "/v1/portal/exports/{id}",
    operation_id = "removeExport",
    tag = "Exports",
    summary = "Cancel an export, or delete its file",
    params(("id" = domain::ExportId, Path, description = "The export.")),
    responses((status = 204, description = "Nothing is left of it.")),
)]
pub(crate) async fn remove(
    state: Data<State>,
    caller: ExportCaller,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let export = find(&state, &caller, &id).await?;
    let removed = create_export::remove_export(&state, &export).await?;
    if removed { Ok(HttpResponse::NoContent().finish()) } else { Err(errors::export_not_found()) }
}

#[utoipa::path(
    get,
    path = "/v1/portal/exports/{id}/file",
    operation_id = "readExportedFile",
    tag = "Exports",
    summary = "Fetch the file of an export. The audit log names each time",
    description = "409 `export_not_ready` before it is `done`. 403 if the role no longer sees what is in the file.",
    params(("id" = domain::ExportId, Path, description = "The export.")),
    responses((status = 200, description = "CSV, or a workbook (XLSX).", body = String, content_type = "application/octet-stream")),
)]
pub(crate) async fn file(
    state: Data<State>,
    caller: ExportCaller,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let export = find(&state, &caller, &id).await?;
    caller.may_fetch(&export)?;
    if export.state != ExportState::Done {
        return Err(errors::export_not_ready());
    }
    let slot = export::begin(&state, &caller.author, Some(export.business))?;
    let name = view_of_one(&state, &caller, export.clone()).await?.file_name(&state);
    record_export(&state, Some(export.business), &caller.author, &create_export::downloaded(&export)).await?;
    let file = File { name, content_type: export.format.content_type() };
    export::send((state, slot), &file, Vec::new(), Chunks { export, next: 0 }).await
}

struct Chunks {
    export: Export,
    next: i32,
}

impl Pages for Chunks {
    async fn next(&mut self, state: &State) -> Result<Option<Vec<u8>>, ApiError> {
        if self.next == self.export.progress.chunks {
            return Ok(None);
        }
        let chunk = exports::chunk(state, self.export.business, self.export.id, self.next).await?;
        self.next += 1;
        chunk.map(Some).ok_or_else(errors::export_not_found)
    }
}

async fn find(state: &State, caller: &ExportCaller, id: &str) -> Result<Export, ApiError> {
    let id = id.parse().map_err(|_| errors::export_not_found())?;
    exports::find(state, &caller.scope(), id).await?.ok_or_else(errors::export_not_found)
}

async fn begin_orders(
    state: &State,
    caller: &ExportCaller,
    (realm, business): (Realm, BusinessId),
    shows_customers: bool,
    request: &HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (format, query) =
        read_query(request, |fields| (format(fields), orders::filter(fields, shows_customers)))?;
    let kind = ExportKind::Orders;
    let new = NewExport { business, realm, kind, format, filter: stored(&query)?, shows_customers };
    let begun = async {
        // order-api validates the filter.
        let first = OrdersQuery { limit: Some(1), ..query.clone() };
        state.peers.orders.list(business, &first).await?;
        begin(state, caller, new, request, query.search.as_deref()).await
    };
    let begun = begun.await;
    if begun.is_err() && realm == Realm::Staff && query.search.is_some() {
        let event = event_of(state, realm, request, query.search.as_deref()).with("failed", true);
        record_operator_read(state, Some(business), &caller.author, &event).await?;
    }
    begun
}

async fn begin_cash(
    state: &State,
    caller: &ExportCaller,
    (realm, business): (Realm, BusinessId),
    request: &HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (format, query) = read_query(request, |fields| (format(fields), cash::filter(fields)))?;
    // The wallet validates the filter.
    state.peers.wallet.cash(business, &CashQuery { limit: Some(1), ..query.clone() }).await?;
    let kind = ExportKind::Cash;
    let new = NewExport { business, realm, kind, format, filter: stored(&query)?, shows_customers: false };
    begin(state, caller, new, request, None).await
}

async fn begin(
    state: &State,
    caller: &ExportCaller,
    new: NewExport,
    request: &HttpRequest,
    search: Option<&str>,
) -> Result<HttpResponse, ApiError> {
    let event = event_of(state, new.realm, request, search);
    let created = create_export::create_export(state, &caller.author, new, event).await;
    let export = created.map_err(errors::create_export)?;
    Ok(HttpResponse::Accepted().json(view_of_one(state, caller, export).await?))
}

/// With a digest of the staff's search.
fn event_of(state: &State, realm: Realm, request: &HttpRequest, search: Option<&str>) -> AuditEvent {
    let event = AuditEvent::new(Action::ExportCreated).with("filters", export::parameters(request));
    match search.filter(|_| realm == Realm::Staff) {
        Some(search) => event.with("search", search_digest(state.operator_tokens.current.expose(), search)),
        None => event,
    }
}

/// CSV if the caller names no format.
fn format(fields: &mut QueryFields) -> ExportFormat {
    fields.parsed("format", "csv or xlsx").unwrap_or(ExportFormat::Csv)
}

fn stored(query: &impl Serialize) -> Result<serde_json::Value, ApiError> {
    serde_json::to_value(query).map_err(|_| ApiError::internal("a filter cannot be written as JSON"))
}
