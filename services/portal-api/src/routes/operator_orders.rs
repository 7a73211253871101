//! `/v1/operator/orders`: any order by its code, and what happened to it.

use std::collections::HashMap;

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use domain::{BusinessId, OrderId};
use internal_api::orders::OrderView;
use serde::Serialize;
use web::{ApiError, TextRule, page_query, read_query};

use super::errors;
use super::openapi::params;
use super::orders::order_id;
use crate::app::App;
use crate::store::businesses;

/// An order's id, tracking code or reference; order-api judges it.
const CODE: TextRule = TextRule::line(200);

#[derive(Serialize, utoipa::ToSchema)]
struct FoundOrders {
    data: Vec<FoundOrderView>,
}

#[derive(Serialize, utoipa::ToSchema)]
struct FoundOrderView {
    business: BusinessName,
    order: OrderView,
}

#[derive(Serialize, utoipa::ToSchema)]
struct BusinessName {
    id: BusinessId,
    name: String,
}

#[utoipa::path(
    get,
    path = "/v1/operator/orders",
    operation_id = "findOrders",
    tag = "Operator",
    summary = "Find orders of any business by id, tracking code or reference",
    params(params::CodeParams),
    responses((status = 200, description = "At most 20, newest first.", body = FoundOrders)),
)]
pub(super) async fn orders(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let code = read_query(&request, |fields| fields.text("code", CODE))?;
    let code = code.ok_or_else(|| ApiError::invalid_field("code", "required", "code is required."))?;
    let found = app.peers.orders.find_anywhere(&code).await?;
    let ids: Vec<BusinessId> = found.iter().map(|found| found.business_id).collect();
    let named = app.database.read(async |conn| businesses::names(conn, &ids).await).await;
    let names: HashMap<BusinessId, String> = named.map_err(errors::store)?.into_iter().collect();
    let data = found.into_iter().map(|found| FoundOrderView {
        business: BusinessName {
            id: found.business_id,
            name: names.get(&found.business_id).cloned().unwrap_or_default(),
        },
        order: found.order,
    });
    Ok(HttpResponse::Ok().json(FoundOrders { data: data.collect() }))
}

#[utoipa::path(
    get,
    path = "/v1/operator/orders/{id}/events",
    operation_id = "readTimelineOfAny",
    tag = "Operator",
    summary = "All that happened to an order of any business",
    params(("id" = domain::OrderId, Path, description = "The order."), params::PageParams),
    responses((status = 200, description = "A page of the timeline, oldest first.", body = internal_api::orders::TimelinePage)),
)]
pub(super) async fn order_events(
    app: Data<App>,
    order: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let order: OrderId = order_id(&order)?;
    let page = page_query(&request)?;
    let business = app.peers.orders.business_of(order).await?;
    let business = business.ok_or_else(|| ApiError::not_found("order_not_found", "order"))?;
    Ok(HttpResponse::Ok().json(app.peers.orders.events(business, &order.to_string(), &page).await?))
}
