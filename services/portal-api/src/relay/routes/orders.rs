//! `/v1/portal/orders`: forwarded to order-api.

use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::web::{Data, Path, Payload, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::{Mode, OrderId};
use internal_api::orders::{DeliveryCodeView, EvidenceView, OrdersQuery, SimulatedOrderView};
use web::{ApiError, JsonBody, QueryFields, TextRule, page_query, read_no_fields, read_query};

use crate::audit::domain::{Action, AuditEvent, Target, TargetKind};
use crate::domain::{Permission, Session};
use crate::http::audited::{UserAuthor, audited};
use crate::http::openapi::{bodies, params, shown};
use crate::state::State;

/// For filters that order-api validates.
pub(crate) const FORWARDED: TextRule = TextRule::line(200);

#[utoipa::path(
    get,
    path = "/v1/portal/orders",
    operation_id = "listOrders",
    tag = "Orders",
    summary = "List orders, newest first",
    description = "All filters can be combined, except `search` with `orderReference` or `trackingCode`. An order is found by `search` about a second after it is placed, and by its id, tracking code or whole reference at once. A page of a search may be shorter than `limit`: continue with `startingAfter` set to `next`.",
    params(params::OrderFilters, params::OrdersPageParams),
    responses((status = 200, description = "A page of orders.", body = shown::ShownOrders)),
)]
pub(crate) async fn list(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = read_query(&request, |fields| {
        let page = fields.page();
        let filter = filter(fields, session.role.may(Permission::ReadCustomers));
        OrdersQuery { limit: Some(page.limit), starting_after: page.starting_after, ..filter }
    })?;
    Ok(HttpResponse::Ok().json(state.peers.orders.list(session.business, &query).await?))
}

#[utoipa::path(
    get,
    path = "/v1/portal/orders/{id}",
    operation_id = "readOrder",
    tag = "Orders",
    summary = "Read an order",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    responses((status = 200, description = "The order.", body = shown::ShownOrder)),
)]
pub(crate) async fn read(
    state: Data<State>,
    session: ReqData<Session>,
    order: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?.to_string();
    Ok(HttpResponse::Ok().json(state.peers.orders.get(session.business, &order).await?))
}

#[utoipa::path(
    get,
    path = "/v1/portal/orders/{id}/events",
    operation_id = "readTimeline",
    tag = "Orders",
    summary = "Read the timeline of an order: status, money, webhooks",
    description = "Without the permission `read_customers`, `data` contains neither the driver's phone nor reasons, and the entry has `personalDataMasked`. Without `read_money`, `balanceAfterPaise` and `owedPaise` are null.",
    params(("id" = domain::OrderId, Path, description = "The order."), params::PageParams),
    responses((status = 200, description = "A page of the timeline, oldest first.", body = internal_api::orders::TimelinePage)),
)]
pub(crate) async fn events(
    state: Data<State>,
    session: ReqData<Session>,
    order: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?.to_string();
    let page = page_query(&request)?;
    Ok(HttpResponse::Ok().json(state.peers.orders.events(session.business, &order, &page).await?))
}

#[utoipa::path(
    get,
    path = "/v1/portal/orders/{id}/evidence",
    operation_id = "readEvidence",
    tag = "Orders",
    summary = "Read the evidence of an order's attempts, as a file",
    description = "For disputes: `verification` says how to check the hashes. Without the permission `read_customers`, reasons, places, names, photos and `personal` are null, and `personalDataMasked` is true.",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    responses((status = 200, description = "The evidence.", body = shown::ShownEvidence)),
)]
pub(crate) async fn evidence(
    state: Data<State>,
    session: ReqData<Session>,
    order: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?.to_string();
    let evidence = state.peers.orders.evidence(session.business, &order).await?;
    Ok(evidence_file(&order, &evidence))
}

pub(crate) fn evidence_file(order: &str, evidence: &EvidenceView) -> HttpResponse {
    let file = format!("attachment; filename=\"evidence-{order}.json\"");
    HttpResponse::Ok().insert_header((CONTENT_DISPOSITION, file)).json(evidence)
}

#[utoipa::path(
    post,
    path = "/v1/portal/orders/{id}/delivery-code",
    operation_id = "issueDeliveryCode",
    tag = "Orders",
    summary = "Issue the delivery code of an order, or read it",
    description = "Repeating the call returns the same code; the audit log names each call. After the end of the delivery there is no new code: 409 `delivery_code_not_possible`.",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    responses((status = 200, description = "The code.", body = DeliveryCodeView)),
)]
pub(crate) async fn issue_delivery_code(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    order: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?;
    read_no_fields(&request, payload).await?;
    let (business, orders) = (session.business, state.peers.orders.clone());
    let call = async move { Ok(orders.issue_delivery_code(business, &order.to_string()).await?) };
    let event = move |_: &DeliveryCodeView| {
        AuditEvent::new(Action::OrderDeliveryCodeShown).on(Target::new(TargetKind::Order, order))
    };
    Ok(HttpResponse::Ok().json(audited(&state, business, author.0, call, event).await?))
}

#[utoipa::path(
    post,
    path = "/v1/portal/orders/{id}/simulate",
    operation_id = "simulate",
    tag = "Orders",
    summary = "Simulate an event of a test order",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    request_body = bodies::Simulate,
    responses((status = 200, description = "The order after the event.", body = shown::ShownSimulation)),
)]
pub(crate) async fn simulate(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    order: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?;
    let (business, orders) = (session.business, state.peers.orders.clone());
    let call = async move { Ok(orders.simulate(business, &order.to_string(), &body.0).await?) };
    let event = move |_: &SimulatedOrderView| {
        AuditEvent::new(Action::OrderSimulated).on(Target::new(TargetKind::Order, order))
    };
    Ok(HttpResponse::Ok().json(audited(&state, business, author.0, call, event).await?))
}

/// The filters of the list.
pub(crate) fn filter(fields: &mut QueryFields, sees_phones: bool) -> OrdersQuery {
    let search = fields.text("search", FORWARDED);
    OrdersQuery {
        mode: mode(fields),
        limit: None,
        starting_after: None,
        order_reference: fields.text("orderReference", FORWARDED),
        tracking_code: fields.text("trackingCode", FORWARDED),
        status: fields.text("status", FORWARDED),
        cod_status: fields.text("codStatus", FORWARDED),
        payment_type: fields.text("paymentType", FORWARDED),
        created_from: fields.text("createdFrom", FORWARDED),
        created_until: fields.text("createdUntil", FORWARDED),
        sees_phones: search.is_some().then_some(sees_phones),
        search,
    }
}

/// `mode` of the query string; both modes if absent.
pub(crate) fn mode(fields: &mut QueryFields) -> Option<Mode> {
    fields.parsed("mode", "test or live")
}

pub(crate) fn order_id(text: &str) -> Result<OrderId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("order_not_found", "order"))
}
