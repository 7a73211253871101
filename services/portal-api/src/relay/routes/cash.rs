//! Cash on delivery: `/v1/portal/cod` for a business, `/v1/operator/cod` for all, and `/v1/operator/businesses/{id}/cod`.
//! Forwarded to wallet, which keeps the ledger.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::cash::{AssignDifference, CashQuery};
use web::{ApiError, JsonBody, QueryFields, TextRule, page_query, read_body, read_query};

use crate::audit::domain::{Action, AuditEvent, Target, TargetKind};
use crate::business::queries::closing;
use crate::business::routes::businesses::business_id;
use crate::domain::Session;
use crate::http::audited::{OperatorAuthor, audited};
use crate::http::errors;
use crate::http::openapi::{cash_bodies, params};
use crate::state::State;

/// For filters that wallet validates.
const FORWARDED: TextRule = TextRule::line(64);
/// The rules of wallet.
const OWNER: TextRule = TextRule::line(200);
const NOTE: TextRule = TextRule::lines(500);

#[utoipa::path(
    get,
    path = "/v1/portal/cod",
    operation_id = "listCash",
    tag = "Wallet",
    summary = "List the cash on delivery of orders",
    params(params::CashFilters, params::PageParams),
    responses((status = 200, description = "The outstanding cash, and a page of orders.", body = internal_api::cash::CashOverview)),
)]
pub(crate) async fn of_business(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let mut overview = state.peers.wallet.cash(session.business, &read(&request)?).await?;
    // Who of the staff clears a discrepancy, and their notes, are for the operator. `difference_state` says how far they are.
    overview.data.iter_mut().for_each(|cash| cash.difference = None);
    Ok(HttpResponse::Ok().json(overview))
}

#[utoipa::path(
    get,
    path = "/v1/portal/cod/months",
    operation_id = "listCashMonths",
    tag = "Wallet",
    summary = "Sum up cash on delivery by month",
    description = "The orders that were delivered in this month and the five months before it, newest first.",
    responses((status = 200, description = "The months with cash.", body = Vec<internal_api::cash::CashMonthView>)),
)]
pub(crate) async fn months(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(state.peers.wallet.cash_months(session.business).await?))
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/cod",
    operation_id = "listCashOfBusiness",
    tag = "Operator",
    summary = "List the cash on delivery of a business",
    params(("id" = domain::BusinessId, Path, description = "The business."), params::CashFilters, params::PageParams),
    responses((status = 200, description = "The outstanding cash, and a page of orders.", body = internal_api::cash::CashOverview)),
)]
pub(crate) async fn of_business_for_operator(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    Ok(HttpResponse::Ok().json(state.peers.wallet.cash(business, &read(&request)?).await?))
}

#[utoipa::path(
    put,
    path = "/v1/operator/businesses/{id}/cod/{order}/difference",
    operation_id = "assignCashDifference",
    tag = "Operator",
    summary = "Give a discrepancy an owner, or close it",
    description = "Once a closed business is erased: 409 `business_closed`.",
    params(
        ("id" = domain::BusinessId, Path, description = "The business."),
        ("order" = domain::OrderId, Path, description = "The order."),
    ),
    request_body = cash_bodies::AssignCashDifference,
    responses((status = 204, description = "Changed.")),
)]
pub(crate) async fn assign_difference(
    state: Data<State>,
    author: OperatorAuthor,
    path: Path<(String, String)>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &path.0).await?;
    if closing::find(&state, business).await?.is_some_and(|closing| closing.erased_at.is_some()) {
        return Err(errors::business_closed());
    }
    let request = read_body(&body.0, &["owner", "note", "resolution", "reopen"], |fields| {
        let owner = fields.optional_text("owner", OWNER);
        let note = fields.optional_text("note", NOTE);
        let resolution = fields.optional_text("resolution", NOTE);
        let reopen = fields.optional_boolean("reopen").unwrap_or_default();
        Some(AssignDifference { owner, note, resolution, reopen })
    })?;
    let event = AuditEvent::new(Action::CashDifferenceAssigned)
        .on(Target::new(TargetKind::Order, &path.1))
        .with("closed", request.resolution.is_some())
        .with_for_operator("owner", request.owner.clone())
        .with_for_operator("resolution", request.resolution.clone());
    let work = {
        let (state, order) = (state.clone(), path.into_inner().1);
        async move { Ok(state.peers.wallet.assign_cash_difference(business, &order, &request).await?) }
    };
    audited(&state, business, author.0, work, |()| event).await?;
    Ok(HttpResponse::NoContent().finish())
}

fn read(request: &HttpRequest) -> Result<CashQuery, ApiError> {
    read_query(request, |fields| {
        let page = fields.page();
        CashQuery { limit: Some(page.limit), starting_after: page.starting_after, ..filter(fields) }
    })
}

/// The filters of the list.
pub(crate) fn filter(fields: &mut QueryFields) -> CashQuery {
    CashQuery {
        limit: None,
        starting_after: None,
        status: fields.text("status", FORWARDED),
        discrepant: fields.text("discrepant", FORWARDED),
        differs: fields.text("differs", FORWARDED),
        order_id: fields.text("orderId", FORWARDED),
        late: fields.text("late", FORWARDED),
        due_from: fields.text("dueFrom", FORWARDED),
        due_until: fields.text("dueUntil", FORWARDED),
        totals: None,
    }
}

#[utoipa::path(
    get,
    path = "/v1/operator/cod",
    operation_id = "listCashOfAll",
    tag = "Operator",
    summary = "List businesses with outstanding cash",
    params(params::PageParams),
    responses((status = 200, description = "A page of businesses.", body = internal_api::Page<internal_api::cash::BusinessCash>)),
)]
pub(crate) async fn of_all(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let page = page_query(&request)?;
    Ok(HttpResponse::Ok().json(state.peers.wallet.cash_of_all(&page).await?))
}

#[utoipa::path(
    get,
    path = "/v1/operator/cod/discrepancies",
    operation_id = "listDiscrepancies",
    tag = "Operator",
    summary = "List orders with a cash discrepancy",
    params(params::PageParams),
    responses((status = 200, description = "A page of orders.", body = internal_api::Page<internal_api::cash::CashView>)),
)]
pub(crate) async fn discrepancies(
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = page_query(&request)?;
    Ok(HttpResponse::Ok().json(state.peers.wallet.cash_discrepancies(&page).await?))
}
