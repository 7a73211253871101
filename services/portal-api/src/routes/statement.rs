//! `GET /v1/portal/wallet/entries`: the statement from wallet, with the references of the orders behind its lines from
//! order-api; page by page, or all of it as CSV.

use std::io;
use std::time::Duration;

use actix_web::http::header;
use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use chrono::SecondsFormat;
use domain::{BusinessId, Mode, OrderId};
use futures_util::stream::try_unfold;
use internal_api::orders::OrdersQuery;
use internal_api::wallet::{EntriesQuery, EntryView};
use internal_api::{CallError, Page};
use tokio::time::Instant;
use web::{ApiError, TextRule, read_query};

use super::openapi::params;
use crate::app::App;
use crate::domain::{Session, csv};

/// Of a filter that wallet judges.
const PASSED_ON: TextRule = TextRule::line(64);
const ORDER_REFERENCE: TextRule = TextRule::line(128);
/// Lines that an export holds in memory.
const EXPORT_PAGE: usize = 100;
/// No export takes longer: a client that reads one byte a minute holds a connection.
const EXPORT_MAX: Duration = Duration::from_secs(600);

/// Named as in JSON.
const COLUMNS: [&str; 9] = [
    "id",
    "createdAt",
    "kind",
    "amountPaise",
    "balanceAfterPaise",
    "orderId",
    "orderReference",
    "reference",
    "transferId",
];

/// JSON, or CSV for those who accept that.
#[utoipa::path(
    get,
    path = "/v1/portal/wallet/entries",
    operation_id = "listEntries",
    tag = "Wallet",
    summary = "The statement, newest first",
    params(params::EntriesParams),
    responses((status = 200, description = "A page of the statement.", body = internal_api::Page<internal_api::wallet::EntryView>)),
)]
pub(super) async fn entries(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("text/csv")) {
        return export(app, session, request).await;
    }
    let (query, order_reference) = read(&request)?;
    let Some(query) = about(&app, session.business, query, order_reference).await? else {
        return Ok(HttpResponse::Ok().json(Page::<EntryView> { data: Vec::new(), has_more: false }));
    };
    let mut page = app.peers.wallet.entries(session.business, &query).await?;
    // A statement without references is worth more than none.
    if let Err(error) = name_orders(&app, session.business, &mut page.data).await {
        tracing::warn!(%error, "a statement goes without the references of its orders");
    }
    Ok(HttpResponse::Ok().json(page))
}

/// Everything that the filters let through, newest first. It is read as it is sent, a page at a time; where that fails
/// the connection breaks off, so that no part is taken for the whole.
#[utoipa::path(
    get,
    path = "/v1/portal/wallet/entries.csv",
    operation_id = "exportEntries",
    tag = "Wallet",
    summary = "The statement as CSV",
    params(params::EntriesParams),
    responses((status = 200, description = "All of it, newest first.", body = String, content_type = "text/csv")),
)]
pub(super) async fn export(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (query, order_reference) = read(&request)?;
    let query = about(&app, session.business, query, order_reference).await?;
    let mut export = Export { app, business: session.business, query, until: Instant::now() + EXPORT_MAX };
    // What is wrong with the request or with our peers is told before anything is sent.
    let mut first = csv::record(COLUMNS.iter().copied());
    first.extend_from_slice(&export.next_page().await?.unwrap_or_default());
    let chunks = try_unfold((Some(Bytes::from(first)), export), async |(first, mut export)| {
        let chunk = match first {
            Some(first) => Some(first),
            None => export.next_page().await.map_err(io::Error::other)?.map(Bytes::from),
        };
        Ok::<_, io::Error>(chunk.map(|chunk| (chunk, (None, export))))
    });
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((header::CONTENT_DISPOSITION, "attachment; filename=\"wallet-entries.csv\""))
        .streaming(Box::pin(chunks)))
}

fn read(request: &HttpRequest) -> Result<(EntriesQuery, Option<String>), ApiError> {
    read_query(request, |fields| {
        let page = fields.page();
        let query = EntriesQuery {
            limit: Some(page.limit),
            starting_after: page.starting_after,
            kind: fields.text("kind", PASSED_ON),
            since: fields.text("since", PASSED_ON),
            until: fields.text("until", PASSED_ON),
            order_id: fields.parsed("orderId", "the id of an order"),
        };
        (query, fields.text("orderReference", ORDER_REFERENCE))
    })
}

/// The query with the order that the reference names; `None` when it names none, or another one than `orderId` does.
async fn about(
    app: &App,
    business: BusinessId,
    query: EntriesQuery,
    order_reference: Option<String>,
) -> Result<Option<EntriesQuery>, ApiError> {
    if order_reference.is_none() {
        return Ok(Some(query));
    }
    // Test orders touch no wallet.
    let wanted =
        OrdersQuery { mode: Some(Mode::Live), limit: Some(1), order_reference, ..OrdersQuery::default() };
    let found = app.peers.orders.list(business, &wanted).await?.data.pop().map(|order| order.id);
    let fits = found.filter(|found| query.order_id.is_none_or(|wanted| wanted == *found));
    Ok(fits.map(|order| EntriesQuery { order_id: Some(order), ..query }))
}

/// Adds the references of the orders behind the lines.
async fn name_orders(app: &App, business: BusinessId, lines: &mut [EntryView]) -> Result<(), CallError> {
    let mut orders: Vec<OrderId> = lines.iter().filter_map(|line| line.order_id).collect();
    orders.sort_unstable();
    orders.dedup();
    if orders.is_empty() {
        return Ok(());
    }
    let known = app.peers.orders.references(business, &orders).await?;
    for line in lines {
        let named = known.iter().find(|known| Some(known.id) == line.order_id);
        line.order_reference = named.map(|known| known.order_reference.clone());
    }
    Ok(())
}

/// An export on its way.
struct Export {
    app: Data<App>,
    business: BusinessId,
    /// Where it goes on; `None` at its end.
    query: Option<EntriesQuery>,
    until: Instant,
}

impl Export {
    async fn next_page(&mut self) -> Result<Option<Vec<u8>>, CallError> {
        let Some(mut query) = self.query.take() else { return Ok(None) };
        let over = |reason: &str| CallError::Unavailable { service: "portal-api", reason: reason.to_owned() };
        if self.app.tasks.draining().is_cancelled() {
            return Err(over("the service stops"));
        }
        if Instant::now() >= self.until {
            return Err(over("the export took too long"));
        }
        query.limit = Some(EXPORT_PAGE);
        let mut page = self.app.peers.wallet.entries(self.business, &query).await?;
        name_orders(&self.app, self.business, &mut page.data).await?;
        let written = page.data.iter().flat_map(line).collect();
        if page.has_more
            && let Some(last) = page.data.pop()
        {
            self.query = Some(EntriesQuery { starting_after: Some(last.id), ..query });
        }
        Ok(Some(written))
    }
}

fn line(entry: &EntryView) -> Vec<u8> {
    let written = [
        entry.id.clone(),
        // As JSON has it.
        entry.created_at.to_rfc3339_opts(SecondsFormat::AutoSi, true),
        entry.kind.clone(),
        entry.amount_paise.get().to_string(),
        entry.balance_after_paise.get().to_string(),
        entry.order_id.map(|order| order.to_string()).unwrap_or_default(),
        csv::defused(entry.order_reference.as_deref().unwrap_or_default()),
        csv::defused(entry.reference.as_deref().unwrap_or_default()),
        entry.transfer_id.to_string(),
    ];
    csv::record(written.iter().map(String::as_str))
}
