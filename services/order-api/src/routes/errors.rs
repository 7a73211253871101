//! From what a command could not do to what the caller is told (SPECIFICATION §7, SPECIFICATION §12). The one place where a
//! status is chosen.

use actix_web::http::StatusCode;
use domain::{DeliveryState, DeliveryStatus, EventKind, GoLiveItem, IllegalMove, Paise};
use postgres::StoreError;
use serde_json::{Value, json};
use web::ApiError;

use crate::commands::MoveError;
use crate::commands::create_order::{CreateError, InvalidOrder, ReusedKey};
use crate::commands::erase_personal_data::EraseError;
use crate::commands::record_progress::ReportError;
use crate::commands::simulate_progress::SimulateError;
use crate::domain::{Claim, Placement};

pub(super) fn from_store(error: StoreError) -> ApiError {
    if error.is_unavailable() {
        tracing::warn!(%error, "the database did not answer");
        ApiError::unavailable()
    } else {
        ApiError::internal(error)
    }
}

pub(super) fn order_not_found() -> ApiError {
    ApiError::not_found("order_not_found", "order")
}

/// `brand` is whom to contact.
pub(super) fn from_create(
    error: CreateError,
    brand: &str,
    tracking_url: impl Fn(&Claim) -> String,
) -> ApiError {
    match error {
        CreateError::KeyReused(reused) => key_reused(&reused, tracking_url(&reused.claim)),
        CreateError::Locked { missing, was_live } => locked(&missing, was_live.then_some(brand)),
        CreateError::Invalid(invalid) => invalid_order(invalid),
        CreateError::ReferenceExists(claim) => reference_exists(&claim, tracking_url(&claim)),
        CreateError::OrderInProgress => ApiError::new(
            StatusCode::CONFLICT,
            "order_in_progress",
            "Another request for this orderReference is still being paid. Retry with its Idempotency-Key.",
        )
        .retry_after(2),
        CreateError::InsufficientBalance { balance, required } => insufficient_balance(balance, required),
        CreateError::Unknown => ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "outcome_unknown",
            "The outcome is not known yet. Retry with the same Idempotency-Key: the order is placed and paid once at most.",
        )
        .retry_after(2),
        CreateError::KeyInProgress => ApiError::new(
            StatusCode::CONFLICT,
            "idempotency_in_progress",
            "An earlier request with this Idempotency-Key is still being worked on. Send the same again in a moment: its answer will be yours.",
        )
        .retry_after(2),
        CreateError::Peer(error) => error.into(),
        CreateError::Store(error) => from_store(error),
    }
}

fn invalid_order(invalid: InvalidOrder) -> ApiError {
    let error = ApiError::invalid(invalid.field_errors);
    if invalid.warnings.is_empty() { error } else { error.with("warnings", json!(invalid.warnings)) }
}

/// `contact`: the business has placed live orders before, so that a Test key is no way out.
fn locked(missing: &[GoLiveItem], contact: Option<&str>) -> ApiError {
    let open: Vec<_> = missing.iter().map(|item| item.label()).collect();
    let open = open.join("; ");
    let message = match contact {
        Some(brand) => format!(
            "Live orders of this business are stopped until these are true again: {open}. Contact {brand} to have them \
             restored; then retry with the same Idempotency-Key."
        ),
        None => format!("Live orders are locked until these are done: {open}. Until then, use the Test key."),
    };
    ApiError::new(StatusCode::FORBIDDEN, "live_api_locked", message).with("missing", json!(missing))
}

/// How many fields a message names; `differences` names more.
const DIFFERENCES_TOLD: usize = 5;

fn key_reused(reused: &ReusedKey, tracking_url: String) -> ApiError {
    let ReusedKey { claim, differences } = reused;
    let told = differences.iter().take(DIFFERENCES_TOLD).map(String::as_str).collect::<Vec<_>>().join(", ");
    let differs = match differences.len() {
        0 => String::new(),
        1..=DIFFERENCES_TOLD => format!(" This request differs in {told}."),
        many => format!(" This request differs in {told} and {} more.", many - DIFFERENCES_TOLD),
    };
    // One that is not paid yet may never be an order: its id and tracking code are not to be kept.
    let is_placed = claim.placement == Placement::Placed;
    let held = match is_placed {
        true => format!("{} ({})", claim.order_reference, claim.order_id),
        false => format!("{}, which is still being paid", claim.order_reference),
    };
    let message = format!(
        "This Idempotency-Key was used for another request: it holds the order {held}.{differs} Use one key per order, and \
         send the same body when you retry."
    );
    let error = ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused", message);
    let error = if is_placed { error.with("order", existing_order(claim, tracking_url)) } else { error };
    if differences.is_empty() { error } else { error.with("differences", json!(differences)) }
}

