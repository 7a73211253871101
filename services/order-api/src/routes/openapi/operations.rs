//! Of each operation, what its macro does not describe: examples and errors, each made by the code that answers with them.

use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use chrono::{DateTime, TimeDelta};
use domain::EventKind::{DriverAssigned, OrderCancelled, OrderDelivered, OrderPickedUp};
use domain::{DeliveryState, DeliveryStatus, EventKind, GoLiveItem, KeyScope, Mode, Paise};
use internal_api::orders::DeliveryCodeView;
use serde_json::{Value, json};
use utoipa::openapi::link::Link;
use web::{ApiError, FieldErrors, bearer_token, too_many_failures};

use super::answers::text_of;
use super::operation::Operation;
use super::samples::{self, ATTEMPTS, ATTEMPTS_MAX, CANCEL_REASON, COD, FULL, SMALLEST, Samples};
use super::webhooks;
use crate::commands::MoveError;
use crate::commands::correct_delivery::CorrectError;
use crate::commands::create_order::{CreateError, LockedBusiness, ReusedKey};
use crate::commands::decide_after_failure::DecideError;
use crate::commands::issue_delivery_code::IssueError;
use crate::commands::record_progress::ReportError;
use crate::commands::simulate_progress::{SimulateError, Simulated};
use crate::domain::{
    Correction, Decision, ExistingOrder, FeedPosition, FoundOrders, Order, Refusal, reattempt_days,
};
use crate::feed_waiters::TooManyWaiting;
use crate::queries::Timeline;
use crate::queries::feed::FeedError;
use crate::routes::fleet_page::{FleetPage, OrderPage};
use crate::routes::{
    after_failure, authenticate, backend_only, create_order, errors, evidence, feed, feed_page, fleet,
    integration, order_body, quota, simulate, tracking, views,
};

/// The seconds of `Retry-After` in examples: of a key, of an address whose failures were too many, of a tracking page.
const KEY_WAIT_S: u64 = 1;
const FAILURES_WAIT_S: u64 = 12;
const TRACKING_WAIT_S: u32 = 2;
const REATTEMPT_NOTE: &str = "Call before you come";

pub(super) fn operations(samples: &Samples) -> anyhow::Result<Vec<Operation>> {
    let mut all = of_orders(samples)?;
    all.extend(of_moves(samples));
    all.extend(of_failures(samples));
    all.extend(of_evidence(samples)?);
    all.extend(of_events(samples));
    all.extend(of_the_fleet(samples));
    all.extend(of_tracking(samples));
    Ok(all)
}

fn of_orders(samples: &Samples) -> anyhow::Result<Vec<Operation>> {
    let view = |order| text_of(&views::order_view(&samples.tracking_urls, ATTEMPTS, order));
    let live = |events| samples.order(Mode::Live, events);
    let page = OrderPage::newest(&samples.tracking_urls, ATTEMPTS, one(live(&[DriverAssigned])));
    let fee = samples.fee()?;
    let timeline = |webhooks, incomplete| {
        let moves = samples.moves(&[DriverAssigned]);
        let found = Timeline { moves, money: vec![fee.clone()], webhooks, incomplete };
        text_of(&views::timeline_page(found, web::PAGE_LIMIT_DEFAULT))
    };
    let unknown = [errors::order_not_found()];
    let bad_page = [integration::unknown_cursor()];
    Ok(vec![
        Operation::new("createOrder")
            .body("smallest", "The required fields", SMALLEST)
            .body("full", "Every field", FULL)
            .body("cod", "Cash on delivery", COD)
            .answer("live", "With a Live key", samples.receipt(Mode::Live)?)
            .answer("test", "With a Test key", samples.receipt(Mode::Test)?)
            .headers(&["Location", "Idempotent-Replayed"])
            .links(links())
            .errors(with_key(KeyScope::WriteOrders))
            .errors(create_errors(samples))
            .errors(of_body()),
        Operation::new("listOrders")
            .answer("page", "One order", text_of(&page))
            .errors(with_key(KeyScope::ReadOrders))
            .errors(bad_page.clone()),
        Operation::new("getOrder")
            .answer("created", "Just created", view(live(&[])))
            .answer("on_the_way", "With a driver", view(live(&[DriverAssigned, OrderPickedUp])))
            .errors(with_key(KeyScope::ReadOrders))
            .errors(unknown.clone()),
        Operation::new("listOrderEvents")
            .answer("whole", "Status, money and webhooks", timeline(vec![samples.webhook()], Vec::new()))
            .answer(
                "incomplete",
                "While one source does not answer",
                timeline(Vec::new(), vec!["webhook-dispatcher"]),
            )
            .errors(with_key(KeyScope::ReadOrders))
            .errors(unknown)
            .errors(bad_page),
    ])
}

