//! `GET /v1/portal/wallet/entries`: the statement from wallet, with order references from order-api; paginated, or complete as
//! CSV; and the totals of a period.

use actix_web::http::header;
use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, SecondsFormat, Utc};
use domain::{BusinessId, Mode, OrderId, is_attempt_fee_reference};
use internal_api::orders::OrdersQuery;
use internal_api::wallet::{EntriesQuery, EntryView, StatementPeriod, TakesBackView};
use internal_api::{CallError, Page};
use web::{ApiError, TextRule, read_query};

use crate::audit::domain::Author;
use crate::business::routes::businesses;
use crate::domain::{RegionFormat, Session, csv};
use crate::http::audited::{OperatorAuthor, UserAuthor};
use crate::http::export::{self, File};
use crate::http::openapi::params;
use crate::state::State;

/// For filters that wallet validates.
const FORWARDED: TextRule = TextRule::line(64);
const ORDER_REFERENCE: TextRule = TextRule::line(128);
/// Entries that an export holds in memory.
const EXPORT_PAGE: usize = 100;

/// The names of the JSON fields, then the same for people: the time in the operator's time zone, the kind in words, and amounts
/// in rupees. Later fields follow, because programs know columns by their position.
const COLUMNS: [&str; 20] = [
    "id",
    "createdAt",
    "kind",
    "amountPaise",
    "balanceAfterPaise",
    "orderId",
    "orderReference",
    "reference",
    "transferId",
    "reverses",
    "owedPaise",
    "reason",
    "createdAtLocal",
    "kindLabel",
    "amountRupees",
    "owedRupees",
    "balanceAfterRupees",
    "takesBack",
    "leftPaise",
    "leftRupees",
];

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

/// wallet validates the times.
async fn totals_of(
    state: &State,
    business: BusinessId,
    request: &HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let period = read_query(request, |fields| StatementPeriod {
        since: fields.text("since", FORWARDED),
        until: fields.text("until", FORWARDED),
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
    export_of(state, &author.0, (session.business, &session.business_name), &request).await
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
    export_of(state, &author.0, (business, &name), &request).await
}

async fn export_of(
    state: Data<State>,
    author: &Author,
    (business, business_name): (BusinessId, &str),
    request: &HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (query, order_reference) = read(request)?;
    let slot = export::begin(&state, author, Some(business))?;
    let query = with_order(&state, business, query, order_reference).await?;
    let head = csv::record(COLUMNS);
    let time = |text: Option<&str>| text?.parse::<DateTime<Utc>>().ok();
    let period = query.as_ref().map(|query| (time(query.since.as_deref()), time(query.until.as_deref())));
    let today = (state.unit.clock.now(), state.mailbox.region.zone);
    let owner = export::owner(business, business_name);
    let file = File {
        name: format!("{}.csv", export::named(&owner, "statement", period.unwrap_or_default(), today)),
        content_type: "text/csv; charset=utf-8",
    };
    export::send((state, slot), &file, head, Statement { business, query }).await
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

/// Adds the order references.
async fn add_references(
    state: &State,
    business: BusinessId,
    entries: &mut [EntryView],
) -> Result<(), CallError> {
    let mut orders: Vec<OrderId> = entries.iter().filter_map(|entry| entry.order_id).collect();
    orders.sort_unstable();
    orders.dedup();
    if orders.is_empty() {
        return Ok(());
    }
    let known = state.peers.orders.references(business, &orders).await?;
    for entry in entries {
        let found = known.iter().find(|known| Some(known.id) == entry.order_id);
        entry.order_reference = found.map(|known| known.order_reference.clone());
    }
    Ok(())
}

/// The statement of a business.
struct Statement {
    business: BusinessId,
    /// The query of the next page; `None` at the end.
    query: Option<EntriesQuery>,
}

impl export::Pages for Statement {
    async fn next(&mut self, state: &State) -> Result<Option<Vec<u8>>, ApiError> {
        let Some(mut query) = self.query.take() else { return Ok(None) };
        query.limit = Some(EXPORT_PAGE);
        let mut page = state.peers.wallet.entries(self.business, &query).await?;
        add_references(state, self.business, &mut page.data).await?;
        let region = state.mailbox.region;
        let written = page.data.iter().flat_map(|entry| csv_record(entry, region)).collect();
        if page.has_more
            && let Some(last) = page.data.pop()
        {
            self.query = Some(EntriesQuery { starting_after: Some(last.id), ..query });
        }
        Ok(Some(written))
    }
}

fn csv_record(entry: &EntryView, region: RegionFormat) -> Vec<u8> {
    let written = [
        entry.id.clone(),
        // The format of the JSON field.
        entry.created_at.to_rfc3339_opts(SecondsFormat::AutoSi, true),
        entry.kind.clone(),
        entry.amount_paise.get().to_string(),
        entry.balance_after_paise.get().to_string(),
        entry.order_id.map(|order| order.to_string()).unwrap_or_default(),
        csv::without_formulas(entry.order_reference.as_deref().unwrap_or_default()),
        csv::without_formulas(entry.reference.as_deref().unwrap_or_default()),
        entry.transfer_id.to_string(),
        entry.reverses.map(|transfer| transfer.to_string()).unwrap_or_default(),
        entry.owed_paise.get().to_string(),
        csv::without_formulas(entry.reason.as_deref().unwrap_or_default()),
        region.spreadsheet_time(entry.created_at),
        label_of(entry).to_owned(),
        csv::rupees(entry.amount_paise),
        csv::rupees(entry.owed_paise),
        csv::rupees(entry.balance_after_paise),
        csv::without_formulas(&entry.takes_back.as_ref().map(taken_back).unwrap_or_default()),
        entry.left_paise.map(|left| left.get().to_string()).unwrap_or_default(),
        entry.left_paise.map(csv::rupees).unwrap_or_default(),
    ];
    csv::record(written)
}

/// What a debit takes back: its kind, and its order or its reference.
fn taken_back(deposit: &TakesBackView) -> String {
    let of = deposit.order_id.map(|order| order.to_string()).or_else(|| deposit.reference.clone());
    format!("{} {}", label(&deposit.kind), of.unwrap_or_default()).trim_end().to_owned()
}

/// The words of the pages (`entry-labels.ts`).
fn label_of(entry: &EntryView) -> &str {
    let is_attempt_fee = entry.reference.as_deref().is_some_and(is_attempt_fee_reference);
    match entry.kind.as_str() {
        "operator_debit" if is_attempt_fee => "Fee of another attempt",
        "operator_debit_shortfall" if is_attempt_fee => "Debt: fee of another attempt",
        kind => label(kind),
    }
}

fn label(kind: &str) -> &str {
    match kind {
        "delivery_fee" => "Delivery fee",
        "refund" => "Refund",
        "top_up" => "Top-up",
        "operator_credit" => "Credit",
        "operator_debit" => "Debit",
        "operator_debit_shortfall" => "Debt: debit by the delivery company",
        "top_up_reversal" => "Top-up taken back",
        "top_up_reversal_shortfall" => "Debt: top-up refunded or charged back",
        "receivable_payment" => "Payment of a debt",
        other => other,
    }
}
