//! Erases the personal data of one order, or of all completed orders of a business. Forwarded to order-api.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, ReqData};
use domain::BusinessId;
use internal_api::orders::{ErasureView, OrderView};
use web::ApiError;

use crate::audit::commands::audit::{record_operator_request, try_record_operator};
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::routes::businesses;
use crate::domain::Session;
use crate::http::audited::{OperatorAuthor, UserAuthor, audited};
use crate::relay::routes::orders::order_id;
use crate::state::State;

#[utoipa::path(
    post,
    path = "/v1/portal/orders/{id}/erase-personal-data",
    operation_id = "eraseOrderPersonalData",
    tag = "Orders",
    summary = "Erase the personal data of a completed order",
    description = "Permanently erases names, phone numbers, addresses, notes, the driver, the reason and the contents of the parcel, also in the webhook log. \
                   Keeps money, status, times, codes and PIN codes. Repeating the call has no effect. An order in progress: 409 `order_not_completed`.",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    responses((status = 200, description = "The order without personal data.", body = internal_api::orders::OrderView)),
)]
pub(crate) async fn erase_one(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    order: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let order_id = order_id(&order)?;
    let (business, orders) = (session.business, state.peers.orders.clone());
    let call = async move { Ok(orders.erase_personal_data(business, &order_id.to_string()).await?) };
    let event = move |_: &OrderView| {
        AuditEvent::new(Action::OrderPersonalDataErased).on(Target::new(TargetKind::Order, order_id))
    };
    Ok(HttpResponse::Ok().json(audited(&state, business, author.0, call, event).await?))
}

#[utoipa::path(
    post,
    path = "/v1/portal/personal-data-erasure",
    operation_id = "erasePersonalData",
    tag = "Orders",
    summary = "Erase the personal data of all completed orders",
    description = "Erases the same data as for one order, in the background, from every order that is completed when its turn comes. If an erasure is already running, the response describes that one. Needs a recent authentication.",
    responses((status = 202, description = "The erasure is running.", body = internal_api::orders::ErasureView)),
)]
pub(crate) async fn erase_all(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
) -> Result<HttpResponse, ApiError> {
    let (business, orders) = (session.business, state.peers.orders.clone());
    start(&state, business, author.0, async move { Ok(orders.begin_erasure(business).await?) }).await
}

#[utoipa::path(
    get,
    path = "/v1/portal/personal-data-erasure",
    operation_id = "readPersonalDataErasure",
    tag = "Orders",
    summary = "Read the progress of the latest erasure",
    responses((status = 200, description = "The latest erasure, or none.", body = internal_api::orders::BusinessErasureView)),
)]
pub(crate) async fn latest(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(state.peers.orders.latest_erasure(session.business).await?))
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/personal-data-erasure",
    operation_id = "erasePersonalDataOf",
    tag = "Operator",
    summary = "Erase the personal data of all completed orders of a business",
    description = "In a console session, it needs a recent authentication.",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    responses((status = 202, description = "The erasure is running.", body = internal_api::orders::ErasureView)),
)]
pub(crate) async fn erase_all_of(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let business = businesses::business_id(&state, &business).await?;
    let target = || Target::new(TargetKind::Business, business);
    let attempted = AuditEvent::new(Action::PersonalDataErasureAttempted).on(target());
    record_operator_request(&state, business, &author.0, &attempted).await?;
    let (shared, caller) = (state.clone(), author.0.clone());
    let failed = AuditEvent::new(Action::PersonalDataErasureFailed).on(target());
    let call = async move {
        let begun = shared.peers.orders.begin_erasure(business).await;
        if let Err(error) = &begun {
            let event = failed.with("code", error.refusal_code().unwrap_or("unavailable"));
            try_record_operator(&shared, business, &caller, &event).await;
        }
        Ok(begun?)
    };
    start(&state, business, author.0, call).await
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/personal-data-erasure",
    operation_id = "readPersonalDataErasureOf",
    tag = "Operator",
    summary = "Read the progress of the latest erasure of a business",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    responses((status = 200, description = "The latest erasure, or none.", body = internal_api::orders::BusinessErasureView)),
)]
pub(crate) async fn latest_of(state: Data<State>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business = businesses::business_id(&state, &business).await?;
    Ok(HttpResponse::Ok().json(state.peers.orders.latest_erasure(business).await?))
}

async fn start(
    state: &Data<State>,
    business: BusinessId,
    author: Author,
    call: impl Future<Output = Result<ErasureView, ApiError>> + Send + 'static,
) -> Result<HttpResponse, ApiError> {
    let event = move |_: &ErasureView| {
        AuditEvent::new(Action::PersonalDataErasureRequested).on(Target::new(TargetKind::Business, business))
    };
    Ok(HttpResponse::Accepted().json(audited(state, business, author, call, event).await?))
}