fn reference_exists(claim: &Claim, tracking_url: String) -> ApiError {
    let message = match claim.status {
        DeliveryStatus::Cancelled => {
            "The order with this orderReference is cancelled. To have it delivered after all, send it with a new \
             orderReference and a new Idempotency-Key."
        }
        _ => {
            "An order with this orderReference exists. Use its tracking details, or retry with the Idempotency-Key it was placed with."
        }
    };
    ApiError::new(StatusCode::CONFLICT, "order_reference_exists", message)
        .with("order", existing_order(claim, tracking_url))
}

fn existing_order(claim: &Claim, tracking_url: String) -> Value {
    json!({
        "id": claim.order_id,
        "serviceOrderId": claim.order_id,
        "orderReference": claim.order_reference,
        "trackingCode": claim.tracking_code,
        "trackingUrl": tracking_url,
        "status": claim.status,
    })
}

fn insufficient_balance(balance: Paise, required: Paise) -> ApiError {
    let shortfall = required.checked_sub(balance).unwrap_or(required);
    let message =
        format!("The wallet holds {balance} and the delivery costs {required}. Top it up and retry.");
    ApiError::new(StatusCode::PAYMENT_REQUIRED, "insufficient_wallet_balance", message)
        .with("balancePaise", json!(balance))
        .with("requiredPaise", json!(required))
        .with("shortfallPaise", json!(shortfall))
}

/// A move that was asked for by a cancel: after the pickup there is no way back.
pub(super) fn from_cancel(error: MoveError) -> ApiError {
    match error {
        MoveError::Illegal(illegal) => ApiError::new(
            StatusCode::CONFLICT,
            "order_not_cancellable",
            format!("The order can no longer be cancelled: it is {}.", illegal.from.status),
        )
        .with("status", json!(illegal.from.status)),
        other => from_move(other),
    }
}

pub(super) fn from_erase(error: EraseError) -> ApiError {
    match error {
        EraseError::NotFound => order_not_found(),
        EraseError::NotCompleted(status) => ApiError::new(
            StatusCode::CONFLICT,
            "order_not_completed",
            format!(
                "The order is {status}. Personal data is erased once an order is delivered, cancelled or returned, or failed before its pickup."
            ),
        )
        .with("status", json!(status)),
        EraseError::Store(error) => from_store(error),
    }
}

pub(super) fn from_move(error: MoveError) -> ApiError {
    match error {
        MoveError::NotFound => order_not_found(),
        MoveError::Illegal(illegal) => illegal_move(&illegal),
        MoveError::Store(error) => from_store(error),
    }
}

pub(super) fn from_simulate(error: SimulateError) -> ApiError {
    match error {
        SimulateError::NothingLeft(state) => {
            let message = format!(
                "Nothing leads from status {} to a delivery. Possible now: {}.",
                state.status,
                in_words(&state.legal())
            );
            refused_move(state, &state.legal(), message)
        }
        SimulateError::Move(error) => from_move(error),
    }
}

fn illegal_move(illegal: &IllegalMove) -> ApiError {
    let message = format!(
        "{} cannot follow status {}. Possible now: {}.",
        illegal.event,
        illegal.from.status,
        in_words(&illegal.legal)
    );
    refused_move(illegal.from, &illegal.legal, message)
}

fn in_words(legal: &[EventKind]) -> String {
    let names: Vec<_> = legal.iter().map(|event| event.as_str()).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// With where the order is and what could happen instead.
fn refused_move(state: DeliveryState, legal: &[EventKind], message: String) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, "illegal_transition", message)
        .with("status", json!(state.status))
        .with("codStatus", json!(state.cod))
        .with("legal", json!(legal))
}

pub(super) fn from_report(error: ReportError) -> ApiError {
    match error {
        ReportError::EventIdReused => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "event_id_reused",
            "This eventId was used for another report. Give each report an id of its own.",
        ),
        ReportError::Move(error) => from_move(error),
    }
}
