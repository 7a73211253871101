//! What the operator's driver system can do.

use chrono::{DateTime, TimeDelta};
use domain::{EventKind, Mode, Paise};
use internal_api::Page;
use serde_json::{Value, json};
use web::FieldErrors;

use super::answers::success;
use super::components::{order_id, progress_kinds};
use super::operation::{Area, Operation, body, in_path, in_query, page, status_filter};
use super::ordered::{Json, object};
use super::samples::Samples;
use super::schema::{
    integer, nullable, optional_paise, optional_text, reference, text, with_required, words,
};
use super::shared;
use crate::commands::MoveError;
use crate::commands::record_progress::ReportError;
use crate::routes::fleet::{
    DRIVER_NAME, DRIVER_PHONE, DRIVER_VEHICLE, EVENT_ID, REASON, is_cash, read_report,
};
use crate::routes::fleet_page::FleetPage;
use crate::routes::{errors, views};

const HEADERS: &[&str] = &["Request-Id"];

pub(super) fn operations(samples: &Samples) -> Vec<Operation> {
    vec![report(samples), list(samples)]
}

pub(super) fn schemas() -> Vec<(&'static str, Json)> {
    let cash = integer(0, Paise::REQUEST_MAX.get(), "The cash, in paise.");
    let moves = progress_kinds().filter(|kind| *kind != EventKind::OrderFailed && !is_cash(*kind));
    let report = object! {
        "description": "Something that happened to a delivery, by its `event`.",
        "oneOf": ["ReportedMove", "ReportedFailure", "ReportedCash"].map(reference),
    };
    let optional_reason = || optional_text(REASON, "Why, in words for the business.");
    let optional_cash = || optional_paise("The cash, in paise.");
    vec![
        ("Report", report),
        ("ReportedMove", reported("A move of the parcel.", moves, &[], optional_reason(), optional_cash())),
        (
            "ReportedFailure",
            reported(
                "The delivery failed.",
                [EventKind::OrderFailed],
                &["reason"],
                text(REASON, "Why, in words for the business."),
                optional_cash(),
            ),
        ),
        (
            "ReportedCash",
            reported(
                "The cash moved on.",
                progress_kinds().filter(|kind| is_cash(*kind)),
                &["codAmountPaise"],
                optional_reason(),
                cash,
            ),
        ),
        ("ReportedDriver", driver()),
    ]
}

fn reported(
    description: &str,
    kinds: impl IntoIterator<Item = EventKind>,
    required: &[&str],
    reason: Json,
    cash: Json,
) -> Json {
    let kinds: Vec<EventKind> = kinds.into_iter().collect();
    let time = object! {
        "type": "string",
        "format": "date-time",
        "description": "When it happened, by the fleet's clock; not in the future. It may be before the order: more than five \
                        minutes before bring the warning `occurred_before_order`.",
    };
    with_required(
        description,
        &[&["eventId", "event", "occurredAt"], required].concat(),
        [
            (
                "eventId",
                text(EVENT_ID, "The fleet's own id of the report, by which a repeated one is known."),
            ),
            ("event", words(kinds.into_iter().map(EventKind::as_str), "What happened.")),
            ("occurredAt", time),
            ("driver", nullable(reference("ReportedDriver"))),
            ("reason", reason),
            ("codAmountPaise", cash),
        ],
    )
}

fn driver() -> Json {
    with_required(
        "The driver, as the business may introduce them to its customer.",
        &["name"],
        [
            ("name", text(DRIVER_NAME, "Name of the driver.")),
            ("phone", optional_text(DRIVER_PHONE, "Phone number of the driver.")),
            ("vehicle", optional_text(DRIVER_VEHICLE, "What to look out for.")),
        ],
    )
}

fn report(samples: &Samples) -> Operation {
    let order = samples.order(Mode::Live, &[EventKind::DriverAssigned]);
    let illegal = order.state.apply(EventKind::OrderDelivered).err().map(MoveError::Illegal);
    let bad: Value = json!({ "eventId": "run-7-1", "event": "order.failed", "occurredAt": "yesterday" });
    let field_errors = FieldErrors::default();
    let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
    let invalid = match read_report(&bad, &field_errors, order.id, now) {
        Some(_) => None,
        None => Some(web::ApiError::invalid(field_errors)),
    };
    let mut errors = shared::fleet_token();
    errors.push(errors::order_not_found());
    errors.extend(invalid);
    errors.extend(illegal.map(|error| errors::from_report(ReportError::Move(error))));
    errors.push(errors::from_report(ReportError::EventIdReused));
    errors.extend(shared::body());
    errors.extend(shared::always());
    let driver = object! { "name": "Ravi Kumar", "phone": "+919800000003", "vehicle": "KA01AB1234" };
    let at = "2026-01-31T09:31:00Z";
    let example = |id: &str, event: &str| object! { "eventId": id, "event": event, "occurredAt": at };
    let examples = [
        ("assigned", "A driver is assigned", example("run-7-1", "driver.assigned").with("driver", driver)),
        (
            "failed",
            "The delivery failed",
            example("run-7-2", "order.failed").with("reason", "Nobody at home"),
        ),
        ("cash", "Cash was collected", example("run-7-3", "cod.collected").with("codAmountPaise", 154_800)),
    ];
    Operation {
        area: Area::Fleet,
        method: "post",
        path: "/v1/fleet/orders/{id}/events",
        id: "reportProgress",
        summary: "Report progress",
        description: "Moves a live order on. A repeated `eventId` is answered with 200 and changes nothing; with another body it is 422. \
                      `warnings` says what was recorded but may be wrong. \
                      An event that cannot follow is 409 with the `legal` ones, and is not remembered.",
        parameters: vec![in_path("id", order_id().with("format", "order-id"), &order.id.to_string())],
        body: Some(body(true, "Report", "What happened.", examples)),
        answers: vec![(
            200,
            success(
                "The order after it.",
                HEADERS,
                "ReportedOrder",
                [
                    ("moved", "The order", Json::of(&views::reported_view(order.clone(), order.updated_at))),
                    (
                        "early",
                        "Dated before the order",
                        Json::of(&views::reported_view(order, DateTime::UNIX_EPOCH)),
                    ),
                ],
            ),
        )],
        errors,
    }
}

fn list(samples: &Samples) -> Operation {
    let found = Page { data: vec![samples.order(Mode::Live, &[])], has_more: false };
    let found = Json::of(&FleetPage::new(found, None));
    let after = object! { "type": "string", "format": "date-time" };
    let mut parameters =
        vec![status_filter(), in_query("updatedAfter", "Only orders that changed after this time.", after)];
    let cursor = object! { "type": "string", "maxLength": 200, "format": "fleet-cursor",
    "description": "`next` of the page before; an order's `id` stands for its place." };
    parameters.extend(page(cursor));
    let mut errors = shared::fleet_token();
    errors.extend(shared::bad_page());
    errors.extend(shared::always());
    Operation {
        area: Area::Fleet,
        method: "get",
        path: "/v1/fleet/orders",
        id: "listFleetOrders",
        summary: "List orders",
        description: "Live orders of all businesses by their last change, oldest first: how a fleet learns of new and cancelled ones. Go \
                      on with `next`, now or later: nothing is missed.",
        parameters,
        body: None,
        answers: vec![(
            200,
            success("The orders.", HEADERS, "FleetOrderList", [("page", "One order", found)]),
        )],
        errors,
    }
}
