//! The operations of a business's backend.
#![expect(dead_code, reason = "described, not called")]

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use domain::{DeliveryStatus, EventKind, GoLiveItem, KeyScope, Mode, Paise};
use internal_api::orders::{OrderView, SimulatedOrderView, TimelinePage};
use serde_json::{Value, json};
use strum::VariantArray;
use utoipa::ToSchema;
use utoipa::openapi::link::Link;
use web::ApiError;

use super::answers::json;
use super::new_order::NewOrder;
use super::operation::Operation;
use super::parameters::{CreateHeaders, OrderPath, OrdersQuery, TimelineQuery};
use super::samples::{CANCEL_REASON, COD, FULL, SMALLEST, Samples};
use super::schema::{optional_text, schemas, words};
use super::shared;
use crate::commands::MoveError;
use crate::commands::create_order::{CreateError, ReusedKey};
use crate::commands::simulate_progress::{SimulateError, Simulated};
use crate::domain::{ExistingOrder, FoundOrders};
use crate::queries::Timeline;
use crate::routes::fleet_page::OrderPage;
use crate::routes::order_body;
use crate::routes::{create_order, errors, integration, quota, simulate, views};

const RATE_LIMIT_WAIT_S: u64 = 1;

schemas! {
    CancelReason = optional_text(integration::REASON);
    SimulatedEvent = words(
        EventKind::VARIANTS.iter().filter(|kind| kind.is_progress()).map(|kind| kind.as_str()).chain(["auto"]),
    );
}

/// Why an order is cancelled.
#[derive(ToSchema)]
struct CancelOrder {
    /// The reason, for the timeline and the webhook.
    reason: Option<CancelReason>,
}

/// The event to simulate.
#[derive(ToSchema)]
struct SimulateProgress {
    /// What happens; `auto` moves the order to its end automatically.
    event: SimulatedEvent,
}

pub(super) fn operations(samples: &Samples) -> anyhow::Result<Vec<Operation>> {
    Ok(vec![
        create(samples)?,
        list(samples),
        get(samples),
        timeline(samples)?,
        cancel(samples),
        simulate_order(samples),
    ])
}

/// Errors that every operation can answer before it reads the call itself.
pub(super) fn before_all(scope: KeyScope) -> Vec<ApiError> {
    let mut errors = shared::api_key(scope);
    errors.push(quota::too_many(RATE_LIMIT_WAIT_S));
    errors.extend(shared::always());
    errors
}

/// Create an order
///
/// Call this once per confirmed order, from your backend. A Test key creates a test order: no driver, no money, the same webhooks.
/// A Live key creates a real delivery and takes `payment.deliveryFeePaise` from the wallet, exactly once.
///
/// If you get no answer, or 429 or 503, repeat the request with the same `Idempotency-Key` and the same body: if the order already
/// exists, you get the first answer again, byte for byte, with `Idempotent-Replayed: true`. A refused request leaves nothing
/// behind, so the corrected request may use the same key.
#[utoipa::path(
    post,
    path = "/v1/integration/orders",
    operation_id = "createOrder",
    tag = "Orders",
    params(CreateHeaders),
    request_body(content = NewOrder, description = "The confirmed order."),
    responses((
        status = 201,
        description = "The order is created; a live one is paid. A repeated request gets this exact answer again.",
        body = ref("#/components/schemas/OrderCreated"),
        content_type = "application/json",
    )),
)]
pub(super) fn create_order() {}

fn create(samples: &Samples) -> anyhow::Result<Operation> {
    let mut errors = before_all(KeyScope::WriteOrders);
    errors.extend(create_errors(samples));
    errors.extend(shared::body());
    Ok(Operation {
        id: "createOrder",
        bodies: vec![
            ("smallest", "The required fields", SMALLEST.to_owned()),
            ("full", "Every field", FULL.to_owned()),
            ("cod", "Cash on delivery", COD.to_owned()),
        ],
        answers: vec![
            ("live", "With a Live key", samples.receipt(Mode::Live)?),
            ("test", "With a Test key", samples.receipt(Mode::Test)?),
        ],
        headers: &["Location", "Idempotent-Replayed"],
        links: links(),
        errors,
    })
}

