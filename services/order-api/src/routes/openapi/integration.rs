//! What a business's back end can do.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use domain::{DeliveryStatus, EventKind, GoLiveItem, Mode, Paise};
use serde_json::{Value, json};
use web::ApiError;

use super::answers::success;
use super::components::{self, order_id, tracking_code};
use super::operation::{Area, Operation, body, in_path, in_query, page, status_filter, with_headers};
use super::ordered::{Json, object};
use super::samples::{self, CANCEL_REASON, IDEMPOTENCY_KEY, Samples};
use super::schema::{nullable, optional_text, text, with_required, words};
use super::shared;
use crate::commands::MoveError;
use crate::commands::create_order::{CreateError, ReusedKey};
use crate::commands::simulate_progress::{SimulateError, Simulated};
use crate::domain::ExistingOrder;
use crate::queries::Timeline;
use crate::routes::{create_order, errors, integration, order_body, quota, simulate, views};

const HEADERS: &[&str] = &["Request-Id", "RateLimit", "RateLimit-Policy"];
const RATE_LIMIT_WAIT_S: u64 = 1;

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

pub(super) fn schemas() -> Vec<(&'static str, Json)> {
    let reason = optional_text(integration::REASON, "Why, for the timeline and the webhook.");
    let kinds = components::progress_kinds().map(EventKind::as_str);
    let event = words(kinds.chain(["auto"]), "What happens; `auto` lets the order go all the way by itself.");
    vec![
        ("CancelOrder", nullable(with_required("Why an order is cancelled.", &[], [("reason", reason)]))),
        ("SimulateProgress", with_required("What is simulated.", &["event"], [("event", event)])),
    ]
}

/// Before anything of the call itself is looked at.
fn before_all() -> Vec<ApiError> {
    let mut errors = shared::api_key();
    errors.push(quota::too_many(RATE_LIMIT_WAIT_S));
    errors.extend(shared::always());
    errors
}

fn create(samples: &Samples) -> anyhow::Result<Operation> {
    let created = success(
        "The order is created; a live one is paid. A repeated request gets this very answer again.",
        HEADERS,
        "OrderCreated",
        [
            ("live", "With a Live key", samples.receipt(Mode::Live)?),
            ("test", "With a Test key", samples.receipt(Mode::Test)?),
        ],
    );
    let created = with_headers(created, &["Location", "Idempotent-Replayed"]).with("links", links());
    let body = body(
        true,
        "NewOrder",
        "The confirmed order.",
        [
            ("smallest", "The least that is an order", samples::smallest_body()),
            ("full", "All that can be said", samples::order_body()),
            ("cod", "Cash on delivery", samples::cod_body()),
        ],
    );
    let mut errors = before_all();
    errors.extend(create_errors(samples));
    errors.extend(shared::body());
    Ok(Operation {
        area: Area::Integration,
        method: "post",
        path: "/v1/integration/orders",
        id: "createOrder",
        summary: "Create an order",
        description: "Call this once per confirmed order, from your back end. A Test key creates a test order: no driver, no money, \
                      the same webhooks. A Live key creates a real delivery and takes `payment.deliveryFeePaise` from the wallet, \
                      exactly once.\n\nWhen you do not get an answer, or get 429 or 503, repeat the request with the same \
                      `Idempotency-Key` and the same body: an order that exists already is answered again, byte for byte, with \
                      `Idempotent-Replayed: true`. After any refusal nothing is kept, so that the corrected request may use the same key.",
        parameters: vec![idempotency_key()],
        body: Some(body),
        answers: vec![(201, created)],
        errors,
    })
}

fn idempotency_key() -> Json {
    let max = web::IDEMPOTENCY_KEY_MAX;
    let schema = object! {
        "type": "string", "minLength": 1, "maxLength": max, "pattern": "^[!-~]([ -~]*[!-~])?$",
    };
    object! {
        "name": "Idempotency-Key",
        "in": "header",
        "required": true,
        "description": "A stable unique text per local order, such as `<website>-<order id>`: 1 to 255 printable ASCII characters. \
                        It is kept as long as the order, for your business and mode.",
        "schema": schema,
        "example": IDEMPOTENCY_KEY,
    }
}

