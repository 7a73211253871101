//! Erasing what orders tell of people: one order, or all that a business has completed. order-api owns them.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, ReqData};
use domain::BusinessId;
use internal_api::orders::{ErasureView, OrderView};
use web::ApiError;

use super::author::{ByOperator, ByUser, acted};
use super::operator;
use super::orders::order_id;
use crate::app::App;
use crate::domain::{Act, Action, Author, Session, Target, TargetKind};

#[utoipa::path(
    post,
    path = "/v1/portal/orders/{id}/erase-personal-data",
    operation_id = "eraseOrderPersonalData",
    tag = "Orders",
    summary = "Erase what a completed order tells of people",
    description = "Names, phones, addresses, notes, the driver, the reason and what is in the parcel; here, in the log of webhooks, and for good. \
                   Money, status, times, codes and PIN codes stay. Repeated: the same answer. An order under way: 409 `order_not_completed`.",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    responses((status = 200, description = "The order as it is since.", body = internal_api::orders::OrderView)),
)]
pub(super) async fn erase_one(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    order: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let order_id = order_id(&order)?;
    let (business, orders) = (session.business, app.peers.orders.clone());
    let call = async move { Ok(orders.erase_personal_data(business, &order_id.to_string()).await?) };
    let act = move |_: &OrderView| {
        Act::new(Action::OrderPersonalDataErased).on(Target::new(TargetKind::Order, order_id))
    };
    Ok(HttpResponse::Ok().json(acted(&app, business, author.0, call, act).await?))
}

#[utoipa::path(
    post,
    path = "/v1/portal/personal-data-erasure",
    operation_id = "erasePersonalData",
    tag = "Orders",
    summary = "Erase what all completed orders tell of people",
    description = "As of one order, of those that are completed when it comes to them; it goes on by itself. While one is under way, that one is told of.",
    responses((status = 202, description = "It is under way.", body = internal_api::orders::ErasureView)),
)]
pub(super) async fn erase_all(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
) -> Result<HttpResponse, ApiError> {
    begin(&app, session.business, author.0).await
}

#[utoipa::path(
    get,
    path = "/v1/portal/personal-data-erasure",
    operation_id = "readPersonalDataErasure",
    tag = "Orders",
    summary = "How far the latest erasure of all completed orders is",
    responses((status = 200, description = "The latest one, or none.", body = internal_api::orders::BusinessErasureView)),
)]
pub(super) async fn latest(app: Data<App>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(app.peers.orders.latest_erasure(session.business).await?))
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/personal-data-erasure",
    operation_id = "erasePersonalDataOf",
    tag = "Operator",
    summary = "Erase what a business's completed orders tell of people",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    responses((status = 202, description = "It is under way.", body = internal_api::orders::ErasureView)),
)]
pub(super) async fn erase_all_of(
    app: Data<App>,
    author: ByOperator,
    business: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let business = operator::business_id(&app, &business).await?;
    begin(&app, business, author.0).await
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/personal-data-erasure",
    operation_id = "readPersonalDataErasureOf",
    tag = "Operator",
    summary = "How far the latest erasure of a business's orders is",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    responses((status = 200, description = "The latest one, or none.", body = internal_api::orders::BusinessErasureView)),
)]
pub(super) async fn latest_of(app: Data<App>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business = operator::business_id(&app, &business).await?;
    Ok(HttpResponse::Ok().json(app.peers.orders.latest_erasure(business).await?))
}

async fn begin(app: &Data<App>, business: BusinessId, author: Author) -> Result<HttpResponse, ApiError> {
    let orders = app.peers.orders.clone();
    let call = async move { Ok(orders.begin_erasure(business).await?) };
    let act = move |_: &ErasureView| {
        Act::new(Action::PersonalDataErasureRequested).on(Target::new(TargetKind::Business, business))
    };
    Ok(HttpResponse::Accepted().json(acted(app, business, author, call, act).await?))
}