fn create_errors(samples: &Samples) -> Vec<ApiError> {
    let tracking_url = |existing: &ExistingOrder| samples.tracking_urls.of(&existing.tracking_code);
    let refused = |error| errors::from_create(error, &samples.brand, tracking_url);
    let reused = ReusedKey {
        existing: samples.existing_order(),
        differences: vec!["customer.name".to_owned(), "payment.deliveryFeePaise".to_owned()],
    };
    let cancelled = ExistingOrder { status: DeliveryStatus::Cancelled, ..samples.existing_order() };
    let with_payment = |payment: Value| {
        let mut body: Value = serde_json::from_str(SMALLEST).unwrap_or_default();
        body["payment"] = payment;
        body
    };
    let bodies = [
        with_payment(json!({ "paymentType": "prepaid", "deliveryFeePaise": null })),
        json!({ "orderReference": "1001", "payment": { "paymentType": "cash", "deliveryFeePaise": "49" } }),
        with_payment(json!({ "paymentType": "cod", "deliveryFeePaise": 4900, "codAmount": 154_800 })),
    ];
    let mut bad_key = HeaderMap::new();
    bad_key.insert(HeaderName::from_static("idempotency-key"), HeaderValue::from_static("a\tb"));
    let keys = [HeaderMap::new(), bad_key]
        .into_iter()
        .filter_map(|headers| create_order::idempotency_key(&headers).err());
    let open = [GoLiveItem::SubscriptionActive, GoLiveItem::WalletFunded];
    let mut all: Vec<ApiError> = keys.collect();
    all.extend(
        bodies.iter().filter_map(|body| order_body::read(body).err().map(CreateError::Invalid).map(refused)),
    );
    all.extend([
        refused(CreateError::InsufficientBalance { balance: Paise::new(1_500), required: Paise::new(4_900) }),
        refused(CreateError::Locked { missing: open.to_vec(), was_live: false }),
        refused(CreateError::Locked { missing: vec![GoLiveItem::LiveAccessActive], was_live: true }),
        refused(CreateError::ReferenceExists(Box::new(samples.existing_order()))),
        refused(CreateError::ReferenceExists(Box::new(cancelled))),
        refused(CreateError::OrderInProgress),
        refused(CreateError::KeyReused(Box::new(reused))),
        refused(CreateError::KeyInProgress),
        refused(CreateError::Unknown),
    ]);
    all
}

/// The operations that can follow an order.
fn links() -> Vec<(&'static str, Link)> {
    let link = |name, operation: &str, field: &str, description: &str| {
        let link = Link::builder().operation_id(operation).description(description);
        (name, link.parameter(field, format!("$response.body#/{field}")).build())
    };
    vec![
        link("order", "getOrder", "id", "The order as it stands."),
        link("timeline", "listOrderEvents", "id", "The timeline of the order."),
        link("cancel", "cancelOrder", "id", "Cancel it before the pickup."),
        link("simulate", "simulateOrder", "id", "Move a test order."),
        link("tracking", "getTracking", "trackingCode", "Track the parcel."),
        link("trackingPage", "getTrackingPage", "trackingCode", "Track the parcel."),
    ]
}

/// List orders
///
/// Your orders in the key's mode, newest first. Use it to look up an order by your own reference or by its tracking code; do not
/// poll it, because webhooks report every change. To find changes that they may have missed, set `updatedAfter` to some minutes before
/// your last call: the list is then sorted by the last change, oldest first, and continues with `startingAfter` set to `next`. An
/// order that changes meanwhile appears again.
#[utoipa::path(
    get,
    path = "/v1/integration/orders",
    operation_id = "listOrders",
    tag = "Orders",
    params(OrdersQuery),
    responses((status = 200, description = "The orders.", body = OrderPage)),
)]
pub(super) fn list_orders() {}

fn list(samples: &Samples) -> Operation {
    let order = samples.order(Mode::Live, &[EventKind::DriverAssigned]);
    let page =
        OrderPage::newest(&samples.tracking_urls, FoundOrders { orders: vec![order], has_more: false });
    let mut errors = before_all(KeyScope::ReadOrders);
    errors.extend(shared::bad_page());
    Operation {
        id: "listOrders",
        answers: vec![("page", "One order", json(&page))],
        errors,
        ..Operation::default()
    }
}

/// Get an order
///
/// The current state of an order, with everything that you sent about it.
#[utoipa::path(
    get,
    path = "/v1/integration/orders/{id}",
    operation_id = "getOrder",
    tag = "Orders",
    params(OrderPath),
    responses((status = 200, description = "The order.", body = OrderView)),
)]
pub(super) fn get_order() {}

fn get(samples: &Samples) -> Operation {
    let order = |events| json(&views::order_view(&samples.tracking_urls, samples.order(Mode::Live, events)));
    let mut errors = before_all(KeyScope::ReadOrders);
    errors.push(errors::order_not_found());
    Operation {
        id: "getOrder",
        answers: vec![
            ("created", "Just created", order(&[])),
            ("on_the_way", "With a driver", order(&[EventKind::DriverAssigned, EventKind::OrderPickedUp])),
        ],
        errors,
        ..Operation::default()
    }
}

