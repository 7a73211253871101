//! `GET /internal/wallets/{business}/cash`, and the operator's views over all businesses: `GET /internal/cash` and
//! `GET /internal/cash/discrepancies`.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use domain::{BusinessId, OrderId, Paise};
use internal_api::Page;
use internal_api::cash::{BusinessCash, CashAge, CashOverview, CashTotals, CashView};
use web::{ApiError, page_query, read_query};

use super::path;
use crate::domain::CashRecord;
use crate::queries;
use crate::queries::cash::{AGES, CashFilter, Totals};
use crate::state::State;

pub(super) async fn of_business(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let (page, filter) = read_query(&request, |fields| {
        let filter = CashFilter {
            before: None,
            status: fields.parsed("status", "pending, collected, handed_over or settled"),
            discrepant: fields.parsed("discrepant", "true or false").unwrap_or_default(),
        };
        (fields.page(), filter)
    })?;
    let filter = CashFilter { before: order_cursor(page.starting_after.as_deref())?, ..filter };
    let found = queries::cash::of_business(&state, business, &filter, page.limit).await?;
    let (records, totals) = found.ok_or_else(unknown_order)?;
    let page = Page::cut(records, page.limit).map(view);
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
    Ok(HttpResponse::Ok().json(Page::cut(records.ok_or_else(unknown_order)?, page.limit).map(view)))
}

fn order_cursor(text: Option<&str>) -> Result<Option<OrderId>, ApiError> {
    text.map(str::parse).transpose().map_err(|_| unknown_order())
}

fn unknown_order() -> ApiError {
    ApiError::invalid_field("startingAfter", "invalid_value", "startingAfter names no order with cash.")
}

fn view(record: CashRecord) -> CashView {
    let status = record.status().to_string();
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
        discrepant: record.discrepant,
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
        with_operator_paise: with_operator,
        settled_recently_paise: totals.settled_recently,
        discrepancies: totals.discrepancies,
        ages: ages
            .map(|(days, (orders, amount_paise)): (_, (i64, Paise))| CashAge {
                days: (*days).into(),
                orders,
                amount_paise,
            })
            .collect(),
    })
}
