//! What a business does with its orders: read, cancel, simulate. Each sees its own, in the mode of its key.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path, Payload};
use chrono::{DateTime, Utc};
use domain::{EventKind, Mode, OrderId, TrackingCode};
use internal_api::orders::OrderView;
use internal_api::{Page, PageQuery};
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, QueryFields, TextRule, no_query, read_optional_json, read_query};

use super::fleet_page::{FleetCursor, OrderPage};
use super::{authenticate, errors, order_body, views};
use crate::app::App;
use crate::commands::cancel_order::cancel_order;
use crate::domain::Order;
use crate::store::fleet::FleetPosition;
use crate::store::orders::{self, Beginning, OrderFilter};

/// Why an order is cancelled.
pub(super) const REASON: TextRule = TextRule::lines(1_000);

/// For messages.
pub(super) const DELIVERY_STATUSES: &str = "created, driver_assigned, picked_up, out_for_delivery, delivered, failed, \
     cancelled or returned";

/// `GET /v1/integration/orders?orderReference=&trackingCode=&status=&updatedAfter=&limit=&startingAfter=`
pub(super) async fn list(app: Data<App>, request: HttpRequest) -> Result<Json<OrderPage>, ApiError> {
    let caller = authenticate::business(&app, &request).await?;
    let query = read_query(&request, |fields| order_query(fields, Some(caller.mode)))?;
    page(&app, caller.business_id, query).await.map(Json)
}

/// `GET /v1/integration/orders/{id}`
pub(super) async fn get(
    app: Data<App>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<Json<OrderView>, ApiError> {
    let caller = authenticate::business(&app, &request).await?;
    no_query(&request)?;
    let order = find(&app, caller.business_id, Some(caller.mode), &id).await?;
    Ok(Json(views::order_view(&app.ambient, order)))
}

/// `POST /v1/integration/orders/{id}/cancel`, with an optional `{reason}`
pub(super) async fn cancel(
    app: Data<App>,
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
) -> Result<Json<OrderView>, ApiError> {
    let caller = authenticate::business(&app, &request).await?;
    no_query(&request)?;
    let id = parse_id(&id)?;
    let reason = cancel_reason(&read_optional_json(&request, payload).await?)?;
    call_off(&app, caller.business_id, caller.mode, id, reason).await
}

/// To its end, whether the caller waits for it or not.
pub(super) async fn call_off(
    app: &Data<App>,
    business: domain::BusinessId,
    mode: Mode,
    id: OrderId,
    reason: Option<String>,
) -> Result<Json<OrderView>, ApiError> {
    let running = Data::clone(app);
    let work = async move { cancel_order(&running, business, mode, id, reason).await };
    let cancelled = app.tasks.run(work).await?;
    Ok(Json(views::order_view(&app.ambient, cancelled.map_err(errors::from_cancel)?)))
}

pub(super) fn cancel_reason(body: &Value) -> Result<Option<String>, ApiError> {
    if body.is_null() {
        return Ok(None);
    }
    let field_errors = FieldErrors::default();
    let reason =
        Fields::of_body(body, &field_errors).and_then(|fields| fields.optional_text("reason", REASON));
    if field_errors.is_empty() { Ok(reason) } else { Err(ApiError::invalid(field_errors)) }
}

/// A field `event` that names a kind of progress; `besides` names in the message what else it may be.
pub(super) fn progress_event(fields: &Fields<'_>, besides: &str) -> Option<EventKind> {
    const KINDS: &str = "driver.assigned, driver.unassigned, order.picked_up, order.out_for_delivery, \
         order.delivered, order.failed, order.cancelled, order.returned, cod.collected, cod.handed_over, cod.settled";
    let allowed = format!("one of {besides}{KINDS}");
    let event = fields.required_word::<EventKind>("event", &allowed)?;
    if !event.is_progress() {
        fields.reject("event", "invalid_value", format!("event must be {allowed}."));
        return None;
    }
    Some(event)
}

pub(super) fn parse_business(id: &str) -> Result<domain::BusinessId, ApiError> {
    id.parse().map_err(|_| ApiError::not_found("business_not_found", "business"))
}

/// An id that has another form names no order.
pub(super) fn parse_id(id: &str) -> Result<OrderId, ApiError> {
    id.parse().map_err(|_| errors::order_not_found())
}

pub(super) async fn find(
    app: &App,
    business: domain::BusinessId,
    mode: Option<Mode>,
    id: &str,
) -> Result<Order, ApiError> {
    let id = parse_id(id)?;
    let mut conn = app.database.connection().await.map_err(errors::from_store)?;
    let order = orders::find(&mut conn, business, mode, id).await.map_err(errors::from_store)?;
    order.ok_or_else(errors::order_not_found)
}

/// Which page of a business's orders is asked for.
pub(super) struct OrderQuery {
    pub(super) page: PageQuery,
    pub(super) filter: OrderFilter,
}

/// `orderReference`, `trackingCode`, `status`, `updatedAfter`, and the page.
pub(super) fn order_query(fields: &mut QueryFields, mode: Option<Mode>) -> OrderQuery {
    OrderQuery {
        page: fields.page(),
        filter: OrderFilter {
            mode,
            order_reference: fields.text("orderReference", order_body::REFERENCE),
            tracking_code: fields.parsed_by("trackingCode", "a tracking code", |text| {
                TrackingCode::from_user_input(text).ok()
            }),
            status: fields.parsed("status", DELIVERY_STATUSES),
            updated_after: updated_after(fields),
            among: None,
        },
    }
}

/// `updatedAfter`
pub(super) fn updated_after(fields: &mut QueryFields) -> Option<DateTime<Utc>> {
    let wanted = "a time as RFC 3339 writes it, such as 2026-01-31T09:30:00Z (write + as %2B in a query)";
    let parse = |text: &str| DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc));
    fields.parsed_by("updatedAfter", wanted, parse)
}

/// A page of a business's orders: the newest first, or by their last change when what changed is asked for. So a business
/// that asks often reads what changed, and not all that it ever ordered.
pub(super) async fn page(
    app: &App,
    business: domain::BusinessId,
    query: OrderQuery,
) -> Result<OrderPage, ApiError> {
    let OrderQuery { page, filter } = query;
    let mut conn = app.database.connection().await.map_err(errors::from_store)?;
    let by_change = filter.updated_after.is_some();
    let beginning = match page.starting_after.as_deref().map(FleetCursor::parse) {
        None if by_change => Beginning::Changed(None),
        None => Beginning::Newest(None),
        Some(Some(FleetCursor::At(position))) if by_change => Beginning::Changed(Some(position)),
        Some(Some(FleetCursor::Order(id))) => {
            let known = orders::find(&mut conn, business, filter.mode, id).await;
            let Order { id, updated_at, .. } =
                known.map_err(errors::from_store)?.ok_or_else(unknown_cursor)?;
            match by_change {
                true => Beginning::Changed(Some(FleetPosition { updated_at, id })),
                false => Beginning::Newest(Some(id)),
            }
        }
        Some(_) => return Err(unknown_cursor()),
    };
    let found = orders::list(&mut conn, business, &filter, beginning, page.limit + 1).await;
    let found = Page::cut(found.map_err(errors::from_store)?, page.limit);
    Ok(match by_change {
        true => OrderPage::changed(&app.ambient, found),
        false => OrderPage::newest(&app.ambient, found),
    })
}

pub(super) fn unknown_cursor() -> ApiError {
    ApiError::invalid_field("startingAfter", "invalid_value", "startingAfter is not an id of this list.")
}
