//! What a business does with its orders: read, cancel, simulate. Each sees its own, in the mode of its key.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path, Payload};
use domain::{EventKind, Mode, OrderId};
use internal_api::Page;
use internal_api::orders::OrderView;
use serde_json::Value;
use web::{ApiError, FaultList, Fields, TextRule, page_query, query_value, read_optional_json};

use super::{authenticate, errors, views};
use crate::app::App;
use crate::commands::cancel_order::cancel_order;
use crate::domain::Order;
use crate::store::orders::{self, OrderFilter};

/// In characters (`design.md` §5, limits).
const REFERENCE_MAX: usize = 128;

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

/// A field `event` that names a kind of progress; `besides` names in the message what else it may be.
pub(super) fn progress_event(fields: &Fields<'_>, besides: &str) -> Option<EventKind> {
    const KINDS: &str = "driver.assigned, driver.unassigned, order.picked_up, order.out_for_delivery, \
         order.delivered, order.failed, order.cancelled, order.returned, cod.collected, cod.handed_over, cod.settled";
    let allowed = format!("one of {besides}{KINDS}");
    let event = fields.required_word::<EventKind>("event", &allowed)?;
    if !event.is_progress() {
        fields.fault("event", "invalid_value", format!("event must be {allowed}."));
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
        order_reference: query_value(request, "orderReference")?.map(parse_reference).transpose()?,
        tracking_code: query_value(request, "trackingCode")?
            .map(|code| parse_word(&code, "trackingCode"))
            .transpose()?,
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

/// As long as a reference can be; what no order can be called is a mistake and not an empty list.
fn parse_reference(text: String) -> Result<String, ApiError> {
    if (1..=REFERENCE_MAX).contains(&text.chars().count()) {
        return Ok(text);
    }
    let message = format!("orderReference must be 1 to {REFERENCE_MAX} characters long.");
    Err(ApiError::invalid_field("orderReference", "out_of_range", message))
}

pub(super) fn parse_word<T: std::str::FromStr>(text: &str, name: &str) -> Result<T, ApiError> {
    text.parse().map_err(|_| {
        ApiError::invalid_field(name, "invalid_value", format!("{name} is not one that exists."))
    })
}

pub(super) fn unknown_cursor(name: &str) -> ApiError {
    ApiError::invalid_field(name, "invalid_value", format!("{name} is not an id of this list."))
}
