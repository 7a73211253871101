//! `/v1/portal/orders`: passed on to order-api.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::{Mode, OrderId};
use internal_api::orders::{OrdersQuery, SimulatedOrderView};
use web::{ApiError, JsonBody, QueryFields, TextRule, page_query, read_query};

use super::author::{ByUser, acted};
use super::openapi::{bodies, params};
use crate::app::App;
use crate::domain::{Act, Action, Session, Target, TargetKind};

/// Of a filter that order-api judges.
const PASSED_ON: TextRule = TextRule::line(200);

#[utoipa::path(
    get,
    path = "/v1/portal/orders",
    operation_id = "listOrders",
    tag = "Orders",
    summary = "List orders, newest first",
    params(params::OrdersParams),
    responses((status = 200, description = "A page of orders.", body = internal_api::Page<internal_api::orders::OrderView>)),
)]
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
            search: fields.text("search", PASSED_ON),
        }
    })?;
    Ok(HttpResponse::Ok().json(app.peers.orders.list(session.business, &query).await?))
}

#[utoipa::path(
    get,
    path = "/v1/portal/orders/{id}",
    operation_id = "readOrder",
    tag = "Orders",
    summary = "Read an order",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    responses((status = 200, description = "The order.", body = internal_api::orders::OrderView)),
)]
pub(super) async fn read(
    app: Data<App>,
    session: ReqData<Session>,
    order: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?.to_string();
    Ok(HttpResponse::Ok().json(app.peers.orders.get(session.business, &order).await?))
}

#[utoipa::path(
    get,
    path = "/v1/portal/orders/{id}/events",
    operation_id = "readTimeline",
    tag = "Orders",
    summary = "All that happened to an order: moves, money, webhooks",
    params(("id" = domain::OrderId, Path, description = "The order."), params::PageParams),
    responses((status = 200, description = "A page of the timeline, oldest first.", body = internal_api::orders::TimelinePage)),
)]
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

#[utoipa::path(
    post,
    path = "/v1/portal/orders/{id}/simulate",
    operation_id = "simulate",
    tag = "Orders",
    summary = "Move a test order on",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    request_body = bodies::Simulate,
    responses((status = 200, description = "The order after it.", body = internal_api::orders::SimulatedOrderView)),
)]
pub(super) async fn simulate(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    order: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?;
    let (business, orders) = (session.business, app.peers.orders.clone());
    let call = async move { Ok(orders.simulate(business, &order.to_string(), &body.0).await?) };
    let act = move |_: &SimulatedOrderView| {
        Act::new(Action::OrderSimulated).on(Target::new(TargetKind::Order, order))
    };
    Ok(HttpResponse::Ok().json(acted(&app, business, author.0, call, act).await?))
}

/// `mode` of the query string; both when it is left out.
pub(super) fn mode(fields: &mut QueryFields) -> Option<Mode> {
    fields.parsed("mode", "test or live")
}

pub(super) fn order_id(text: &str) -> Result<OrderId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("order_not_found", "order"))
}
