//! Remittances: the operator records the bank transfer that paid out the cash of many orders. Wallet, which books it, does not
//! know businesses, so the calls are forwarded after a check that the business exists.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, ReqData};
use chrono::NaiveDate;
use domain::BusinessId;
use internal_api::remittances::{
    RemittanceCheck, RemittanceCheckRequest, RemittanceDetails, RemittanceLine, RemittanceRequest,
    RemittanceView, RemittedOrderView,
};
use internal_api::{CallError, Page};
use serde_json::Value;
use web::{ApiError, Fields, JsonBody, TextRule, page_query, read_body};

use crate::audit::commands::audit::{record_operator_request, try_record_operator};
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::routes::businesses::{business_id, named_business};
use crate::domain::{Session, csv};
use crate::http::audited::{OperatorAuthor, UserAuthor, audited};
use crate::http::export::{self, File};
use crate::http::openapi::{cash_bodies, params};
use crate::relay::domain::remittance_file::{self, Line};
use crate::state::State;

const BANK_REFERENCE: TextRule = TextRule::code(64);
const DATE: &str = "a date, such as 2026-01-31";
/// The names of the JSON fields, then amounts in rupees for people.
const COLUMNS: [&str; 7] = [
    "orderId",
    "orderReference",
    "handedOverPaise",
    "amountPaise",
    "note",
    "handedOverRupees",
    "amountRupees",
];

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/remittances",
    operation_id = "createRemittance",
    tag = "Operator",
    summary = "Record a bank transfer that pays out the cash of orders",
    description = "Settles all orders or none. A repeated call with the same bank reference and content changes nothing.",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    request_body = cash_bodies::CreateRemittance,
    responses(
        (status = 201, description = "The remittance. Each of its orders is settled.", body = RemittanceDetails),
        (status = 200, description = "An earlier call with this bank reference recorded it.", body = RemittanceDetails),
    ),
)]
pub(crate) async fn create(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    let (bank_reference, paid_on, lines) =
        read_body(&body.0, &["bankReference", "paidOn", "csv"], |fields| {
            let bank_reference = fields.required_text("bankReference", BANK_REFERENCE);
            let paid_on: Option<NaiveDate> = fields.required_word("paidOn", DATE);
            let lines = read_lines(fields);
            Some((bank_reference?, paid_on?, lines?))
        })?;
    let requested = AuditEvent::new(Action::RemittanceRequested)
        .with("bankReference", bank_reference.as_str())
        .with("orders", lines.len());
    record_operator_request(&state, business, &author.0, &requested).await?;
    let created_by = author.0.operator_actor().name().to_owned();
    let orders = lines.iter().map(wanted).collect();
    let request = RemittanceRequest { bank_reference, paid_on, created_by, orders };
    let work = {
        let (state, author) = (state.clone(), author.0.clone());
        async move {
            let made = state.peers.wallet.remit(business, &request).await;
            if let Err(CallError::Refused { refusal, .. }) = &made {
                let refused = AuditEvent { action: Action::RemittanceRefused, ..requested }
                    .with("refused", refusal.code.as_str());
                try_record_operator(&state, business, &author, &refused).await;
            }
            made.map_err(|error| with_line_numbers(error, &lines).into())
        }
    };
    let made = audited(&state, business, author.0, work, recorded).await?;
    let (id, orders) = (made.remittance.id, made.remittance.orders);
    tracing::info!(business_id = %business, remittance = %id, orders, already = made.already_recorded, "remittance recorded by the operator");
    Ok(if made.already_recorded { HttpResponse::Ok() } else { HttpResponse::Created() }.json(made))
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/remittances/check",
    operation_id = "checkRemittance",
    tag = "Operator",
    summary = "Look at what a remittance would settle",
    description = "Changes nothing. `position` of a refused order is its line in the file, from 1, and its message names it as the file does.",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    request_body = cash_bodies::CheckRemittance,
    responses((status = 200, description = "The orders that can be settled, and those that cannot.", body = RemittanceCheck)),
)]
pub(crate) async fn check(
    state: Data<State>,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    let lines = read_body(&body.0, &["csv"], read_lines)?;
    let request = RemittanceCheckRequest { orders: lines.iter().map(wanted).collect() };
    let checked = state.peers.wallet.check_remittance(business, &request).await;
    let mut checked = checked.map_err(|error| with_line_numbers(error, &lines))?;
    for refused in &mut checked.refused {
        if let Some(line) = lines.get(refused.position) {
            refused.position = usize::try_from(line.number).unwrap_or_default();
            refused.message = format!("{}: {}", line.order, refused.message);
        }
    }
    Ok(HttpResponse::Ok().json(checked))
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/remittances",
    operation_id = "listRemittancesOfBusiness",
    tag = "Operator",
    summary = "List the remittances of a business, newest first",
    params(("id" = domain::BusinessId, Path, description = "The business."), params::PageParams),
    responses((status = 200, description = "A page of remittances.", body = Page<RemittanceView>)),
)]
pub(crate) async fn list_for_operator(
    state: Data<State>,
    business: Path<String>,
    request: actix_web::HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    Ok(HttpResponse::Ok().json(state.peers.wallet.remittances(business, &page_query(&request)?).await?))
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/remittances/{remittance}",
    operation_id = "readRemittanceOfBusiness",
    tag = "Operator",
    summary = "Read a remittance of a business with its orders",
    params(
        ("id" = domain::BusinessId, Path, description = "The business."),
        ("remittance" = domain::RemittanceId, Path, description = "The remittance."),
    ),
    responses((status = 200, description = "The remittance.", body = RemittanceDetails)),
)]
pub(crate) async fn read_for_operator(
    state: Data<State>,
    path: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &path.0).await?;
    Ok(HttpResponse::Ok().json(state.peers.wallet.remittance(business, &path.1).await?))
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/remittances/{remittance}/orders.csv",
    operation_id = "exportRemittanceOfBusiness",
    tag = "Operator",
    summary = "Export a remittance of a business as CSV",
    params(
        ("id" = domain::BusinessId, Path, description = "The business."),
        ("remittance" = domain::RemittanceId, Path, description = "The remittance."),
    ),
    responses((status = 200, description = "Its orders.", body = String, content_type = "text/csv")),
)]
pub(crate) async fn export_for_operator(
    state: Data<State>,
    author: OperatorAuthor,
    path: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, name) = named_business(&state, &path.0).await?;
    export_of(state, &author.0, (business, &name), &path.1).await
}

