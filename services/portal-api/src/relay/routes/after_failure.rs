//! What a business does about failed deliveries: another attempt, the return, a corrected address, and the orders that need
//! attention. Forwarded to order-api.

use actix_web::web::{Data, Path, Payload, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::{BusinessId, OrderId};
use internal_api::CallError;
use internal_api::orders::{DecisionFilter, ExceptionKind, OrderView, SeenDecision};
use serde_json::Value;
use web::{ApiError, JsonBody, QueryFields, read_no_fields, read_optional_json, read_query};

use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::routes::businesses::business_id;
use crate::domain::Session;
use crate::http::audited::{OperatorAuthor, UserAuthor, audited};
use crate::http::openapi::{bodies, params, shown};
use crate::relay::routes::orders::order_id;
use crate::state::State;

/// The parts of an order that a correction may replace.
const CORRECTED: [&str; 2] = ["phone", "delivery"];

#[utoipa::path(
    get,
    path = "/v1/portal/exceptions",
    operation_id = "listExceptions",
    tag = "Orders",
    summary = "List the live orders that need attention, newest first",
    params(params::ExceptionsParams),
    responses((status = 200, description = "At most 100 orders of one kind, and the number of each kind.", body = shown::ShownExceptions)),
)]
pub(crate) async fn list(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (kind, decision) = read_query(&request, exception_filter)?;
    Ok(HttpResponse::Ok().json(state.peers.orders.exceptions(session.business, kind, decision).await?))
}

/// `kind` and `decision`
pub(crate) fn exception_filter(fields: &mut QueryFields) -> (ExceptionKind, Option<DecisionFilter>) {
    let kind = fields.parsed("kind", "failed, unassigned or stuck");
    (kind.unwrap_or(ExceptionKind::Failed), fields.parsed("decision", "asked, none or pending"))
}

/// The decision that the caller saw, if they say so.
fn read_seen(request: &HttpRequest) -> Result<Option<SeenDecision>, ApiError> {
    read_query(request, |fields| fields.parsed("seen", "none or the time of a decision"))
}

#[utoipa::path(
    post,
    path = "/v1/portal/orders/{id}/reattempt",
    operation_id = "reattemptOrder",
    tag = "Orders",
    summary = "Attempt a failed delivery again",
    description = "Repeating the call has no effect. The order's `reattemptFeePaise` says before what it costs. 409 `reattempt_not_possible` says what to do instead, `decision_changed` what was decided meanwhile.",
    params(("id" = domain::OrderId, Path, description = "The order."), params::SeenDecisionParams),
    request_body = Option<bodies::Reattempt>,
    responses((status = 200, description = "The order.", body = shown::ShownOrder)),
)]
pub(crate) async fn reattempt(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    order: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?;
    let seen = read_seen(&request)?;
    let body = read_optional_json(&request, payload).await?;
    ask_again(&state, session.business, author.0, (order, seen), body).await
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/orders/{order}/reattempt",
    operation_id = "reattemptOrderOfBusiness",
    tag = "Operator",
    summary = "Attempt a failed delivery of a business again",
    description = "As the business itself does. Both audit logs have an entry.",
    params(
        ("id" = domain::BusinessId, Path, description = "The business."),
        ("order" = domain::OrderId, Path, description = "The order."),
        params::SeenDecisionParams,
    ),
    request_body = Option<bodies::Reattempt>,
    responses((status = 200, description = "The order.", body = OrderView)),
)]
pub(crate) async fn reattempt_for_operator(
    state: Data<State>,
    author: OperatorAuthor,
    path: Path<(String, String)>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &path.0).await?;
    let order = order_id(&path.1)?;
    let seen = read_seen(&request)?;
    let body = read_optional_json(&request, payload).await?;
    ask_again(&state, business, author.0, (order, seen), body).await
}

async fn ask_again(
    state: &Data<State>,
    business: BusinessId,
    author: Author,
    (order, seen): (OrderId, Option<SeenDecision>),
    body: Value,
) -> Result<HttpResponse, ApiError> {
    let (orders, by) = (state.peers.orders.clone(), author.requested_by());
    let call = async move { orders.reattempt(business, &order.to_string(), seen, by, &body).await };
    let event = move |asked: &OrderView| {
        let on = asked.reattempt.as_ref().and_then(|reattempt| reattempt.on);
        AuditEvent::new(Action::OrderReattemptRequested)
            .on(Target::new(TargetKind::Order, order).labelled(&asked.order_reference))
            .with("date", on.map(|on| on.to_string()))
            .with("reasonCode", asked.reason_code.clone())
    };
    forward(state, business, author, event, call).await
}

