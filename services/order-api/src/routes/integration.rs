//! The orders of a business: read and cancel. A key reads the orders of its business in its mode.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path, Payload};
use chrono::{DateTime, Utc};
use domain::{EventKind, FailureReason, KeyScope, Mode, OrderId, RequestedBy, TrackingCode};
use internal_api::PageQuery;
use internal_api::orders::OrderView;
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, QueryFields, no_query, read_optional_json, read_query};

use super::fleet_page::{FleetCursor, OrderPage};
use super::openapi::{bodies, params};
use super::{authenticate, errors, limits, views};
use crate::commands::cancel_order::cancel_order;
use crate::domain::{ListStart, Order, OrderFilter, SearchText};
use crate::queries::orders;
use crate::state::State;

/// For error messages.
pub(super) const DELIVERY_STATUSES: &str = "created, driver_assigned, picked_up, out_for_delivery, delivered, failed, \
     cancelled or returned";
const COD_STATUSES: &str = "not_applicable, pending, collected, handed_over or settled";

/// List orders
///
/// Your orders in the key's mode, newest first. Use it to look up an order by your own reference or by its tracking code; do not
/// poll it, because webhooks report every change. To find changes that they may have missed, set `updatedAfter` to some minutes before
/// your last call: the list is then sorted by the last change, oldest first, and continues with `startingAfter` set to `next`. An
/// order that changes meanwhile appears again.
///
/// `search` finds an order about a second after it was placed, and by its whole reference, id or tracking code at once. All
/// filters can be combined, except `search` with `orderReference`, `trackingCode` or `updatedAfter`, and `updatedAfter` with those
/// of cash, payment and creation.
#[utoipa::path(
    get,
    path = "/v1/integration/orders",
    operation_id = "listOrders",
    tag = "Orders",
    params(params::OrdersQuery),
    responses((status = 200, description = "The orders.", body = OrderPage)),
)]
pub(super) async fn list(state: Data<State>, request: HttpRequest) -> Result<Json<OrderPage>, ApiError> {
    let caller = authenticate::business(&state, &request, KeyScope::ReadOrders).await?;
    let query = read_query(&request, |fields| order_query(fields, Some(caller.mode)))?;
    page(&state, caller.business_id, query).await.map(Json)
}

/// Get an order
///
/// The current state of an order, with everything that you sent about it.
#[utoipa::path(
    get,
    path = "/v1/integration/orders/{id}",
    operation_id = "getOrder",
    tag = "Orders",
    params(params::OrderPath),
    responses((status = 200, description = "The order.", body = OrderView)),
)]
pub(super) async fn get(
    state: Data<State>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<Json<OrderView>, ApiError> {
    let caller = authenticate::business(&state, &request, KeyScope::ReadOrders).await?;
    no_query(&request)?;
    let order = find(&state, caller.business_id, Some(caller.mode), &id).await?;
    Ok(Json(views::order_view(&state.tracking_urls, state.attempts, order)))
}

/// Cancel an order
///
/// Possible until the driver has picked the parcel up. The wallet gets a live order's fee back, once. Cancelling a cancelled order
/// again gets the same answer and changes nothing.
#[utoipa::path(
    post,
    path = "/v1/integration/orders/{id}/cancel",
    operation_id = "cancelOrder",
    tag = "Orders",
    params(params::OrderPath),
    request_body(content = Option<bodies::CancelOrder>, description = "Optional."),
    responses((status = 200, description = "The order, cancelled.", body = OrderView)),
)]
pub(super) async fn cancel(
    state: Data<State>,
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
) -> Result<Json<OrderView>, ApiError> {
    let caller = authenticate::business(&state, &request, KeyScope::WriteOrders).await?;
    no_query(&request)?;
    let id = parse_id(&id)?;
    let reason = cancel_reason(&read_optional_json(&request, payload).await?)?;
    cancel_by_id(&state, caller.business_id, caller.mode, id, reason, RequestedBy::ApiKey).await
}

/// Cancels an order, also when the client disconnects.
pub(super) async fn cancel_by_id(
    state: &Data<State>,
    business: domain::BusinessId,
    mode: Mode,
    id: OrderId,
    reason: Option<String>,
    by: RequestedBy,
) -> Result<Json<OrderView>, ApiError> {
    let running = Data::clone(state);
    let work = async move { cancel_order(&running, business, mode, id, reason, by).await };
    let cancelled = state.tasks.run(work).await?;
    Ok(Json(views::order_view(&state.tracking_urls, state.attempts, cancelled.map_err(errors::from_cancel)?)))
}

pub(super) fn cancel_reason(body: &Value) -> Result<Option<String>, ApiError> {
    if body.is_null() {
        return Ok(None);
    }
    let field_errors = FieldErrors::default();
    let reason = Fields::of_body(body, &field_errors)
        .and_then(|fields| fields.optional_text("reason", limits::REASON));
    if field_errors.is_empty() { Ok(reason) } else { Err(ApiError::invalid(field_errors)) }
}

/// The field `event`, a kind of progress. `alternatives` lists other allowed values in the message.
pub(super) fn progress_event(fields: &Fields<'_>, alternatives: &str) -> Option<EventKind> {
    const KINDS: &str = "driver.assigned, driver.unassigned, order.picked_up, order.out_for_delivery, \
         order.delivered, order.failed, order.cancelled, order.returned, cod.collected, cod.handed_over, cod.settled";
    let allowed = format!("one of {alternatives}{KINDS}");
    let event = fields.required_word::<EventKind>("event", &allowed)?;
    if !event.is_progress() {
        fields.reject("event", "invalid_value", format!("event must be {allowed}."));
        return None;
    }
    Some(event)
}