#[utoipa::path(
    get,
    path = "/v1/portal/remittances",
    operation_id = "listRemittances",
    tag = "Wallet",
    summary = "List the bank transfers that paid out cash, newest first",
    params(params::PageParams),
    responses((status = 200, description = "A page of remittances.", body = Page<RemittanceView>)),
)]
pub(crate) async fn list(
    state: Data<State>,
    session: ReqData<Session>,
    request: actix_web::HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = state.peers.wallet.remittances(session.business, &page_query(&request)?).await?;
    Ok(HttpResponse::Ok().json(page.map(for_business)))
}

#[utoipa::path(
    get,
    path = "/v1/portal/remittances/{id}",
    operation_id = "readRemittance",
    tag = "Wallet",
    summary = "Read a remittance with its orders",
    params(("id" = domain::RemittanceId, Path, description = "The remittance.")),
    responses((status = 200, description = "The remittance.", body = RemittanceDetails)),
)]
pub(crate) async fn read(
    state: Data<State>,
    session: ReqData<Session>,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let found = state.peers.wallet.remittance(session.business, &id).await?;
    Ok(HttpResponse::Ok().json(RemittanceDetails { remittance: for_business(found.remittance), ..found }))
}

#[utoipa::path(
    get,
    path = "/v1/portal/remittances/{id}/orders.csv",
    operation_id = "exportRemittance",
    tag = "Wallet",
    summary = "Export a remittance as CSV",
    params(("id" = domain::RemittanceId, Path, description = "The remittance.")),
    responses((status = 200, description = "Its orders.", body = String, content_type = "text/csv")),
)]
pub(crate) async fn export(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    export_of(state, &author.0, (session.business, &session.business_name), &id).await
}

