//! From what a command could not do to what the caller is told (`spec.md` §7, `design.md` §5). The one place where a
//! status is chosen.

use actix_web::http::StatusCode;
use domain::{DeliveryState, EventKind, GoLiveItem, IllegalMove, Paise};
use postgres::StoreError;
use serde_json::json;
use web::ApiError;

use crate::commands::MoveError;
use crate::commands::create_order::{CreateError, InvalidOrder};
use crate::commands::erase_personal_data::EraseError;
use crate::commands::record_progress::ReportError;
use crate::commands::simulate_progress::SimulateError;
use crate::domain::Claim;

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

pub(super) fn from_create(error: CreateError, tracking_url: impl Fn(&Claim) -> String) -> ApiError {
    match error {
        CreateError::KeyReused => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_key_reused",
            "This Idempotency-Key was used for another request. Use one key per order, and send the same body when you retry.",
        ),
        CreateError::Locked { missing } => locked(&missing),
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
    let error = ApiError::invalid(invalid.faults);
    if invalid.warnings.is_empty() { error } else { error.with("warnings", json!(invalid.warnings)) }
}

fn locked(missing: &[GoLiveItem]) -> ApiError {
    let open: Vec<_> = missing.iter().map(|item| item.label()).collect();
    let message = format!(
        "Live orders are locked until these are done: {}. Until then, use the Test key.",
        open.join("; ")
    );
    ApiError::new(StatusCode::FORBIDDEN, "live_api_locked", message).with("missing", json!(missing))
}

fn reference_exists(claim: &Claim, tracking_url: String) -> ApiError {
    ApiError::new(
        StatusCode::CONFLICT,
        "order_reference_exists",
        "An order with this orderReference exists. Use its tracking details, or retry with the Idempotency-Key it was placed with.",
    )
    .with(
        "order",
        json!({
            "id": claim.order_id,
            "serviceOrderId": claim.order_id,
            "orderReference": claim.order_reference,
            "trackingCode": claim.tracking_code,
            "trackingUrl": tracking_url,
            "status": claim.status,
        }),
    )
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
