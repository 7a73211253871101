//! `POST /internal/wallets/{business}/remittances` and `…/remittances/check`, and the reads of remittances.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{NaiveDate, TimeDelta};
use domain::{BusinessId, Paise, RemittanceId, composed, indian_time};
use internal_api::Page;
use internal_api::remittances::{
    RefusedOrder, RemittanceCheck, RemittanceDetails, RemittanceView, RemittedOrderView,
};
use web::{ApiError, Fields, JsonBody, Tasks, TextRule, page_query, read_body};

use super::{errors, path};
use crate::commands::remit;
use crate::domain::{NewRemittance, ORDERS_MAX, OrderName, Remittance, RemittedOrder, WantedOrder};
use crate::queries;
use crate::state::State;

const BANK_REFERENCE: TextRule = TextRule::code(64);
const CREATED_BY: TextRule = TextRule::line(200);
/// Longer than any reference of an order.
const ORDER_CHARS_MAX: usize = 256;
const ORDER: TextRule = TextRule::line(ORDER_CHARS_MAX);
const NOTE_CHARS_MAX: usize = 200;
const NOTE: TextRule = TextRule::line(NOTE_CHARS_MAX);
/// A character has at most four bytes. The rest is for the names of the fields, the amount, and what precedes the lines.
const LINE_BYTES_MAX: usize = 4 * (ORDER_CHARS_MAX + NOTE_CHARS_MAX) + 128;
/// The longest lines of the largest remittance.
pub(super) const BODY_BYTES_MAX: usize = ORDERS_MAX * LINE_BYTES_MAX;
/// An earlier day is a mistake, and may be none that PostgreSQL can store.
const PAID_WITHIN: TimeDelta = TimeDelta::days(3_650);
const DATE: &str = "a date, such as 2026-01-31";

pub(super) async fn create(
    state: Data<State>,
    tasks: Data<Tasks>,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let today = indian_time(state.unit.clock.now()).date_naive();
    let request = read(path::business(&business)?, &body, today)?;
    let state = state.into_inner();
    let work = async move { remit::remit(&state, &request).await };
    let remitted = tasks.run(work).await?.map_err(errors::from_remit)?;
    let details = details(remitted.remittance, remitted.orders, remitted.already);
    Ok(if remitted.already { HttpResponse::Ok() } else { HttpResponse::Created() }.json(details))
}

/// What [`create`] would do; changes nothing.
pub(super) async fn check(
    state: Data<State>,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let wanted = read_body(&body.0, &["orders"], orders)?;
    let plan = remit::check(&state, business, &wanted).await?;
    let total_paise = plan.total();
    let refused = plan.refused.into_iter().map(|(position, refusal)| {
        let (code, message) = errors::order_refusal(refusal);
        RefusedOrder { position, code: code.to_owned(), message }
    });
    Ok(HttpResponse::Ok().json(RemittanceCheck {
        total_paise,
        refused: refused.collect(),
        orders: plan.accepted.into_iter().map(order_view).collect(),
    }))
}

pub(super) async fn list(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (business, page) = (path::business(&business)?, page_query(&request)?);
    let unknown =
        || ApiError::invalid_field("startingAfter", "invalid_value", "startingAfter names no remittance.");
    let before: Option<RemittanceId> =
        page.starting_after.as_deref().map(str::parse).transpose().map_err(|_| unknown())?;
    let found = queries::remittances::page(&state, business, before, page.limit).await?;
    Ok(HttpResponse::Ok().json(Page::cut(found.ok_or_else(unknown)?, page.limit).map(view)))
}

pub(super) async fn show(state: Data<State>, path: Path<(String, String)>) -> Result<HttpResponse, ApiError> {
    let business = path::business(&path.0)?;
    let id = path.1.parse().map_err(|_| errors::remittance_not_found())?;
    let found = queries::remittances::find(&state, business, id).await?;
    let (remittance, orders) = found.ok_or_else(errors::remittance_not_found)?;
    Ok(HttpResponse::Ok().json(details(remittance, orders, true)))
}

fn read(business: BusinessId, body: &JsonBody, today: NaiveDate) -> Result<NewRemittance, ApiError> {
    read_body(&body.0, &["bankReference", "paidOn", "createdBy", "orders"], |fields| {
        let bank_reference = fields.required_text("bankReference", BANK_REFERENCE);
        let paid_on: Option<NaiveDate> = fields.required_word("paidOn", DATE);
        if paid_on.is_some_and(|paid_on| paid_on > today || paid_on < today - PAID_WITHIN) {
            let message = "paidOn must be a day of the last ten years, and not in the future.";
            fields.reject("paidOn", "out_of_range", message);
        }
        let created_by = fields.required_text("createdBy", CREATED_BY);
        let orders = orders(fields);
        Some(NewRemittance {
            business,
            bank_reference: composed(&bank_reference?).into_owned(),
            paid_on: paid_on?,
            created_by: created_by?,
            orders: orders?,
        })
    })
}

fn orders(fields: &Fields<'_>) -> Option<Vec<WantedOrder>> {
    if fields.value("orders").is_none_or(|value| value.as_array().is_some_and(Vec::is_empty)) {
        return fields.missing("orders");
    }
    // Every line is read, so that every error is named.
    let lines: Vec<_> = fields.optional_objects("orders", ORDERS_MAX)?.iter().map(order).collect();
    lines.into_iter().collect()
}

fn order(line: &Fields<'_>) -> Option<WantedOrder> {
    for path in line.unknown(&["order", "amountPaise", "note"]) {
        let name = path.rsplit('.').next().unwrap_or_default();
        line.reject(name, "unknown_field", format!("{path} is not a field of this call."));
    }
    let name = line.required_text("order", ORDER);
    let amount = line.optional_integer("amountPaise", 1, Paise::REQUEST_MAX.get()).map(Paise::new);
    let note = line.optional_text("note", NOTE);
    Some(WantedOrder { name: OrderName::from(name?.as_str()), amount, note })
}

fn view(remittance: Remittance) -> RemittanceView {
    RemittanceView {
        id: remittance.id,
        bank_reference: remittance.bank_reference,
        paid_on: remittance.paid_on,
        orders: remittance.order_count,
        total_paise: remittance.total,
        created_by: Some(remittance.created_by),
        created_at: remittance.created_at,
    }
}

fn details(remittance: Remittance, orders: Vec<RemittedOrder>, already_recorded: bool) -> RemittanceDetails {
    let lines = orders.into_iter().map(order_view).collect();
    RemittanceDetails { remittance: view(remittance), already_recorded, lines }
}

fn order_view(order: RemittedOrder) -> RemittedOrderView {
    RemittedOrderView {
        order_id: order.order,
        order_reference: order.order_reference,
        handed_over_paise: order.handed_over,
        amount_paise: order.amount,
        note: order.note,
    }
}
