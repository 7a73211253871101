//! `GET /v1/portal/cod` for the business, and `GET /v1/operator/cod` and `…/cod/discrepancies` over all of them: passed on
//! to wallet, which keeps the books of the cash of deliveries.

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::cash::CashQuery;
use web::{ApiError, TextRule, page_query, read_query};

use super::openapi::params;
use crate::app::App;
use crate::domain::Session;

/// Of a filter that wallet judges.
const PASSED_ON: TextRule = TextRule::line(64);

#[utoipa::path(
    get,
    path = "/v1/portal/cod",
    operation_id = "listCash",
    tag = "Wallet",
    summary = "The cash of deliveries, and where it is",
    params(params::CashParams),
    responses((status = 200, description = "What is outstanding, and a page of orders.", body = internal_api::cash::CashOverview)),
)]
pub(super) async fn of_business(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = read_query(&request, |fields| {
        let page = fields.page();
        CashQuery {
            limit: Some(page.limit),
            starting_after: page.starting_after,
            status: fields.text("status", PASSED_ON),
            discrepant: fields.text("discrepant", PASSED_ON),
        }
    })?;
    Ok(HttpResponse::Ok().json(app.peers.wallet.cash(session.business, &query).await?))
}

#[utoipa::path(
    get,
    path = "/v1/operator/cod",
    operation_id = "listCashOfAll",
    tag = "Operator",
    summary = "Businesses with outstanding cash",
    params(params::PageParams),
    responses((status = 200, description = "A page of businesses.", body = internal_api::Page<internal_api::cash::BusinessCash>)),
)]
pub(super) async fn of_all(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let page = page_query(&request)?;
    Ok(HttpResponse::Ok().json(app.peers.wallet.cash_of_all(&page).await?))
}

#[utoipa::path(
    get,
    path = "/v1/operator/cod/discrepancies",
    operation_id = "listDiscrepancies",
    tag = "Operator",
    summary = "Orders whose cash is not what it should be",
    params(params::PageParams),
    responses((status = 200, description = "A page of orders.", body = internal_api::Page<internal_api::cash::CashView>)),
)]
pub(super) async fn discrepancies(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let page = page_query(&request)?;
    Ok(HttpResponse::Ok().json(app.peers.wallet.cash_discrepancies(&page).await?))
}