/// List the timeline of an order
///
/// Status changes, money and webhooks of the order in one list, oldest first.
#[utoipa::path(
    get,
    path = "/v1/integration/orders/{id}/events",
    operation_id = "listOrderEvents",
    tag = "Orders",
    params(OrderPath, TimelineQuery),
    responses((status = 200, description = "The timeline.", body = TimelinePage)),
)]
pub(super) fn list_order_events() {}

fn timeline(samples: &Samples) -> anyhow::Result<Operation> {
    let money = samples.fee()?;
    let page = |webhooks, incomplete| {
        let moves = samples.moves(&[EventKind::DriverAssigned]);
        let found = Timeline { moves, money: vec![money.clone()], webhooks, incomplete };
        json(&views::timeline_page(found, web::PAGE_LIMIT_DEFAULT))
    };
    let mut errors = before_all(KeyScope::ReadOrders);
    errors.push(errors::order_not_found());
    errors.extend(shared::bad_page());
    Ok(Operation {
        id: "listOrderEvents",
        answers: vec![
            ("whole", "Status, money and webhooks", page(vec![samples.webhook()], Vec::new())),
            ("incomplete", "While one source does not answer", page(Vec::new(), vec!["webhook-dispatcher"])),
        ],
        errors,
        ..Operation::default()
    })
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
    params(OrderPath),
    request_body(content = Option<CancelOrder>, description = "Optional."),
    responses((status = 200, description = "The order, cancelled.", body = OrderView)),
)]
pub(super) fn cancel_order() {}

fn cancel(samples: &Samples) -> Operation {
    let cancelled = views::order_view(&samples.tracking_urls, samples.cancelled_order());
    let on_the_way = samples.order(Mode::Live, &[EventKind::DriverAssigned, EventKind::OrderPickedUp]);
    let illegal = on_the_way.state.apply(EventKind::OrderCancelled).err().map(MoveError::Illegal);
    let mut errors = before_all(KeyScope::WriteOrders);
    errors.push(errors::order_not_found());
    errors.extend(illegal.map(errors::from_cancel));
    errors.extend(integration::cancel_reason(&json!({ "reason": 7 })).err());
    errors.extend(shared::body());
    Operation {
        id: "cancelOrder",
        bodies: vec![("reason", "With a reason", json(&json!({ "reason": CANCEL_REASON })))],
        answers: vec![("cancelled", "Cancelled", json(&cancelled))],
        errors,
        ..Operation::default()
    }
}

/// Simulate the progress of a test order
///
/// Moves a test order by the rules of a real delivery, with real, signed webhooks that say `mode: test`. With `auto` the order moves
/// on automatically, one step a second. A test order whose `orderReference` ends with `-FAILED`, `-CANCELLED` or `-NODRIVER` moves
/// automatically from the start, to that outcome.
#[utoipa::path(
    post,
    path = "/v1/integration/orders/{id}/simulate",
    operation_id = "simulateOrder",
    tag = "Orders",
    params(OrderPath),
    request_body(content = SimulateProgress, description = "The event."),
    responses((status = 200, description = "The order after it.", body = SimulatedOrderView)),
)]
pub(super) fn simulate_progress() {}

fn simulate_order(samples: &Samples) -> Operation {
    let order = samples.order(Mode::Test, &[EventKind::DriverAssigned]);
    let state = order.state;
    let moved = views::simulated_view(&samples.tracking_urls, Simulated { order, run: None });
    let illegal = state.apply(EventKind::OrderDelivered).err().map(MoveError::Illegal);
    let ended = samples.cancelled_order().state;
    let mut errors = before_all(KeyScope::WriteOrders);
    errors.push(simulate::needs_test_key());
    errors.push(errors::order_not_found());
    errors.extend(illegal.map(|error| errors::from_simulate(SimulateError::Move(error))));
    errors.push(errors::from_simulate(SimulateError::NothingLeft(ended)));
    errors.extend(simulate::read(&json!({ "event": "order.lost" })).err());
    errors.extend(shared::body());
    Operation {
        id: "simulateOrder",
        bodies: vec![
            ("event", "One event", json(&json!({ "event": "driver.assigned" }))),
            ("auto", "All the way", json(&json!({ "event": "auto" }))),
        ],
        answers: vec![("moved", "After `driver.assigned`", json(&moved))],
        errors,
        ..Operation::default()
    }
}
