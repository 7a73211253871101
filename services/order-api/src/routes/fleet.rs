//! The fleet API: the fleet reports progress, and polls for new and cancelled orders.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path, Payload};
use chrono::{DateTime, Datelike, TimeDelta, Utc};
use domain::{EventKind, OrderId, Paise};
use events::{Driver, ProgressData};
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, TextRule, no_query, read_json, read_query};

use super::fleet_page::{FleetCursor, FleetPage};
use super::limits::{DRIVER_NAME, DRIVER_PHONE, DRIVER_VEHICLE, REASON, REPORT_ID};
use super::openapi::{bodies, params};
use super::views::{ReportedOrderView, reported_view};
use super::{authenticate, errors, evidence, integration};
use crate::commands::record_progress::{FleetReport, record_progress};
use crate::domain::{ChangePosition, Fingerprint, FleetFilter};
use crate::order_events::Progress;
use crate::queries::all_businesses;
use crate::state::State;

/// How far the clock of a fleet may be ahead.
const CLOCK_AHEAD_MAX: TimeDelta = TimeDelta::minutes(5);

/// Report progress
///
/// Moves a live order. A repeated `eventId` gets 200 and changes nothing; with another body it gets 422. `warnings` names parts that
/// were recorded but may be wrong. An event that cannot follow gets 409 with the `legal` ones, and is not recorded.
#[utoipa::path(
    post,
    path = "/v1/fleet/orders/{id}/events",
    operation_id = "reportProgress",
    tag = "Fleet",
    params(params::OrderPath),
    request_body(content = bodies::Report, description = "What happened."),
    responses((status = 200, description = "The order after it.", body = ReportedOrderView)),
)]
pub(super) async fn report(
    state: Data<State>,
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
) -> Result<Json<ReportedOrderView>, ApiError> {
    authenticate::fleet(&state, &request)?;
    no_query(&request)?;
    let body = read_json(&request, payload).await?;
    let order_id = id.parse().map_err(|_| errors::order_not_found())?;
    let field_errors = FieldErrors::default();
    let report = read_report(&body, &field_errors, order_id, state.unit.clock.now());
    let report = match report {
        Some(report) if field_errors.is_empty() => report,
        _ => return Err(ApiError::invalid(field_errors)),
    };
    let occurred_at = report.progress.occurred_at;
    let (tasks, running) = (state.tasks.clone(), Data::clone(&state));
    let moved = tasks.run(async move { record_progress(&running, report).await }).await?;
    moved.map(|order| Json(reported_view(order, occurred_at))).map_err(errors::from_report)
}

pub(super) fn read_report(
    body: &Value,
    field_errors: &FieldErrors,
    order_id: OrderId,
    now: DateTime<Utc>,
) -> Option<FleetReport> {
    let fields = Fields::of_body(body, field_errors)?;
    let event_id = fields.required_text("eventId", REPORT_ID);
    let event = integration::progress_event(&fields, "");
    let occurred_at = past_time(&fields, "occurredAt", now);
    let driver = fields.optional_object("driver").and_then(|driver| read_driver(&driver));
    let reason = match event {
        Some(EventKind::OrderFailed) => fields.required_text("reason", REASON),
        _ => fields.optional_text("reason", REASON),
    };
    let reason_code = integration::reason_code(&fields, event);
    let cod_amount = match event {
        Some(event) if event.is_cash() => {
            fields.required_integer("codAmountPaise", 0, Paise::REQUEST_MAX.get())
        }
        _ => fields.optional_integer("codAmountPaise", 0, Paise::REQUEST_MAX.get()),
    };
    let (evidence, delivery_code) = evidence::read_evidence(&fields, event, now);
    let reason_code = reason_code.map(|code| code.to_string());
    let cod_amount_paise = cod_amount.map(Paise::new);
    let data = ProgressData { driver, reason, reason_code, cod_amount_paise, ..ProgressData::default() };
    Some(FleetReport {
        event_id: event_id?,
        order_id,
        fingerprint: Fingerprint::of(body),
        progress: Progress { event: event?, data, occurred_at: occurred_at? },
        evidence,
        delivery_code,
    })
}

/// A required time by the fleet's clock.
pub(super) fn past_time(fields: &Fields<'_>, name: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let text = fields.required_text(name, TextRule::line(40))?;
    let path = fields.path_of(name);
    let parsed = DateTime::parse_from_rfc3339(&text).map(|time| time.with_timezone(&Utc));
    // RFC 3339 has no year before 0, but the conversion to UTC can produce one.
    let Some(time) = parsed.ok().filter(|time| time.year() >= 0) else {
        let message = format!("{path} must be a time as RFC 3339 writes it, such as 2026-01-31T09:30:00Z.");
        fields.reject(name, "invalid_format", message);
        return None;
    };
    if time > now + CLOCK_AHEAD_MAX {
        fields.reject(name, "out_of_range", format!("{path} must not lie in the future."));
        return None;
    }
    // As the database stores it: the webhook and the events feed must have the same bytes. Leap seconds become the next one.
    DateTime::from_timestamp_micros(time.timestamp_micros())
}

fn read_driver(fields: &Fields<'_>) -> Option<Driver> {
    let name = fields.required_text("name", DRIVER_NAME);
    let phone = fields.optional_text("phone", DRIVER_PHONE);
    let vehicle = fields.optional_text("vehicle", DRIVER_VEHICLE);
    Some(Driver { name: name?, phone, vehicle })
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
    params(params::FleetQuery),
    responses((status = 200, description = "The orders.", body = FleetPage)),
)]
// A listed change is never followed by an earlier one that commits late. So a fleet misses nothing, whether it continues with
// `next` or asks for changes after the last `updatedAt`.
pub(super) async fn list(state: Data<State>, request: HttpRequest) -> Result<Json<FleetPage>, ApiError> {
    authenticate::fleet(&state, &request)?;
    let (page, status, updated_after) = read_query(&request, |fields| {
        let status = fields.parsed("status", integration::DELIVERY_STATUSES);
        (fields.page(), status, integration::updated_after(fields))
    })?;
    let after = match page.starting_after.as_deref().map(FleetCursor::parse) {
        None => None,
        Some(None) => return Err(integration::unknown_cursor()),
        Some(Some(FleetCursor::At(position))) => Some(position),
        Some(Some(FleetCursor::Order(id))) => {
            let position = all_businesses::fleet_position(&state, id).await?;
            Some(position.ok_or_else(integration::unknown_cursor)?)
        }
    };
    let filter = FleetFilter { status, updated_after, after };
    let found = all_businesses::for_fleet(&state, &filter, page.limit).await?;
    let start = filter.after.or_else(|| updated_after.map(ChangePosition::after));
    Ok(Json(FleetPage::new(found, start)))
}
