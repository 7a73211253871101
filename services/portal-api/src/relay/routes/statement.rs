//! `GET /v1/portal/wallet/entries`: the statement from wallet, with order references from order-api; paginated, or complete as
//! a file; and the totals of a period.

use actix_web::http::header;
use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::{BusinessId, Mode};
use internal_api::Page;
use internal_api::orders::OrdersQuery;
use internal_api::wallet::{EntriesQuery, EntryView, StatementPeriod};
use web::{ApiError, TextRule, read_query};

use super::statement_file::{self, add_references};
use crate::audit::domain::Author;
use crate::business::routes::businesses;
use crate::domain::Session;
use crate::exports::domain::ExportFormat;
use crate::http::audited::{OperatorAuthor, UserAuthor};
use crate::http::export;
use crate::http::openapi::params;
use crate::state::State;

/// For filters that wallet validates.
const FORWARDED: TextRule = TextRule::line(64);
const ORDER_REFERENCE: TextRule = TextRule::line(128);

/// JSON, or CSV if the client accepts it.
#[utoipa::path(
    get,
    path = "/v1/portal/wallet/entries",
    operation_id = "listEntries",
    tag = "Wallet",
    summary = "Read the statement, newest first",
    params(params::EntriesParams),
    responses((status = 200, description = "A page of the statement.", body = internal_api::Page<internal_api::wallet::EntryView>)),
)]
pub(crate) async fn entries(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("text/csv")) {
        return export_entries(state, session, author, request).await;
    }
    page_of(&state, session.business, &request).await
}

async fn page_of(
    state: &State,
    business: BusinessId,
    request: &HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (query, order_reference) = read(request)?;
    let Some(query) = with_order(state, business, query, order_reference).await? else {
        return Ok(HttpResponse::Ok().json(Page::<EntryView> { data: Vec::new(), has_more: false }));
    };
    let mut page = state.peers.wallet.entries(business, &query).await?;
    // A statement without order references is better than an error.
    if let Err(error) = add_references(state, business, &mut page.data).await {
        tracing::warn!(%error, "statement sent without order references");
    }
    Ok(HttpResponse::Ok().json(page))
}

#[utoipa::path(
    get,
    path = "/v1/portal/wallet/entries/totals",
    operation_id = "readStatementTotals",
    tag = "Wallet",
    summary = "Read the balances before and after a period, and what moved in between",
    params(params::StatementPeriodParams),
    responses((status = 200, description = "The totals.", body = internal_api::wallet::StatementTotalsView)),
)]
pub(crate) async fn totals(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    totals_of(&state, session.business, &request).await
}

/// wallet validates the times and the kind.
async fn totals_of(
    state: &State,
    business: BusinessId,
    request: &HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let period = read_query(request, |fields| StatementPeriod {
        since: fields.text("since", FORWARDED),
        until: fields.text("until", FORWARDED),
        kind: fields.text("kind", FORWARDED),
    })?;
    Ok(HttpResponse::Ok().json(state.peers.wallet.statement_totals(business, &period).await?))
}

/// The same totals, for the operator.
#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/wallet/entries/totals",
    operation_id = "readStatementTotalsOfBusiness",
    tag = "Operator",
    summary = "Read the balances of a business before and after a period, and what moved in between",
    params(("id" = domain::BusinessId, Path, description = "The business."), params::StatementPeriodParams),
    responses((status = 200, description = "The totals.", body = internal_api::wallet::StatementTotalsView)),
)]
pub(crate) async fn totals_for_operator(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = businesses::business_id(&state, &business).await?;
    totals_of(&state, business, &request).await
}

/// For the operator, who corrects entries.
#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/wallet/entries",
    operation_id = "listEntriesOfBusiness",
    tag = "Operator",
    summary = "Read the statement of a business, newest first",
    params(("id" = domain::BusinessId, Path, description = "The business."), params::EntriesParams),
    responses((status = 200, description = "A page of the statement.", body = internal_api::Page<internal_api::wallet::EntryView>)),
)]
pub(crate) async fn entries_for_operator(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = businesses::business_id(&state, &business).await?;
    page_of(&state, business, &request).await
}

