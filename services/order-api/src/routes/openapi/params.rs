//! The parameters of operations. They are read by hand, so that one answer names every error.
#![expect(dead_code, reason = "only described")]

use chrono::{DateTime, Utc};
use domain::{CodStatus, DeliveryStatus, PaymentType};
use utoipa::IntoParams;

use super::schema::*;

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(in crate::routes) struct OrderPath {
    /// Id of the order.
    #[param(example = "ord_01KG9P6JE0D55FJT0TCK9K0631")]
    id: OrderIdParameter,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(in crate::routes) struct EventPath {
    /// Id of the event.
    #[param(example = "evt_01KG9P6JE0A0H4D9AWCCWXRNW3")]
    id: EventIdParameter,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(in crate::routes) struct FeedQuery {
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
pub(in crate::routes) struct TrackingPath {
    /// The tracking code from the answer to the order. Lower case is accepted.
    #[param(example = "29X08EHFC6N8GD")]
    tracking_code: TrackingCodeParameter,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(in crate::routes) struct CreateHeaders {
    /// A stable unique text per local order, such as `<website>-<order id>`: 1 to 255 printable ASCII characters. It is kept as
    /// long as the order, for your business and mode.
    #[param(rename = "Idempotency-Key", example = "malabar-coffee-2001")]
    idempotency_key: IdempotencyKey,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(in crate::routes) struct OrdersQuery {
    /// Only the order with this reference.
    order_reference: Option<OrderReference>,
    /// Only the order with this tracking code.
    tracking_code: Option<TrackingCodeParameter>,
    /// Only orders with this status.
    status: Option<DeliveryStatus>,
    /// Only orders that changed after this time, sorted by their last change, oldest first.
    updated_after: Option<DateTime<Utc>>,
    /// Only orders whose cash has this status.
    cod_status: Option<CodStatus>,
    /// Only orders with this payment.
    payment_type: Option<PaymentType>,
    /// Only orders that were created at this time or later.
    created_from: Option<DateTime<Utc>>,
    /// Only orders that were created before this time.
    created_until: Option<DateTime<Utc>>,
    /// Only orders with all of these words: beginnings of words of the customer's name, of the city or of the reference, the PIN
    /// code, the phone or its last digits, or a whole id or tracking code.
    search: Option<SearchText>,
    /// The maximum number of orders.
    limit: Option<PageLimit>,
    /// Where the previous page ended: its `next` and the same filters, or without a `next` the `id` of its last order. An
    /// unknown one is refused with 400.
    starting_after: Option<OrderCursor>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(in crate::routes) struct TimelineQuery {
    /// The maximum number of entries.
    limit: Option<PageLimit>,
    /// Where the previous page ended. An unknown one is refused with 400.
    starting_after: Option<TimelineCursor>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(in crate::routes) struct FleetQuery {
    /// Only orders with this status.
    status: Option<DeliveryStatus>,
    /// Only orders that changed after this time.
    updated_after: Option<DateTime<Utc>>,
    /// The maximum number of orders.
    limit: Option<PageLimit>,
    /// Where the previous page ended: its `next`, or the `id` of an order. An unknown one is refused with 400.
    starting_after: Option<FleetCursor>,
}