/// Only a failed delivery has one.
pub(super) fn reason_code(fields: &Fields<'_>, event: Option<EventKind>) -> Option<FailureReason> {
    if event != Some(EventKind::OrderFailed) {
        return None;
    }
    let allowed = FailureReason::words().collect::<Vec<_>>().join(", ");
    fields.optional_word("reasonCode", &format!("one of {allowed}"))
}

pub(super) fn parse_business(id: &str) -> Result<domain::BusinessId, ApiError> {
    id.parse().map_err(|_| ApiError::not_found("business_not_found", "business"))
}

/// A malformed id names no order.
pub(super) fn parse_id(id: &str) -> Result<OrderId, ApiError> {
    id.parse().map_err(|_| errors::no_order_id(id))
}

pub(super) async fn find(
    state: &State,
    business: domain::BusinessId,
    mode: Option<Mode>,
    id: &str,
) -> Result<Order, ApiError> {
    let id = parse_id(id)?;
    orders::find(state, business, mode, id).await?.ok_or_else(errors::order_not_found)
}

/// A requested page of a business's orders.
pub(super) struct OrderQuery {
    pub(super) page: PageQuery,
    pub(super) filter: OrderFilter,
}

/// The filters of a list, and the page. A search may find phones.
pub(super) fn order_query(fields: &mut QueryFields, mode: Option<Mode>) -> OrderQuery {
    OrderQuery {
        page: fields.page(),
        filter: OrderFilter {
            mode,
            order_reference: fields.text("orderReference", limits::REFERENCE),
            tracking_code: fields.parsed_by("trackingCode", "a tracking code", |text| {
                TrackingCode::from_user_input(text).ok()
            }),
            status: fields.parsed("status", DELIVERY_STATUSES),
            updated_after: updated_after(fields),
            cod_status: fields.parsed("codStatus", COD_STATUSES),
            payment_type: fields.parsed("paymentType", "cod or prepaid"),
            created_from: time(fields, "createdFrom"),
            created_until: time(fields, "createdUntil"),
            search: fields.text("search", limits::SEARCH).map(|text| SearchText { text, sees_phones: true }),
            among: None,
        },
    }
}

/// `updatedAfter`
pub(super) fn updated_after(fields: &mut QueryFields) -> Option<DateTime<Utc>> {
    time(fields, "updatedAfter")
}

pub(super) fn time(fields: &mut QueryFields, name: &'static str) -> Option<DateTime<Utc>> {
    let wanted = "a time as RFC 3339 writes it, such as 2026-01-31T09:30:00Z (write + as %2B in a query)";
    let parse = |text: &str| DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc));
    fields.parsed_by(name, wanted, parse)
}

/// A page of a business's orders: newest first, or with `updatedAfter` by the last change, so that a business can poll
/// for changes without reading all its orders.
pub(super) async fn page(
    state: &State,
    business: domain::BusinessId,
    query: OrderQuery,
) -> Result<OrderPage, ApiError> {
    let OrderQuery { page, filter } = query;
    check_combination(&filter)?;
    let by_change = filter.updated_after.is_some();
    let beginning = if by_change { ListStart::Changed(None) } else { ListStart::Newest(None) };
    let start = match page.starting_after.as_deref().map(FleetCursor::parse) {
        None => beginning,
        Some(Some(FleetCursor::At(position))) if by_change => ListStart::Changed(Some(position)),
        // The cursor of a search may be no order: nothing is after the exact matches yet.
        Some(Some(FleetCursor::Order(id))) if filter.search.is_some() => ListStart::Newest(Some(id)),
        Some(Some(FleetCursor::Order(id))) => {
            let known = orders::find(state, business, filter.mode, id).await?;
            beginning.at(&known.ok_or_else(unknown_cursor)?)
        }
        Some(_) => return Err(unknown_cursor()),
    };
    let found = orders::list(state, business, &filter, start, page.limit).await.map_err(errors::from_list)?;
    Ok(match by_change {
        true => OrderPage::changed(&state.tracking_urls, state.attempts, found),
        false => OrderPage::newest(&state.tracking_urls, state.attempts, found),
    })
}

/// Each kind of list has its own index.
fn check_combination(filter: &OrderFilter) -> Result<(), ApiError> {
    let by_change = filter.updated_after.is_some();
    if filter.search.is_some()
        && (by_change || filter.order_reference.is_some() || filter.tracking_code.is_some())
    {
        let message = "search finds references and tracking codes itself. Leave orderReference, trackingCode and updatedAfter out.";
        return Err(ApiError::invalid_field("search", "conflicting_fields", message));
    }
    let by_cash = filter.cod_status.is_some() || filter.payment_type.is_some();
    if by_change && (by_cash || filter.created_from.is_some() || filter.created_until.is_some()) {
        let message =
            "updatedAfter lists all changes. Leave codStatus, paymentType, createdFrom and createdUntil out.";
        return Err(ApiError::invalid_field("updatedAfter", "conflicting_fields", message));
    }
    Ok(())
}

pub(super) fn unknown_cursor() -> ApiError {
    ApiError::invalid_field("startingAfter", "invalid_value", "startingAfter is not an id of this list.")
}
