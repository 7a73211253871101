//! The parameters of operations. They are read by hand, so that one answer names every error.
#![expect(dead_code, reason = "described, not read")]

use chrono::{DateTime, Utc};
use domain::schema::id_pattern;
use domain::{DeliveryStatus, EventId, EventKind, OrderId, TrackingCode};
use serde_json::json;
use utoipa::IntoParams;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::new_order::OrderReference;
use super::samples::{self, IDEMPOTENCY_KEY};
use super::schema::{format, integer, schemas, string, words};
use crate::routes::feed;

schemas! {
    OrderIdParameter = format(string().pattern(Some(id_pattern(OrderId::PREFIX))), "order-id");
    TrackingCodeParameter = format(string().pattern(Some(TrackingCode::PATTERN)), "tracking-code");
    OrderCursor = format(string().max_length(Some(200)), "order-cursor");
    FleetCursor = format(string().max_length(Some(200)), "fleet-cursor");
    EventIdParameter = format(string().pattern(Some(id_pattern(EventId::PREFIX))), "event-id");
    EventCursor = format(string().max_length(Some(200)), "event-cursor");
    FeedKind = words(feed::order_kinds().map(EventKind::as_str));
    WaitSeconds = integer(0, feed::WAIT_MAX_S.cast_signed()).default(Some(json!(0)));
    TimelineCursor = format(string().max_length(Some(64)), "timeline-id");
    IdempotencyKey = string()
        .min_length(Some(1))
        .max_length(Some(web::IDEMPOTENCY_KEY_MAX))
        .pattern(Some("^[!-~]([ -~]*[!-~])?$"));
    PageLimit = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(web::PAGE_LIMIT_MAX))
        .default(Some(json!(web::PAGE_LIMIT_DEFAULT)));
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct OrderPath {
    /// Id of the order.
    #[param(example = json!(samples::order_id()))]
    id: OrderIdParameter,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct EventPath {
    /// Id of the event.
    #[param(example = json!(samples::event_id(1)))]
    id: EventIdParameter,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(super) struct FeedQuery {
    /// The maximum number of events.
    limit: Option<PageLimit>,
    /// Where to begin: `next` of an earlier answer, the `id` of an event, or `now` for events from this call on, which may include
    /// those of the last moments before it. Left out: with the oldest event. An unknown one is refused with 400.
    starting_after: Option<EventCursor>,
    /// Only events that were recorded at this time or later.
    since: Option<DateTime<Utc>>,
    /// Only events of these kinds, separated by commas.
    #[param(style = Form, explode = false, min_items = 1)]
    types: Option<Vec<FeedKind>>,
    /// How many seconds to wait for the first event, if there is none yet.
    wait_seconds: Option<WaitSeconds>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path, rename_all = "camelCase")]
pub(super) struct TrackingPath {
    /// The tracking code from the answer to the order. Lower case is accepted.
    #[param(example = json!(samples::tracking_code(domain::Mode::Live)))]
    tracking_code: TrackingCodeParameter,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(super) struct CreateHeaders {
    /// A stable unique text per local order, such as `<website>-<order id>`: 1 to 255 printable ASCII characters. It is kept as
    /// long as the order, for your business and mode.
    #[param(rename = "Idempotency-Key", example = json!(IDEMPOTENCY_KEY))]
    idempotency_key: IdempotencyKey,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(super) struct OrdersQuery {
    /// Only the order with this reference.
    order_reference: Option<OrderReference>,
    /// Only the order with this tracking code.
    tracking_code: Option<TrackingCodeParameter>,
    /// Only orders with this status.
    status: Option<DeliveryStatus>,
    /// Only orders that changed after this time, sorted by their last change, oldest first.
    updated_after: Option<DateTime<Utc>>,
    /// The maximum number of orders.
    limit: Option<PageLimit>,
    /// Where the previous page ended: the `id` of its last order; with `updatedAfter`, its `next` and the same `updatedAfter`. An
    /// unknown one is refused with 400.
    starting_after: Option<OrderCursor>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(super) struct TimelineQuery {
    /// The maximum number of entries.
    limit: Option<PageLimit>,
    /// Where the previous page ended. An unknown one is refused with 400.
    starting_after: Option<TimelineCursor>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(super) struct FleetQuery {
    /// Only orders with this status.
    status: Option<DeliveryStatus>,
    /// Only orders that changed after this time.
    updated_after: Option<DateTime<Utc>>,
    /// The maximum number of orders.
    limit: Option<PageLimit>,
    /// Where the previous page ended: its `next`, or the `id` of an order. An unknown one is refused with 400.
    starting_after: Option<FleetCursor>,
}
