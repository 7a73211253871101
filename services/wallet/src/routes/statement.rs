//! `GET /internal/wallets/{business}/entries`: the statement, newest first; and what one order took and got back.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{BusinessId, OrderId};
use internal_api::wallet::EntryView;
use internal_api::{Page, PageQuery};
use postgres::{Database, StoreError};
use web::{ApiError, read_query};

use super::{errors, path};
use crate::app::State;
use crate::store;
use crate::store::statement::{LineFilter, StatementLine};

const TIME: &str = "a time as RFC 3339 writes it, such as 2026-01-31T09:30:00Z";

fn time(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc))
}

pub(super) async fn entries(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let (query, order, filter) = read_query(&request, |fields| {
        let filter = LineFilter {
            before: None,
            kind: fields.parsed("kind", "delivery_fee, refund, top_up or operator_credit"),
            since: fields.parsed_by("since", TIME, time),
            until: fields.parsed_by("until", TIME, time),
        };
        (fields.page(), fields.parsed("orderId", "the id of an order"), filter)
    })?;
    let filter = LineFilter { before: cursor(&query)?, ..filter };
    let database = state.database.clone();
    // One more than asked for tells whether there are more.
    let limit = query.limit + 1;
    let read = async move { statement(&database, business, order, &filter, limit).await };
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
    business: BusinessId,
    order: Option<OrderId>,
    filter: &LineFilter,
    limit: usize,
) -> Result<Option<Vec<StatementLine>>, StoreError> {
    database
        .read(async |conn| {
            if let Some(sequence) = filter.before
                && !store::statement::exists(conn, business, sequence).await?
            {
                return Ok(None);
            }
            let Some(order) = order else {
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                return store::statement::page(conn, business, filter, limit).await.map(Some);
            };
            // Two lines at most, found by the order; no page of the statement has to be read for them.
            let mut lines = store::statement::of_order(conn, business, order).await?;
            lines.reverse();
            lines.retain(|line| filter.lets_through(line));
            lines.truncate(limit);
            Ok(Some(lines))
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
        order_reference: None,
        reference: line.reference,
        created_at: line.created_at,
    }
}
