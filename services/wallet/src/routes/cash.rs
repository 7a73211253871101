//! `GET /internal/wallets/{business}/cash`, and the operator's views over all businesses: `GET /internal/cash` and
//! `GET /internal/cash/discrepancies`.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use domain::{BusinessId, OrderId, Paise};
use internal_api::Page;
use internal_api::cash::{
    BusinessCash, CashAge, CashDifferenceView, CashMonthView, CashOverview, CashRemittance, CashTotals,
    CashView,
};
use web::{ApiError, JsonBody, TextRule, page_query, read_body, read_query};

use super::statement::{TIME, time};
use super::{errors, path};
use crate::commands::assign_difference;
use crate::domain::{CashTerms, DifferenceState};
use crate::queries;
use crate::queries::cash::{AGES, CashDifference, CashFilter, CashLine, CashMonth, Totals};
use crate::state::State;

const OWNER: TextRule = TextRule::line(200);
const NOTE: TextRule = TextRule::lines(500);

pub(super) async fn of_business(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let (page, filter, late, totals) = read_query(&request, |fields| {
        let filter = CashFilter {
            status: fields.parsed("status", "pending, collected, handed_over or settled"),
            discrepant: fields.parsed("discrepant", "true or false"),
            differs: fields.parsed("differs", "true or false"),
            order: fields.parsed("orderId", "the id of an order"),
            due_from: fields.parsed_by("dueFrom", TIME, time),
            due_until: fields.parsed_by("dueUntil", TIME, time),
            ..CashFilter::default()
        };
        let mut flag = |name, default| fields.parsed(name, "true or false").unwrap_or(default);
        let (late, totals) = (flag("late", false), flag("totals", true));
        (fields.page(), filter, late, totals)
    })?;
    let filter = CashFilter { before: order_cursor(page.starting_after.as_deref())?, ..filter };
    let found = queries::cash::of_business(&state, business, &filter, (late, totals), page.limit).await?;
    let (records, totals) = found.ok_or_else(unknown_order)?;
    let page = Page::cut(records, page.limit).map(|line| view(state.cash_terms, line));
    let totals = totals_view(&totals)?;
    Ok(HttpResponse::Ok().json(CashOverview { totals, data: page.data, has_more: page.has_more }))
}

pub(super) async fn of_all(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let page = page_query(&request)?;
    let unknown =
        |_| ApiError::invalid_field("startingAfter", "invalid_value", "startingAfter names no business.");
    let after: Option<BusinessId> =
        page.starting_after.as_deref().map(str::parse).transpose().map_err(unknown)?;
    let totals = queries::cash::totals(&state, after, page.limit).await?;
    let of_each = totals
        .into_iter()
        .map(|(business_id, totals)| Ok(BusinessCash { business_id, totals: totals_view(&totals)? }));
    let of_each = of_each.collect::<Result<Vec<_>, ApiError>>()?;
    Ok(HttpResponse::Ok().json(Page::cut(of_each, page.limit)))
}

pub(super) async fn discrepancies(
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = page_query(&request)?;
    let before = order_cursor(page.starting_after.as_deref())?;
    let records = queries::cash::discrepancies(&state, before, page.limit).await?;
    let page = Page::cut(records.ok_or_else(unknown_order)?, page.limit);
    Ok(HttpResponse::Ok().json(page.map(|line| view(state.cash_terms, line))))
}

pub(super) async fn months(state: Data<State>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let months = queries::cash::months(&state, path::business(&business)?).await?;
    let months = months.into_iter().map(month_view).collect::<Result<Vec<_>, _>>()?;
    Ok(HttpResponse::Ok().json(months))
}

