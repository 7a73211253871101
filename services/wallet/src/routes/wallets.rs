//! `GET /internal/wallets/{business}` and its statement.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::wallet::{EntryView, WalletView};
use internal_api::{Page, PageQuery};
use postgres::{Database, StoreError};
use web::{ApiError, page_query};

use super::{errors, path};
use crate::app::State;
use crate::store;
use crate::store::statement::StatementLine;

pub(super) async fn show(state: Data<State>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let database = state.database.clone();
    let read = async move { database.read(async |conn| store::wallets::find(conn, business).await).await };
    let record = state.tasks.run(read).await?.map_err(errors::from_store)?;
    let threshold = record.and_then(|record| record.low_balance_threshold);
    Ok(HttpResponse::Ok().json(WalletView {
        balance_paise: record.map(|record| record.wallet.balance).unwrap_or_default(),
        currency: "INR".into(),
        funded_at: record.and_then(|record| record.funded_at),
        low_balance_threshold_paise: threshold.unwrap_or(state.rules.low_balance_threshold_paise),
    }))
}

pub(super) async fn entries(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let query = page_query(&request)?;
    let before = cursor(&query)?;
    let database = state.database.clone();
    // One more than asked for tells whether there are more.
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX - 1) + 1;
    let read = async move { statement(&database, business, before, limit).await };
    let lines = state.tasks.run(read).await?.map_err(errors::from_store)?.ok_or_else(unknown_cursor)?;
    Ok(HttpResponse::Ok().json(Page::cut(lines, query.limit).map(view)))
}

/// What an order took from the wallet and what came back, oldest first: two entries at most, so there are no pages.
pub(super) async fn entries_of_order(
    state: Data<State>,
    path: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, order) = path::order(&path)?;
    let database = state.database.clone();
    let read = async move {
        database.read(async |conn| store::statement::of_order(conn, business, order).await).await
    };
    let lines = state.tasks.run(read).await?.map_err(errors::from_store)?;
    Ok(HttpResponse::Ok().json(lines.into_iter().map(view).collect::<Vec<_>>()))
}

/// `None` when there is no entry to begin after.
async fn statement(
    database: &Database,
    business: domain::BusinessId,
    before: Option<i64>,
    limit: i64,
) -> Result<Option<Vec<StatementLine>>, StoreError> {
    database
        .read(async |conn| {
            if let Some(sequence) = before
                && !store::statement::exists(conn, business, sequence).await?
            {
                return Ok(None);
            }
            store::statement::page(conn, business, before, limit).await.map(Some)
        })
        .await
}

fn cursor(query: &PageQuery) -> Result<Option<i64>, ApiError> {
    let Some(text) = &query.starting_after else { return Ok(None) };
    // Only the spelling that answers carry: no sign, no leading zeros.
    let sequence = text.parse::<i64>().ok().filter(|sequence| sequence.to_string() == *text);
    sequence.map(Some).ok_or_else(unknown_cursor)
}

fn unknown_cursor() -> ApiError {
    ApiError::invalid_field("startingAfter", "invalid_value", "startingAfter names no entry of this wallet.")
}

fn view(line: StatementLine) -> EntryView {
    EntryView {
        id: line.entry.sequence.to_string(),
        transfer_id: line.transfer,
        kind: line.kind.to_string(),
        amount_paise: line.entry.amount,
        balance_after_paise: line.entry.balance_after,
        order_id: line.order,
        reference: line.reference,
        created_at: line.created_at,
    }
}
