//! What a business does with its orders: read, cancel, simulate. Each sees its own, in the mode of its key.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path, Payload};
use domain::{EventKind, Mode, OrderId};
use internal_api::Page;
use internal_api::orders::{OrderEventView, OrderView};
use serde_json::Value;
use web::{ApiError, FaultList, Fields, TextRule, page_query, query_value, read_json, read_optional_json};

use super::{authenticate, errors, views};
use crate::app::App;
use crate::commands::cancel_order::cancel_order;
use crate::commands::simulate_progress::simulate_progress;
use crate::domain::Order;
use crate::store::orders::{self, OrderFilter};
use crate::store::timeline;

/// `GET /v1/integration/orders?orderReference=&trackingCode=&status=&limit=&startingAfter=`
pub(super) async fn list(app: Data<App>, request: HttpRequest) -> Result<Json<Page<OrderView>>, ApiError> {
    let caller = authenticate::business(&app, &request).await?;
    page(&app, caller.business_id, Some(caller.mode), &request).await.map(Json)
}

/// `GET /v1/integration/orders/{id}`
pub(super) async fn get(
    app: Data<App>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<Json<OrderView>, ApiError> {
    let caller = authenticate::business(&app, &request).await?;
    let order = find(&app, caller.business_id, Some(caller.mode), &id).await?;
    Ok(Json(views::order_view(&app.ambient, order)))
}

/// `GET /v1/integration/orders/{id}/events`
pub(super) async fn events(
    app: Data<App>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<Json<Page<OrderEventView>>, ApiError> {
    let caller = authenticate::business(&app, &request).await?;
    timeline_page(&app, caller.business_id, Some(caller.mode), &id, &request).await.map(Json)
}

/// `POST /v1/integration/orders/{id}/cancel`, with an optional `{reason}`
pub(super) async fn cancel(
    app: Data<App>,
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
) -> Result<Json<OrderView>, ApiError> {
    let caller = authenticate::business(&app, &request).await?;
    let id = parse_id(&id)?;
    let reason = cancel_reason(&read_optional_json(&request, payload).await?)?;
    let (tasks, running) = (app.tasks.clone(), Data::clone(&app));
    let cancelled = tasks.run(async move { cancel_order(&running, &caller, id, reason).await }).await?;
    Ok(Json(views::order_view(&app.ambient, cancelled.map_err(errors::from_cancel)?)))
}

fn cancel_reason(body: &Value) -> Result<Option<String>, ApiError> {
    if body.is_null() {
        return Ok(None);
    }
    let faults = FaultList::default();
    let reason = Fields::of_body(body, &faults)
        .and_then(|fields| fields.optional_text("reason", TextRule::lines(1_000)));
    if faults.is_empty() { Ok(reason) } else { Err(ApiError::invalid(faults)) }
}

/// `POST /v1/integration/orders/{id}/simulate {event}`, with a Test key
pub(super) async fn simulate(
    app: Data<App>,
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
) -> Result<Json<OrderView>, ApiError> {
    let caller = authenticate::business(&app, &request).await?;
    if caller.mode == Mode::Live {
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "simulate_needs_test_key",
            "Only test orders can be simulated. Use the Test key.",
        ));
    }
    let id = parse_id(&id)?;
    let event = simulated_event(&read_json(&request, payload).await?)?;
    simulate_test_order(&app, caller.business_id, id, event).await.map(Json)
}

/// The rest of a simulation, shared with the portal's call.
pub(super) async fn simulate_test_order(
    app: &Data<App>,
    business: domain::BusinessId,
    id: OrderId,
    event: EventKind,
) -> Result<OrderView, ApiError> {
    let (tasks, running) = (app.tasks.clone(), Data::clone(app));
    let moved = tasks.run(async move { simulate_progress(&running, business, id, event).await }).await?;
    Ok(views::order_view(&app.ambient, moved.map_err(errors::from_move)?))
}

/// The `{event}` of a simulation: any kind that a fleet could report.
pub(super) fn simulated_event(body: &Value) -> Result<EventKind, ApiError> {
    let faults = FaultList::default();
    let event = Fields::of_body(body, &faults).and_then(|fields| progress_event(&fields));
    event.ok_or_else(|| ApiError::invalid(faults))
}

/// A field `event` that names a kind of progress.
pub(super) fn progress_event(fields: &Fields<'_>) -> Option<EventKind> {
    const ALLOWED: &str = "one of driver.assigned, driver.unassigned, order.picked_up, order.out_for_delivery, \
         order.delivered, order.failed, order.cancelled, order.returned, cod.collected, cod.handed_over, cod.settled";
    let event = fields.required_word::<EventKind>("event", ALLOWED)?;
    if !event.is_progress() {
        fields.fault("event", "invalid_value", format!("event must be {ALLOWED}."));
        return None;
    }
    Some(event)
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

/// A page of a business's orders, by the filters of the query string.
pub(super) async fn page(
    app: &App,
    business: domain::BusinessId,
    mode: Option<Mode>,
    request: &HttpRequest,
) -> Result<Page<OrderView>, ApiError> {
    let page = page_query(request)?;
    let filter = OrderFilter {
        mode,
        order_reference: query_value(request, "orderReference")?,
        tracking_code: query_value(request, "trackingCode")?,
        status: query_value(request, "status")?.map(|status| parse_word(&status, "status")).transpose()?,
    };
    let mut conn = app.database.connection().await.map_err(errors::from_store)?;
    let after = match &page.starting_after {
        None => None,
        Some(id) => {
            let id = parse_word(id, "startingAfter")?;
            let known = orders::find(&mut conn, business, mode, id).await.map_err(errors::from_store)?;
            Some(known.ok_or_else(|| unknown_cursor("startingAfter"))?.id)
        }
    };
    let found = orders::list(&mut conn, business, &filter, after, page.limit + 1).await;
    let found = found.map_err(errors::from_store)?;
    Ok(Page::cut(found, page.limit).map(|order| views::order_view(&app.ambient, order)))
}

/// A page of an order's timeline, oldest first.
pub(super) async fn timeline_page(
    app: &App,
    business: domain::BusinessId,
    mode: Option<Mode>,
    id: &str,
    request: &HttpRequest,
) -> Result<Page<OrderEventView>, ApiError> {
    let page = page_query(request)?;
    let order = find(app, business, mode, id).await?;
    let mut conn = app.database.connection().await.map_err(errors::from_store)?;
    let after = match &page.starting_after {
        None => 0,
        Some(event) => timeline::sequence_of(&mut conn, business, order.id, event)
            .await
            .map_err(errors::from_store)?
            .ok_or_else(|| unknown_cursor("startingAfter"))?,
    };
    let events = timeline::list(&mut conn, business, order.id, after, page.limit + 1).await;
    Ok(Page::cut(events.map_err(errors::from_store)?, page.limit).map(views::event_view))
}

pub(super) fn parse_word<T: std::str::FromStr>(text: &str, name: &str) -> Result<T, ApiError> {
    text.parse().map_err(|_| {
        ApiError::invalid_field(name, "invalid_value", format!("{name} is not one that exists."))
    })
}

pub(super) fn unknown_cursor(name: &str) -> ApiError {
    ApiError::invalid_field(name, "invalid_value", format!("{name} is not an id of this list."))
}
