//! `GET /internal/wallets/{business}/entries`: the statement, newest first; `GET …/entries/totals`; and
//! `GET …/orders/{order}/entries`.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, TimeDelta, Utc};
use domain::Paise;
use internal_api::wallet::{EntryView, StatementTotalsView, TakesBackView};
use internal_api::{Page, PageQuery};
use web::{ApiError, read_query};

use super::path;
use crate::domain::LineKind;
use crate::queries;
use crate::queries::statement::{Cursor, Deposit, LineFilter, StatementLine, StatementTotals};
use crate::state::State;

pub(super) const TIME: &str = "an RFC 3339 time, such as 2026-01-31T09:30:00Z";

/// Of totals, and at most. No index has the amounts, so each entry of the period is read from the table, where it lies between
/// those of other businesses: a year of a large business takes most of the time that the caller waits.
const PERIOD_DEFAULT: TimeDelta = TimeDelta::days(30);
const PERIOD_MAX: TimeDelta = TimeDelta::days(366);

/// Only years of four digits, which PostgreSQL and sums with days can hold.
pub(super) fn time(text: &str) -> Option<DateTime<Utc>> {
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
            kind: fields.parsed("kind", LineKind::WORDS),
            since: fields.parsed_by("since", TIME, time),
            until: fields.parsed_by("until", TIME, time),
        };
        (fields.page(), fields.parsed("orderId", "the id of an order"), filter)
    })?;
    let lines =
        queries::statement::page(&state, business, order, &filter, cursor(&query)?, query.limit).await?;
    let lines = lines.ok_or_else(unknown_cursor)?;
    Ok(HttpResponse::Ok().json(Page::cut(lines, query.limit).map(view)))
}

/// Of the period from `since` (30 days before its end) up to `until` (now), at most 366 days; in all, or of one `kind`.
pub(super) async fn totals(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let now = state.unit.clock.now();
    let (period, kind): (_, Option<LineKind>) = read_query(&request, |fields| {
        let until = fields.parsed_by("until", TIME, time).unwrap_or(now);
        let since = fields.parsed_by("since", TIME, time).unwrap_or(until - PERIOD_DEFAULT);
        if since > until {
            fields.reject("since", "out_of_range", "since must not be after until.");
        } else if until - since > PERIOD_MAX {
            fields.reject("since", "out_of_range", "since must be at most 366 days before until.");
        }
        ((since, until), fields.parsed("kind", LineKind::WORDS))
    })?;
    let totals = queries::statement::totals(&state, business, period, kind).await?;
    Ok(HttpResponse::Ok().json(totals_view(period, totals)))
}

fn totals_view(
    (since, until): (DateTime<Utc>, DateTime<Utc>),
    totals: StatementTotals,
) -> StatementTotalsView {
    let StatementTotals { opening_paise, closing_paise, moved, owed_paise } = totals;
    StatementTotalsView {
        since,
        until,
        opening_paise: Paise::new(opening_paise),
        in_paise: Paise::new(moved.in_paise),
        out_paise: Paise::new(moved.out_paise),
        owed_paise: Paise::new(owed_paise),
        closing_paise: Paise::new(closing_paise),
        entries: moved.entries,
    }
}

/// The fee, the fees of further attempts with what is owed of them, and the refund of an order, oldest first: at most twenty
/// lines, hence no pages.
pub(super) async fn entries_of_order(
    state: Data<State>,
    path: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, order) = path::order(&path)?;
    let lines = queries::statement::of_order(&state, business, order).await?;
    Ok(HttpResponse::Ok().json(lines.into_iter().map(view).collect::<Vec<_>>()))
}

fn cursor(query: &PageQuery) -> Result<Option<Cursor>, ApiError> {
    let Some(text) = &query.starting_after else { return Ok(None) };
    if let Ok(debt) = text.parse() {
        return Ok(Some(Cursor::Debt(debt)));
    }
    // Only the spelling of responses: no sign, no leading zeros.
    let sequence = text.parse::<i64>().ok().filter(|sequence| sequence.to_string() == *text);
    sequence.map(Cursor::Entry).map(Some).ok_or_else(unknown_cursor)
}

fn unknown_cursor() -> ApiError {
    ApiError::invalid_field("startingAfter", "invalid_value", "startingAfter names no entry of this wallet.")
}

fn view(line: StatementLine) -> EntryView {
    EntryView {
        id: match line.position.debt {
            None => line.position.entry.to_string(),
            Some(transfer) => transfer.to_string(),
        },
        transfer_id: line.transfer,
        kind: line.kind.as_str().to_owned(),
        amount_paise: line.amount,
        owed_paise: line.owed,
        balance_after_paise: line.balance_after,
        order_id: line.order,
        order_reference: None,
        reference: line.reference,
        reverses: line.reverses,
        reason: line.reason,
        takes_back: line.takes_back.map(takes_back),
        left_paise: line.left,
        created_at: line.created_at,
    }
}

fn takes_back(deposit: Deposit) -> TakesBackView {
    TakesBackView {
        kind: deposit.kind.as_str().to_owned(),
        order_id: deposit.order,
        reference: deposit.reference,
        created_at: deposit.created_at,
    }
}