fn create_errors(samples: &Samples) -> Vec<ApiError> {
    let tracking_url = |existing: &ExistingOrder| samples.tracking_urls.of(&existing.tracking_code);
    let refused = |error| errors::from_create(error, &samples.brand, tracking_url);
    let reused = ReusedKey {
        existing: samples.existing_order(),
        differences: vec!["customer.name".to_owned(), "payment.deliveryFeePaise".to_owned()],
    };
    let cancelled = ExistingOrder { status: DeliveryStatus::Cancelled, ..samples.existing_order() };
    let bad_body =
        json!({ "orderReference": "1001", "payment": { "paymentType": "cash", "deliveryFeePaise": "49" } });
    let no_fee = {
        let mut body: Value = serde_json::from_str(&samples::smallest_body().to_string()).unwrap_or_default();
        body["payment"]["deliveryFeePaise"] = Value::Null;
        body
    };
    let misspelt_cash = {
        let mut body: Value = serde_json::from_str(&samples::smallest_body().to_string()).unwrap_or_default();
        body["payment"] = json!({ "paymentType": "cod", "deliveryFeePaise": 4900, "codAmount": 154_800 });
        body
    };
    let invalid = |body: &Value| order_body::read(body).err().map(CreateError::Invalid).map(refused);
    let mut bad_key = HeaderMap::new();
    bad_key.insert(HeaderName::from_static("idempotency-key"), HeaderValue::from_static("a\tb"));
    let keys = [HeaderMap::new(), bad_key]
        .into_iter()
        .filter_map(|headers| create_order::idempotency_key(&headers).err());
    let open = [GoLiveItem::SubscriptionActive, GoLiveItem::WalletFunded];
    let mut all: Vec<ApiError> = keys.collect();
    all.extend(invalid(&no_fee));
    all.extend(invalid(&bad_body));
    all.extend(invalid(&misspelt_cash));
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

/// From an order to what can be done with it.
fn links() -> Json {
    let to = |operation: &str, description: &str| {
        object! {
            "operationId": operation,
            "parameters": object! { "id": "$response.body#/id" },
            "description": description,
        }
    };
    let tracking = |operation: &str| {
        object! {
            "operationId": operation,
            "parameters": object! { "trackingCode": "$response.body#/trackingCode" },
            "description": "Where the parcel is.",
        }
    };
    object! {
        "order": to("getOrder", "The order as it stands."),
        "timeline": to("listOrderEvents", "What happened to it."),
        "cancel": to("cancelOrder", "Cancel it before the pickup."),
        "simulate": to("simulateOrder", "Move a test order on."),
        "tracking": tracking("getTracking"),
        "trackingPage": tracking("getTrackingPage"),
    }
}

fn list(samples: &Samples) -> Operation {
    let order =
        views::order_view(&samples.tracking_urls, samples.order(Mode::Live, &[EventKind::DriverAssigned]));
    let found = object! { "data": [Json::of(&order)], "hasMore": false };
    let changed = object! { "type": "string", "format": "date-time" };
    let mut parameters = vec![
        in_query(
            "orderReference",
            "Only the order with this reference.",
            text(order_body::REFERENCE, "Your id of an order."),
        ),
        in_query(
            "trackingCode",
            "Only the order with this tracking code.",
            tracking_code().with("format", "tracking-code"),
        ),
        status_filter(),
        in_query(
            "updatedAfter",
            "Only orders that changed after this time, by their last change, oldest first.",
            changed,
        ),
    ];
    let cursor = object! { "type": "string", "maxLength": 200, "format": "order-cursor",
    "description": "The `id` of the last order; with `updatedAfter`, `next` of the page before, and the same `updatedAfter`." };
    parameters.extend(page(cursor));
    let mut errors = before_all();
    errors.extend(shared::bad_page());
    Operation {
        area: Area::Integration,
        method: "get",
        path: "/v1/integration/orders",
        id: "listOrders",
        summary: "List orders",
        description: "Your orders in the key's mode, newest first. Use it to look up an order by your own reference or by its \
                      tracking code, not to poll: webhooks tell you of every change. To find what they may have missed, ask with \
                      `updatedAfter` set to some minutes before you last asked: the list is then in the order of the last changes, oldest \
                      first, and goes on with `startingAfter` set to `next`. An order that changes meanwhile comes again.",
        parameters,
        body: None,
        answers: vec![(200, success("The orders.", HEADERS, "OrderList", [("page", "One order", found)]))],
        errors,
    }
}

fn order_in_path(samples: &Samples) -> Json {
    in_path("id", order_id().with("format", "order-id"), &samples.order_id().to_string())
}

fn get(samples: &Samples) -> Operation {
    let order = |events| views::order_view(&samples.tracking_urls, samples.order(Mode::Live, events));
    let order_examples = [
        ("created", "Just created", Json::of(&order(&[]))),
        (
            "on_the_way",
            "With a driver",
            Json::of(&order(&[EventKind::DriverAssigned, EventKind::OrderPickedUp])),
        ),
    ];
    let mut errors = before_all();
    errors.push(errors::order_not_found());
    Operation {
        area: Area::Integration,
        method: "get",
        path: "/v1/integration/orders/{id}",
        id: "getOrder",
        summary: "Get an order",
        description: "An order as it stands, with all that you sent of it.",
        parameters: vec![order_in_path(samples)],
        body: None,
        answers: vec![(200, success("The order.", HEADERS, "Order", order_examples))],
        errors,
    }
}

fn timeline(samples: &Samples) -> anyhow::Result<Operation> {
    let found = |money, webhooks, incomplete| Timeline {
        moves: samples.moves(&[EventKind::DriverAssigned]),
        money,
        webhooks,
        incomplete,
    };
    let limit = web::PAGE_LIMIT_DEFAULT;
    let whole = views::timeline_page(found(vec![samples.fee()?], vec![samples.webhook()], Vec::new()), limit);
    let part =
        views::timeline_page(found(vec![samples.fee()?], Vec::new(), vec!["webhook-dispatcher"]), limit);
    let examples = [
        ("whole", "Moves, money and webhooks", Json::of(&whole)),
        ("incomplete", "While one source does not answer", Json::of(&part)),
    ];
    let mut parameters = vec![order_in_path(samples)];
    let cursor = object! { "type": "string", "maxLength": 64, "format": "timeline-id" };
    parameters.extend(page(cursor));
    let mut errors = before_all();
    errors.push(errors::order_not_found());
    errors.extend(shared::bad_page());
    Ok(Operation {
        area: Area::Integration,
        method: "get",
        path: "/v1/integration/orders/{id}/events",
        id: "listOrderEvents",
        summary: "List what happened to an order",
        description: "Moves of the order, money, and what became of its webhooks, in one list, oldest first.",
        parameters,
        body: None,
        answers: vec![(200, success("The timeline.", HEADERS, "Timeline", examples))],
        errors,
    })
}

fn cancel(samples: &Samples) -> Operation {
    let cancelled = views::order_view(&samples.tracking_urls, samples.cancelled_order());
    let on_the_way = samples.order(Mode::Live, &[EventKind::DriverAssigned, EventKind::OrderPickedUp]);
    let illegal = on_the_way.state.apply(EventKind::OrderCancelled).err().map(MoveError::Illegal);
    let mut errors = before_all();
    errors.push(errors::order_not_found());
    errors.extend(illegal.map(errors::from_cancel));
    errors.extend(integration::cancel_reason(&json!({ "reason": 7 })).err());
    errors.extend(shared::body());
    let examples = [("cancelled", "Cancelled", Json::of(&cancelled))];
    Operation {
        area: Area::Integration,
        method: "post",
        path: "/v1/integration/orders/{id}/cancel",
        id: "cancelOrder",
        summary: "Cancel an order",
        description: "Possible until the driver has picked the parcel up. A live order's fee comes back to the wallet, once. \
                      Cancelling a cancelled order again is answered alike and changes nothing.",
        parameters: vec![order_in_path(samples)],
        body: Some(body(
            false,
            "CancelOrder",
            "May be left out.",
            [("reason", "With a reason", object! { "reason": CANCEL_REASON })],
        )),
        answers: vec![(200, success("The order, cancelled.", HEADERS, "Order", examples))],
        errors,
    }
}

fn simulate_order(samples: &Samples) -> Operation {
    let order = samples.order(Mode::Test, &[EventKind::DriverAssigned]);
    let state = order.state;
    let moved = views::simulated_view(&samples.tracking_urls, Simulated { order, run: None });
    let illegal = state.apply(EventKind::OrderDelivered).err().map(MoveError::Illegal);
    let ended = samples.cancelled_order().state;
    let mut errors = before_all();
    errors.push(simulate::needs_test_key());
    errors.push(errors::order_not_found());
    errors.extend(illegal.map(|error| errors::from_simulate(SimulateError::Move(error))));
    errors.push(errors::from_simulate(SimulateError::NothingLeft(ended)));
    errors.extend(simulate::read(&json!({ "event": "order.lost" })).err());
    errors.extend(shared::body());
    let examples = [("moved", "After `driver.assigned`", Json::of(&moved))];
    Operation {
        area: Area::Integration,
        method: "post",
        path: "/v1/integration/orders/{id}/simulate",
        id: "simulateOrder",
        summary: "Simulate what happens to a test order",
        description: "Moves a test order by the rules of a real delivery, with real, signed webhooks that say `mode: test`. With `auto` \
                      the order goes on by itself, a step a second. A test order whose `orderReference` ends with `-FAILED`, \
                      `-CANCELLED` or `-NODRIVER` does so from the start, with that outcome.",
        parameters: vec![order_in_path(samples)],
        body: Some(body(
            true,
            "SimulateProgress",
            "What happens.",
            [
                ("event", "One move", object! { "event": "driver.assigned" }),
                ("auto", "All the way", object! { "event": "auto" }),
            ],
        )),
        answers: vec![(200, success("The order after it.", HEADERS, "SimulatedOrder", examples))],
        errors,
    }
}
