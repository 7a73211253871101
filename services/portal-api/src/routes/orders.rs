//! `/v1/portal/orders`: passed on to order-api.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::{Mode, OrderId};
use internal_api::orders::OrdersQuery;
use web::{ApiError, JsonBody, QueryFields, TextRule, page_query, read_query};

use crate::app::App;
use crate::domain::Session;

/// Of a filter that order-api judges.
const PASSED_ON: TextRule = TextRule::line(200);

pub(super) async fn list(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = read_query(&request, |fields| {
        let page = fields.page();
        OrdersQuery {
            mode: mode(fields),
            limit: Some(page.limit),
            starting_after: page.starting_after,
            order_reference: fields.text("orderReference", PASSED_ON),
            tracking_code: fields.text("trackingCode", PASSED_ON),
            status: fields.text("status", PASSED_ON),
        }
    })?;
    Ok(HttpResponse::Ok().json(app.peers.orders.list(session.business, &query).await?))
}

pub(super) async fn read(
    app: Data<App>,
    session: ReqData<Session>,
    order: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?.to_string();
    Ok(HttpResponse::Ok().json(app.peers.orders.get(session.business, &order).await?))
}

pub(super) async fn events(
    app: Data<App>,
    session: ReqData<Session>,
    order: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?.to_string();
    let page = page_query(&request)?;
    Ok(HttpResponse::Ok().json(app.peers.orders.events(session.business, &order, &page).await?))
}

pub(super) async fn simulate(
    app: Data<App>,
    session: ReqData<Session>,
    order: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?.to_string();
    Ok(HttpResponse::Ok().json(app.peers.orders.simulate(session.business, &order, &body.0).await?))
}

/// `mode` of the query string; both when it is left out.
pub(super) fn mode(fields: &mut QueryFields) -> Option<Mode> {
    fields.parsed("mode", "test or live")
}

fn order_id(text: &str) -> Result<OrderId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("order_not_found", "order"))
}