pub(super) async fn assign_difference(
    state: Data<State>,
    path: Path<(String, String)>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (business, order) = path::order(&path)?;
    let (difference, reopens) = read_body(&body.0, &["owner", "note", "resolution", "reopen"], |fields| {
        let owner = fields.optional_text("owner", OWNER);
        let note = fields.optional_text("note", NOTE);
        let resolution = fields.optional_text("resolution", NOTE);
        let reopens = fields.optional_boolean("reopen").unwrap_or_default();
        Some((CashDifference { reported: None, owner, note, resolution }, reopens))
    })?;
    let assigned =
        assign_difference::assign_difference(&state, business, order, (&difference, reopens)).await;
    assigned.map_err(errors::from_assign)?;
    Ok(HttpResponse::NoContent().finish())
}

fn order_cursor(text: Option<&str>) -> Result<Option<OrderId>, ApiError> {
    text.map(str::parse).transpose().map_err(|_| unknown_order())
}

fn unknown_order() -> ApiError {
    ApiError::invalid_field("startingAfter", "invalid_value", "startingAfter names no order with cash.")
}

fn month_view(month: CashMonth) -> Result<CashMonthView, ApiError> {
    let outstanding = month.owed.checked_sub(month.settled).and_then(|rest| rest.checked_sub(month.closed));
    Ok(CashMonthView {
        month: month.month.format("%Y-%m").to_string(),
        orders: month.orders,
        owed_paise: month.owed,
        settled_paise: month.settled,
        unreported_paise: month.unreported,
        settled_without_transfer_orders: month.without_transfer.0,
        settled_without_transfer_paise: month.without_transfer.1,
        outstanding_paise: outstanding.ok_or_else(|| ApiError::internal("sums of cash overflow"))?,
    })
}

fn difference_view(difference: CashDifference) -> CashDifferenceView {
    CashDifferenceView {
        reported_paise: difference.reported,
        owner: difference.owner,
        note: difference.note,
        resolution: difference.resolution,
    }
}

fn view(terms: CashTerms, line: CashLine) -> CashView {
    let state = line.difference_state();
    let CashLine { record, remittance, difference } = line;
    let status = record.status().to_string();
    let promised_on = Some(terms.promised_on(&record));
    let difference_paise = record.difference().filter(|_| record.discrepant);
    CashView {
        order_id: record.order,
        business_id: record.business,
        order_reference: record.order_reference,
        status,
        expected_paise: record.expected,
        delivered_at: record.delivered_at,
        collected_paise: record.collected.map(|reported| reported.amount),
        collected_at: record.collected.map(|reported| reported.at),
        handed_over_paise: record.handed_over.map(|reported| reported.amount),
        handed_over_at: record.handed_over.map(|reported| reported.at),
        settled_paise: record.settled.map(|reported| reported.amount),
        settled_at: record.settled.map(|reported| reported.at),
        due_since: record.due_since,
        discrepant: state.is_some_and(|state| state != DifferenceState::Closed),
        difference_paise,
        difference_state: state.map(|state| state.to_string()),
        promised_on,
        remittance: remittance.map(|remittance| CashRemittance {
            id: remittance.id,
            bank_reference: remittance.bank_reference,
            paid_on: remittance.paid_on,
        }),
        reported_settled_paise: difference.as_ref().and_then(|known| known.reported),
        difference: difference.map(difference_view),
    }
}

fn totals_view(totals: &Totals) -> Result<CashTotals, ApiError> {
    let (pending, with_drivers, with_operator) = (totals.pending, totals.with_drivers, totals.with_operator);
    let outstanding = pending.checked_add(with_drivers).and_then(|sum| sum.checked_add(with_operator));
    let ages = AGES.iter().zip(totals.by_age);
    Ok(CashTotals {
        outstanding_paise: outstanding.ok_or_else(|| ApiError::internal("sums of cash overflow"))?,
        pending_paise: pending,
        with_drivers_paise: with_drivers,
        handed_over_short_paise: totals.handed_over_short,
        with_operator_paise: with_operator,
        settled_recently_paise: totals.settled_recently,
        discrepancies: totals.discrepancies,
        late_orders: totals.late.0,
        late_paise: totals.late.1,
        ages: ages
            .map(|(days, (orders, amount_paise)): (_, (i64, Paise))| CashAge {
                days: (*days).into(),
                orders,
                amount_paise,
            })
            .collect(),
    })
}
