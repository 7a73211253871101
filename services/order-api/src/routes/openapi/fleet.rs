//! The operations of the operator's driver system.
#![expect(dead_code, reason = "described, not called")]

use chrono::{DateTime, TimeDelta, Utc};
use domain::{EventKind, Mode};
use serde_json::json;
use utoipa::ToSchema;
use web::FieldErrors;

use super::answers::json;
use super::new_order::Amount;
use super::operation::Operation;
use super::parameters::{FleetQuery, OrderPath};
use super::samples::Samples;
use super::schema::{optional_text, schemas, text, words};
use super::shared;
use crate::commands::MoveError;
use crate::commands::record_progress::ReportError;
use crate::domain::FoundOrders;
use crate::routes::fleet::{
    DRIVER_NAME, DRIVER_PHONE, DRIVER_VEHICLE, EVENT_ID, REASON, is_cash, read_report,
};
use crate::routes::fleet_page::FleetPage;
use crate::routes::views::ReportedOrderView;
use crate::routes::{errors, views};

schemas! {
    FleetEventId = text(EVENT_ID);
    Reason = text(REASON);
    OptionalReason = optional_text(REASON);
    DriverName = text(DRIVER_NAME);
    OptionalDriverPhone = optional_text(DRIVER_PHONE);
    OptionalVehicle = optional_text(DRIVER_VEHICLE);
    MoveKind = kinds(|kind| kind != EventKind::OrderFailed && !is_cash(kind));
    FailureKind = kinds(|kind| kind == EventKind::OrderFailed);
    CashKind = kinds(is_cash);
}

fn kinds(is_meant: impl Fn(EventKind) -> bool) -> utoipa::openapi::ObjectBuilder {
    let progress = <EventKind as strum::VariantArray>::VARIANTS.iter().filter(|kind| kind.is_progress());
    words(progress.filter(|kind| is_meant(**kind)).map(|kind| kind.as_str()))
}

/// Something that happened to a delivery, by its `event`.
#[derive(ToSchema)]
#[serde(untagged)]
enum Report {
    Move(ReportedMove),
    Failure(ReportedFailure),
    Cash(ReportedCash),
}

/// The parcel moved.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ReportedMove {
    /// The fleet's own id of the report, which identifies a repeated one.
    event_id: FleetEventId,
    event: MoveKind,
    /// When it happened, by the fleet's clock; not in the future. A time more than five minutes before the order brings the warning
    /// `occurred_before_order`.
    occurred_at: DateTime<Utc>,
    driver: Option<ReportedDriver>,
    /// The reason, in words for the business.
    reason: Option<OptionalReason>,
    /// The cash, in paise.
    cod_amount_paise: Option<Amount>,
}

/// The delivery failed.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ReportedFailure {
    /// The fleet's own id of the report, which identifies a repeated one.
    event_id: FleetEventId,
    event: FailureKind,
    /// When it happened, as for a move.
    occurred_at: DateTime<Utc>,
    driver: Option<ReportedDriver>,
    /// The reason, in words for the business.
    reason: Reason,
    /// The cash, in paise.
    cod_amount_paise: Option<Amount>,
}

/// The cash moved.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ReportedCash {
    /// The fleet's own id of the report, which identifies a repeated one.
    event_id: FleetEventId,
    event: CashKind,
    /// When it happened, as for a move.
    occurred_at: DateTime<Utc>,
    driver: Option<ReportedDriver>,
    /// The reason, in words for the business.
    reason: Option<OptionalReason>,
    /// The cash, in paise.
    cod_amount_paise: Amount,
}

/// The driver, as the business may introduce them to its customer.
#[derive(ToSchema)]
struct ReportedDriver {
    /// Name of the driver.
    name: DriverName,
    /// Phone number of the driver.
    phone: Option<OptionalDriverPhone>,
    /// The vehicle that the customer looks out for.
    vehicle: Option<OptionalVehicle>,
}

pub(super) fn operations(samples: &Samples) -> Vec<Operation> {
    vec![report(samples), list(samples)]
}

/// Report progress
///
/// Moves a live order. A repeated `eventId` gets 200 and changes nothing; with another body it gets 422. `warnings` names parts that
/// were recorded but may be wrong. An event that cannot follow gets 409 with the `legal` ones, and is not recorded.
#[utoipa::path(
    post,
    path = "/v1/fleet/orders/{id}/events",
    operation_id = "reportProgress",
    tag = "Fleet",
    params(OrderPath),
    request_body(content = Report, description = "What happened."),
    responses((status = 200, description = "The order after it.", body = ReportedOrderView)),
)]
pub(super) fn report_progress() {}

fn report(samples: &Samples) -> Operation {
    let order = samples.order(Mode::Live, &[EventKind::DriverAssigned]);
    let illegal = order.state.apply(EventKind::OrderDelivered).err().map(MoveError::Illegal);
    let bad = json!({ "eventId": "run-7-1", "event": "order.failed", "occurredAt": "yesterday" });
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
    let body = |id: &str, event: &str, more: &str| {
        format!(r#"{{"eventId":"{id}","event":"{event}","occurredAt":"2026-01-31T09:31:00Z",{more}}}"#)
    };
    let driver = r#""driver":{"name":"Ravi Kumar","phone":"+919800000003","vehicle":"KA01AB1234"}"#;
    Operation {
        id: "reportProgress",
        bodies: vec![
            ("assigned", "A driver is assigned", body("run-7-1", "driver.assigned", driver)),
            (
                "failed",
                "The delivery failed",
                body("run-7-2", "order.failed", r#""reason":"Nobody at home""#),
            ),
            ("cash", "Cash was collected", body("run-7-3", "cod.collected", r#""codAmountPaise":154800"#)),
        ],
        answers: vec![
            ("moved", "The order", json(&views::reported_view(order.clone(), order.updated_at))),
            ("early", "Dated before the order", json(&views::reported_view(order, DateTime::UNIX_EPOCH))),
        ],
        errors,
        ..Operation::default()
    }
}

/// List orders for the fleet
///
/// Live orders of all businesses by their last change, oldest first: a fleet learns of new and cancelled orders here. Continue with
/// `next`, now or later: no change is missed.
#[utoipa::path(
    get,
    path = "/v1/fleet/orders",
    operation_id = "listFleetOrders",
    tag = "Fleet",
    params(FleetQuery),
    responses((status = 200, description = "The orders.", body = FleetPage)),
)]
pub(super) fn list_fleet_orders() {}

fn list(samples: &Samples) -> Operation {
    let found = FoundOrders { orders: vec![samples.order(Mode::Live, &[])], has_more: false };
    let mut errors = shared::fleet_token();
    errors.extend(shared::bad_page());
    errors.extend(shared::always());
    let answers = vec![("page", "One order", json(&FleetPage::new(found, None)))];
    Operation { id: "listFleetOrders", answers, errors, ..Operation::default() }
}