fn of_moves(samples: &Samples) -> [Operation; 2] {
    let shown = |simulated| views::simulated_view(&samples.tracking_urls, ATTEMPTS, simulated);
    let simulated = Simulated { order: samples.order(Mode::Test, &[DriverAssigned]), run: None };
    let on_the_way = samples.order(Mode::Live, &[DriverAssigned, OrderPickedUp]);
    let ended = samples.cancelled_order();
    let cannot_be_simulated = illegal(simulated.order.state, OrderDelivered)
        .map(SimulateError::Move)
        .into_iter()
        .chain([SimulateError::NothingLeft(ended.state, ended.state.legal(ATTEMPTS_MAX))])
        .map(errors::from_simulate);
    let cannot_be_cancelled = illegal(on_the_way.state, OrderCancelled).map(errors::from_cancel);
    let unknown = [errors::order_not_found()];
    [
        Operation::new("cancelOrder")
            .body("reason", "With a reason", text_of(&json!({ "reason": CANCEL_REASON })))
            .answer(
                "cancelled",
                "Cancelled",
                text_of(&views::order_view(&samples.tracking_urls, ATTEMPTS, ended)),
            )
            .errors(with_key(KeyScope::WriteOrders))
            .errors(unknown.clone())
            .errors(cannot_be_cancelled)
            .errors(integration::cancel_reason(&json!({ "reason": 7 })).err())
            .errors(of_body()),
        Operation::new("simulateOrder")
            .body("event", "One event", text_of(&json!({ "event": "driver.assigned" })))
            .body("auto", "All the way", text_of(&json!({ "event": "auto" })))
            .answer("moved", "After `driver.assigned`", text_of(&shown(simulated)))
            .errors(with_key(KeyScope::WriteOrders))
            .errors([simulate::needs_test_key()])
            .errors(unknown)
            .errors(cannot_be_simulated)
            .errors(simulate::read(&json!({ "event": "order.lost" })).err())
            .errors(of_body()),
    ]
}

fn of_failures(samples: &Samples) -> [Operation; 3] {
    let view = |order| text_of(&views::order_view(&samples.tracking_urls, ATTEMPTS, order));
    let now = samples.failed_order(None).updated_at;
    let date = reattempt_days(now).1;
    let again = Decision::Reattempt { on: None };
    let mut asked = samples.failed_order(Some(again));
    asked.set_reattempt_note(Some(REATTEMPT_NOTE.to_owned()));
    let refused = |decision, refusals: &[Refusal]| {
        let refusals = refusals.iter().map(|refusal| DecideError::Refused(decision, *refusal));
        refusals.map(errors::from_decide).collect::<Vec<_>>()
    };
    let [on_the_way, refunded] =
        [Refusal::NotFailed(DeliveryStatus::OutForDelivery), Refusal::Refunded(DeliveryStatus::Cancelled)];
    let delivered = CorrectError::Ended(DeliveryStatus::Delivered);
    let mut corrected = samples.failed_order(None);
    let correction = Correction { phone: Some("+919800000009".to_owned()), delivery: None };
    corrected.details = correction.applied_to(&corrected.details, now, None).into();
    [
        Operation::new("reattemptOrder")
            .body("note", "As soon as possible", text_of(&json!({ "note": REATTEMPT_NOTE })))
            .body("date", "On a day", text_of(&json!({ "date": date, "note": REATTEMPT_NOTE })))
            .answer("requested", "Requested", view(asked))
            .errors(with_key(KeyScope::WriteOrders))
            .errors([errors::order_not_found()])
            .errors(refused(
                again,
                &[on_the_way, refunded, Refusal::AttemptsUsed(ATTEMPTS_MAX), Refusal::Erased],
            ))
            .errors(after_failure::read_reattempt(&json!({ "date": "tomorrow" }), now).err())
            .errors(of_body()),
        Operation::new("requestReturn")
            .answer("requested", "Requested", view(samples.failed_order(Some(Decision::Return))))
            .errors(with_key(KeyScope::WriteOrders))
            .errors([errors::order_not_found()])
            .errors(refused(Decision::Return, &[on_the_way, refunded]))
            .errors(of_body()),
        Operation::new("correctDelivery")
            .body("phone", "The phone alone", text_of(&json!({ "phone": "+91 98000 00009" })))
            .answer("corrected", "Corrected", view(corrected))
            .errors(with_key(KeyScope::WriteOrders))
            .errors([errors::order_not_found()])
            .errors([delivered, CorrectError::Erased].map(errors::from_correct))
            .errors(after_failure::read_correction(&json!({ "delivery": { "pincode": "12" } })).err())
            .errors(of_body()),
    ]
}