/// The staff is not named to businesses.
fn for_business(remittance: RemittanceView) -> RemittanceView {
    RemittanceView { created_by: None, ..remittance }
}

fn read_lines(fields: &Fields<'_>) -> Option<Vec<Line>> {
    let Some(text) = fields.value("csv") else { return fields.missing("csv") };
    let Some(text) = text.as_str() else {
        fields.reject("csv", "invalid_type", "csv must be a string.");
        return None;
    };
    match remittance_file::read(text) {
        Ok(lines) => Some(lines),
        Err(errors) => {
            for error in errors {
                let (number, message) = (error.number, error.message);
                fields.reject(
                    &format!("csv[{number}]"),
                    "invalid_value",
                    format!("Line {number}: {message}"),
                );
            }
            None
        }
    }
}

fn wanted(line: &Line) -> RemittanceLine {
    RemittanceLine { order: line.order.clone(), amount_paise: line.amount, note: line.note.clone() }
}

/// Wallet names the orders by their place in the list, the file by its lines, and people by their references.
fn with_line_numbers(error: CallError, lines: &[Line]) -> CallError {
    let CallError::Refused { service, mut refusal } = error else { return error };
    for error in refusal.rest.get_mut("errors").and_then(Value::as_array_mut).into_iter().flatten() {
        let position = error["field"].as_str().and_then(|field| field.strip_prefix("orders["));
        let position = position.and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
        if let Some(line) = position.and_then(|position| lines.get(position)) {
            let message = error["message"].as_str().unwrap_or_default();
            let message = format!("Line {}, {}: {message}", line.number, line.order);
            error["field"] = format!("csv[{}]", line.number).into();
            error["message"] = message.into();
        }
    }
    CallError::Refused { service, refusal }
}

fn recorded(made: &RemittanceDetails) -> AuditEvent {
    let RemittanceView { id, bank_reference, paid_on, orders, total_paise, .. } = &made.remittance;
    let target = Target::new(TargetKind::Remittance, id).labelled(bank_reference.as_str());
    AuditEvent::once(Action::CashRemitted, target)
        .with("totalPaise", total_paise.get())
        .with("orders", *orders)
        .with("paidOn", paid_on.to_string())
}

async fn export_of(
    state: Data<State>,
    author: &Author,
    (business, business_name): (BusinessId, &str),
    id: &str,
) -> Result<HttpResponse, ApiError> {
    let slot = export::begin(&state, author, Some(business))?;
    let RemittanceDetails { remittance, lines, .. } = state.peers.wallet.remittance(business, id).await?;
    let owner = export::owner(business, business_name);
    let file = File {
        name: format!("{owner}-remittance-{}-{}.csv", remittance.paid_on, remittance.id),
        content_type: "text/csv; charset=utf-8",
    };
    let lines = Some(lines.iter().flat_map(csv_record).collect());
    export::send((state, slot), &file, csv::record(COLUMNS), Lines(lines)).await
}

/// One part: a remittance has few orders.
struct Lines(Option<Vec<u8>>);

impl export::Pages for Lines {
    async fn next(&mut self, _: &State) -> Result<Option<Vec<u8>>, ApiError> {
        Ok(self.0.take())
    }
}

fn csv_record(order: &RemittedOrderView) -> Vec<u8> {
    let written = [
        order.order_id.to_string(),
        csv::without_formulas(&order.order_reference),
        order.handed_over_paise.get().to_string(),
        order.amount_paise.get().to_string(),
        csv::without_formulas(order.note.as_deref().unwrap_or_default()),
        csv::rupees(order.handed_over_paise),
        csv::rupees(order.amount_paise),
    ];
    csv::record(written)
}
