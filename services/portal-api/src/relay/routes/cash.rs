//! Cash on delivery: `GET /v1/portal/cod` for a business, `GET /v1/operator/cod` and `…/cod/discrepancies` for all. Forwarded
//! to wallet, which keeps the ledger.

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::cash::CashQuery;
use web::{ApiError, TextRule, page_query, read_query};

use crate::domain::Session;
use crate::http::openapi::params;
use crate::state::State;

/// For filters that wallet validates.
const FORWARDED: TextRule = TextRule::line(64);

#[utoipa::path(
    get,
    path = "/v1/portal/cod",
    operation_id = "listCash",
    tag = "Wallet",
    summary = "List the cash on delivery of orders",
    params(params::CashParams),
    responses((status = 200, description = "The outstanding cash, and a page of orders.", body = internal_api::cash::CashOverview)),
)]
pub(crate) async fn of_business(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = read_query(&request, |fields| {
        let page = fields.page();
        CashQuery {
            limit: Some(page.limit),
            starting_after: page.starting_after,
            status: fields.text("status", FORWARDED),
            discrepant: fields.text("discrepant", FORWARDED),
        }
    })?;
    Ok(HttpResponse::Ok().json(state.peers.wallet.cash(session.business, &query).await?))
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