#[utoipa::path(
    post,
    path = "/v1/portal/orders/{id}/return",
    operation_id = "requestReturn",
    tag = "Orders",
    summary = "Request the return of a parcel after a failed delivery",
    description = "Repeating the call has no effect. 409 `return_not_possible` says what to do instead, `decision_changed` what was decided meanwhile.",
    params(("id" = domain::OrderId, Path, description = "The order."), params::SeenDecisionParams),
    responses((status = 200, description = "The order.", body = shown::ShownOrder)),
)]
pub(crate) async fn request_return(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    order: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?;
    let seen = read_seen(&request)?;
    read_no_fields(&request, payload).await?;
    ask_back(&state, session.business, author.0, (order, seen)).await
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/orders/{order}/return",
    operation_id = "requestReturnOfBusiness",
    tag = "Operator",
    summary = "Request the return of a business's parcel after a failed delivery",
    description = "As the business itself does. Both audit logs have an entry.",
    params(
        ("id" = domain::BusinessId, Path, description = "The business."),
        ("order" = domain::OrderId, Path, description = "The order."),
        params::SeenDecisionParams,
    ),
    responses((status = 200, description = "The order.", body = OrderView)),
)]
pub(crate) async fn return_for_operator(
    state: Data<State>,
    author: OperatorAuthor,
    path: Path<(String, String)>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &path.0).await?;
    let order = order_id(&path.1)?;
    let seen = read_seen(&request)?;
    read_no_fields(&request, payload).await?;
    ask_back(&state, business, author.0, (order, seen)).await
}

async fn ask_back(
    state: &Data<State>,
    business: BusinessId,
    author: Author,
    (order, seen): (OrderId, Option<SeenDecision>),
) -> Result<HttpResponse, ApiError> {
    let (orders, by) = (state.peers.orders.clone(), author.requested_by());
    let call = async move { orders.request_return(business, &order.to_string(), seen, by).await };
    let event = move |asked: &OrderView| {
        AuditEvent::new(Action::OrderReturnRequested)
            .on(Target::new(TargetKind::Order, order).labelled(&asked.order_reference))
            .with("reasonCode", asked.reason_code.clone())
    };
    forward(state, business, author, event, call).await
}

#[utoipa::path(
    post,
    path = "/v1/portal/orders/{id}/delivery-details",
    operation_id = "correctDelivery",
    tag = "Orders",
    summary = "Correct the phone or address of an order",
    description = "Repeating the call has no effect. After the end of the delivery: 409 `delivery_not_correctable`.",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    request_body = bodies::CorrectDelivery,
    responses((status = 200, description = "The order.", body = shown::ShownOrder)),
)]
pub(crate) async fn correct(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    order: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?;
    let (business, orders) = (session.business, state.peers.orders.clone());
    // Their names alone: what was wrong and what is right are personal data.
    let fields: Vec<_> = CORRECTED.into_iter().filter(|name| !body.0[*name].is_null()).collect();
    let call = async move { orders.correct_delivery(business, &order.to_string(), &body.0).await };
    let event = move |corrected: &OrderView| {
        AuditEvent::new(Action::OrderDeliveryCorrected)
            .on(Target::new(TargetKind::Order, order).labelled(&corrected.order_reference))
            .with("fields", fields)
    };
    forward(&state, business, author.0, event, call).await
}

/// Sends a change of an order to order-api, and then writes its entry.
pub(crate) async fn forward(
    state: &Data<State>,
    business: BusinessId,
    author: Author,
    event: impl FnOnce(&OrderView) -> AuditEvent + Send + 'static,
    call: impl Future<Output = Result<OrderView, CallError>> + Send + 'static,
) -> Result<HttpResponse, ApiError> {
    let call = async move { Ok(call.await?) };
    Ok(HttpResponse::Ok().json(audited(state, business, author, call, event).await?))
}