fn of_evidence(samples: &Samples) -> anyhow::Result<[Operation; 2]> {
    let (order, records) = samples.evidence()?;
    let code = DeliveryCodeView { delivery_code: samples::DELIVERY_CODE.to_owned() };
    Ok([
        Operation::new("issueDeliveryCode")
            .answer("code", "A code", text_of(&code))
            .errors(with_key(KeyScope::WriteOrders))
            .errors([errors::order_not_found()])
            .errors([errors::from_issue(IssueError::Ended(DeliveryStatus::Delivered))])
            .errors(of_body()),
        Operation::new("getEvidence")
            .answer("delivered", "Delivered", text_of(&evidence::evidence_view(order, records)?))
            .errors(with_key(KeyScope::ReadOrders))
            .errors([errors::order_not_found()]),
    ])
}

fn of_events(samples: &Samples) -> [Operation; 2] {
    let events = webhooks::of_orders(samples);
    let [(name, event, body), (_, _, created), (_, _, assigned), ..] = events;
    let last = samples.order(Mode::Live, &[DriverAssigned]);
    let after_last = FeedPosition { at: last.updated_at, after: Some((last.id, last.sequence)) };
    let page = |bodies: &[&str], next: FeedPosition| {
        let bodies: Vec<_> = bodies.iter().map(|body| body.as_bytes().to_vec()).collect();
        String::from_utf8_lossy(&feed_page::page(&bodies, false, next)).into_owned()
    };
    let too_many = errors::from_feed(FeedError::TooManyWaiting(TooManyWaiting::OfKey));
    let of_all =
        |id| Operation::new(id).headers(&["Webhook-Header-Prefix"]).errors(with_key(KeyScope::ReadEvents));
    [
        of_all("listEvents")
            .answer("page", "Two events", page(&[&created, &assigned], after_last))
            .answer("empty", "No event yet", page(&[], FeedPosition::before(last.created_at)))
            .errors([too_many, feed::unknown_cursor()]),
        of_all("getEvent").answer(name, event, body).errors([errors::event_not_found()]),
    ]
}

