//! `POST …/orders/{id}/simulate {event}`: simulates the delivery of a test order. `event` is a kind that a fleet could
//! report, or `auto` for a whole delivery.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path, Payload};
use domain::{BusinessId, EventKind, FailureReason, KeyScope, Mode, OrderId};
use internal_api::orders::SimulatedOrderView;
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody, no_query, read_json};

use super::openapi::{bodies, params};
use super::{authenticate, errors, integration, views};
use crate::commands::simulate_progress::{simulate_progress, start_simulation};
use crate::state::State;

/// The requested simulation.
pub(super) enum Simulation {
    /// With the code of the reason, if the delivery fails.
    Event(EventKind, Option<FailureReason>),
    Auto,
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
    params(params::OrderPath),
    request_body(content = bodies::SimulateProgress, description = "The event."),
    responses((status = 200, description = "The order after it.", body = SimulatedOrderView)),
)]
pub(super) async fn of_key(
    state: Data<State>,
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
) -> Result<Json<SimulatedOrderView>, ApiError> {
    let caller = authenticate::business(&state, &request, KeyScope::WriteOrders).await?;
    no_query(&request)?;
    if caller.mode == Mode::Live {
        return Err(needs_test_key());
    }
    let id = integration::parse_id(&id)?;
    let requested = read(&read_json(&request, payload).await?)?;
    simulate(&state, caller.business_id, id, requested).await
}

/// `POST /internal/businesses/{business}/orders/{id}/simulate`
pub(super) async fn of_business(
    state: Data<State>,
    path: Path<(String, String)>,
    body: JsonBody,
) -> Result<Json<SimulatedOrderView>, ApiError> {
    let business = integration::parse_business(&path.0)?;
    let id = integration::parse_id(&path.1)?;
    let requested = read(&body.0)?;
    let order = integration::find(&state, business, None, &path.1).await?;
    if order.mode == Mode::Live {
        let message = "Only test orders can be simulated. This one is live.";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "simulate_needs_test_order", message));
    }
    simulate(&state, business, id, requested).await
}

pub(super) fn needs_test_key() -> ApiError {
    let message = "Only test orders can be simulated. Use the Test key.";
    ApiError::new(StatusCode::FORBIDDEN, "simulate_needs_test_key", message)
}

pub(super) fn read(body: &Value) -> Result<Simulation, ApiError> {
    if body.get("event").and_then(Value::as_str) == Some("auto") {
        return Ok(Simulation::Auto);
    }
    let field_errors = FieldErrors::default();
    let requested = Fields::of_body(body, &field_errors).and_then(|fields| {
        let event = integration::progress_event(&fields, "auto, ");
        let reason_code = integration::reason_code(&fields, event);
        Some(Simulation::Event(event?, reason_code))
    });
    match requested {
        Some(requested) if field_errors.is_empty() => Ok(requested),
        _ => Err(ApiError::invalid(field_errors)),
    }
}

async fn simulate(
    state: &Data<State>,
    business: BusinessId,
    id: OrderId,
    requested: Simulation,
) -> Result<Json<SimulatedOrderView>, ApiError> {
    let (tasks, running) = (state.tasks.clone(), Data::clone(state));
    let simulated = tasks
        .run(async move {
            match requested {
                Simulation::Event(event, reason_code) => {
                    simulate_progress(&running, business, id, event, reason_code).await
                }
                Simulation::Auto => start_simulation(&running, business, id).await,
            }
        })
        .await?;
    simulated
        .map(|simulated| Json(views::simulated_view(&state.tracking_urls, state.attempts, simulated)))
        .map_err(errors::from_simulate)
}