/// All matching entries, newest first.
#[utoipa::path(
    get,
    path = "/v1/portal/wallet/entries.csv",
    operation_id = "exportEntries",
    tag = "Wallet",
    summary = "Export the statement as CSV",
    params(params::EntriesParams),
    responses((status = 200, description = "All entries, newest first.", body = String, content_type = "text/csv")),
)]
pub(crate) async fn export_entries(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let owner = (session.business, session.business_name.as_str());
    export_of(state, &author.0, owner, ExportFormat::Csv, &request).await
}

/// The same entries, for people.
#[utoipa::path(
    get,
    path = "/v1/portal/wallet/entries.xlsx",
    operation_id = "exportEntriesAsWorkbook",
    tag = "Wallet",
    summary = "Export the statement as a workbook (XLSX)",
    params(params::EntriesParams),
    responses((status = 200, description = "All entries, newest first.", body = String, content_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")),
)]
pub(crate) async fn export_workbook(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let owner = (session.business, session.business_name.as_str());
    export_of(state, &author.0, owner, ExportFormat::Xlsx, &request).await
}

/// The same file, for the operator.
#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/wallet/entries.csv",
    operation_id = "exportEntriesOfBusiness",
    tag = "Operator",
    summary = "Export the statement of a business as CSV",
    params(("id" = domain::BusinessId, Path, description = "The business."), params::EntriesParams),
    responses((status = 200, description = "All entries, newest first.", body = String, content_type = "text/csv")),
)]
pub(crate) async fn export_for_operator(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (business, name) = businesses::named_business(&state, &business).await?;
    export_of(state, &author.0, (business, &name), ExportFormat::Csv, &request).await
}

/// The same workbook, for the operator.
#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/wallet/entries.xlsx",
    operation_id = "exportEntriesOfBusinessAsWorkbook",
    tag = "Operator",
    summary = "Export the statement of a business as a workbook (XLSX)",
    params(("id" = domain::BusinessId, Path, description = "The business."), params::EntriesParams),
    responses((status = 200, description = "All entries, newest first.", body = String, content_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")),
)]
pub(crate) async fn export_workbook_for_operator(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (business, name) = businesses::named_business(&state, &business).await?;
    export_of(state, &author.0, (business, &name), ExportFormat::Xlsx, &request).await
}

async fn export_of(
    state: Data<State>,
    author: &Author,
    owner: (BusinessId, &str),
    format: ExportFormat,
    request: &HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (query, order_reference) = read(request)?;
    let slot = export::begin(&state, author, Some(owner.0))?;
    let query = with_order(&state, owner.0, query, order_reference).await?;
    statement_file::send((state, slot), owner, format, query).await
}

fn read(request: &HttpRequest) -> Result<(EntriesQuery, Option<String>), ApiError> {
    read_query(request, |fields| {
        let page = fields.page();
        let query = EntriesQuery {
            limit: Some(page.limit),
            starting_after: page.starting_after,
            kind: fields.text("kind", FORWARDED),
            since: fields.text("since", FORWARDED),
            until: fields.text("until", FORWARDED),
            order_id: fields.parsed("orderId", "the id of an order"),
        };
        (query, fields.text("orderReference", ORDER_REFERENCE))
    })
}

/// Adds the id of the order with this reference to the query. `None` if there is no such order, or `orderId` names another
/// one.
async fn with_order(
    state: &State,
    business: BusinessId,
    query: EntriesQuery,
    order_reference: Option<String>,
) -> Result<Option<EntriesQuery>, ApiError> {
    if order_reference.is_none() {
        return Ok(Some(query));
    }
    // Test orders have no wallet entries.
    let live_order =
        OrdersQuery { mode: Some(Mode::Live), limit: Some(1), order_reference, ..OrdersQuery::default() };
    let found = state.peers.orders.list(business, &live_order).await?.data.pop().map(|order| order.id);
    let matching = found.filter(|found| query.order_id.is_none_or(|wanted| wanted == *found));
    Ok(matching.map(|order| EntriesQuery { order_id: Some(order), ..query }))
}