fn of_the_fleet(samples: &Samples) -> [Operation; 2] {
    let order = samples.order(Mode::Live, &[DriverAssigned]);
    let too_early = illegal(order.state, OrderDelivered).map(ReportError::Move).map(errors::from_report);
    let bad = json!({ "eventId": "run-7-1", "event": "order.failed", "occurredAt": "yesterday" });
    let field_errors = FieldErrors::default();
    let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
    let _no_report = fleet::read_report(&bad, &field_errors, order.id, now);
    let body = |id: &str, event: &str, more: &str| {
        format!(r#"{{"eventId":"{id}","event":"{event}","occurredAt":"2026-01-31T09:31:00Z",{more}}}"#)
    };
    let driver = r#""driver":{"name":"Ravi Kumar","phone":"+919800000003","vehicle":"KA01AB1234"}"#;
    let reported = |at| text_of(&views::reported_view(order.clone(), at));
    let page = FleetPage::new(one(samples.order(Mode::Live, &[])), None);
    [
        Operation::new("reportProgress")
            .body("assigned", "A driver is assigned", body("run-7-1", "driver.assigned", driver))
            .body(
                "failed",
                "The delivery failed",
                body(
                    "run-7-2",
                    "order.failed",
                    r#""reason":"Nobody at home","reasonCode":"customer_unreachable""#,
                ),
            )
            .body(
                "delivered",
                "The parcel was delivered",
                body("run-7-4", "order.delivered", samples::EVIDENCE),
            )
            .body(
                // After `delivered` in the alphabet, by which the document sorts examples: cash is reported after the delivery.
                "delivered_cash",
                "Cash was collected, after the delivery",
                body("run-7-5", "cod.collected", r#""codAmountPaise":154800"#),
            )
            .answer("moved", "The order", reported(order.updated_at))
            .answer("early", "Dated before the order", reported(DateTime::UNIX_EPOCH))
            .errors(with_fleet_token())
            .errors([errors::order_not_found(), ApiError::invalid(field_errors)])
            .errors(too_early)
            .errors(
                [
                    ReportError::EventIdReused,
                    ReportError::NoCode,
                    ReportError::WrongCode { left: 4 },
                    ReportError::CodeBlocked,
                ]
                .map(errors::from_report),
            )
            .errors(of_body()),
        Operation::new("listFleetOrders")
            .answer("page", "One order", text_of(&page))
            .errors(with_fleet_token())
            .errors([integration::unknown_cursor()]),
    ]
}

fn of_tracking(samples: &Samples) -> [Operation; 2] {
    let events = [DriverAssigned, OrderPickedUp];
    let view = tracking::shown(samples.order(Mode::Live, &events), samples.moves(&events));
    let of_all = |id| Operation::new(id).headers(&["Cache-Control"]);
    let [internal, unavailable] = always();
    [
        of_all("getTracking")
            .answer("picked_up", "On its way", text_of(&view))
            .errors([tracking::unknown_code(), tracking::too_many(TRACKING_WAIT_S)])
            .errors([internal.clone(), unavailable]),
        of_all("getTrackingPage").errors([internal]),
    ]
}

fn one(order: Order) -> FoundOrders {
    FoundOrders { orders: vec![order], has_more: false, continue_after: None }
}

fn illegal(state: DeliveryState, event: EventKind) -> Option<MoveError> {
    state.apply(event, ATTEMPTS_MAX).err().map(MoveError::Illegal)
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
        json!({ "orderReference": "2001", "payment": { "paymentType": "cash", "deliveryFeePaise": "49" } }),
        with_payment(json!({ "paymentType": "cod", "deliveryFeePaise": 4900, "codAmount": 154_800 })),
    ];
    let bad_key = (HeaderName::from_static("idempotency-key"), HeaderValue::from_static("a\tb"));
    let keys = [HeaderMap::new(), HeaderMap::from_iter([bad_key])];
    let invalid = bodies.iter().filter_map(|body| order_body::read(body).err()).map(CreateError::Invalid);
    let others = [
        CreateError::InsufficientBalance {
            balance: Paise::new(1_500),
            owed: Paise::ZERO,
            required: Paise::new(4_900),
        },
        CreateError::Locked {
            missing: vec![GoLiveItem::SubscriptionActive, GoLiveItem::WalletFunded],
            business: LockedBusiness::New,
        },
        CreateError::Locked {
            missing: vec![GoLiveItem::LiveAccessActive],
            business: LockedBusiness::WasLive,
        },
        CreateError::ReferenceExists(Box::new(samples.existing_order())),
        CreateError::ReferenceExists(Box::new(cancelled)),
        CreateError::OrderInProgress,
        CreateError::KeyReused(Box::new(reused)),
        CreateError::KeyInProgress,
        CreateError::Unknown,
    ];
    let of_key = keys.iter().filter_map(|headers| create_order::idempotency_key(headers).err());
    of_key.chain(invalid.chain(others).map(refused)).collect()
}

/// Of a caller who is to have an API key with this scope.
fn with_key(scope: KeyScope) -> impl Iterator<Item = ApiError> {
    let of_key = [
        authenticate::no_key(),
        authenticate::bad_key(),
        authenticate::expired_key(),
        authenticate::insufficient_scope(scope),
        authenticate::address_not_allowed(),
        backend_only::from_browser(),
    ];
    of_key.into_iter().chain(of_authorization()).chain([quota::too_many(KEY_WAIT_S)]).chain(always())
}

/// Of a caller who is to have the fleet token.
fn with_fleet_token() -> impl Iterator<Item = ApiError> {
    [authenticate::bad_fleet_token()].into_iter().chain(of_authorization()).chain(always())
}

fn of_authorization() -> impl Iterator<Item = ApiError> {
    let twice = ["Bearer one", "Bearer two"].map(|one| (AUTHORIZATION, HeaderValue::from_static(one)));
    bearer_token(&HeaderMap::from_iter(twice))
        .err()
        .into_iter()
        .chain([too_many_failures(FAILURES_WAIT_S, false)])
}

/// Whatever is called.
fn always() -> [ApiError; 2] {
    [ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR), ApiError::unavailable()]
}

/// Of a body that cannot be read.
fn of_body() -> [ApiError; 5] {
    [
        ApiError::malformed_json(
            "The request body is not valid JSON: expected `,` or `}` at line 3 column 5.",
        ),
        ApiError::body_incomplete(),
        ApiError::from_status(StatusCode::REQUEST_TIMEOUT),
        ApiError::from_status(StatusCode::PAYLOAD_TOO_LARGE),
        ApiError::unsupported_media_type("Send the body as JSON, with Content-Type: application/json."),
    ]
}
