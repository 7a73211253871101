//! Converts errors of commands to responses (SPECIFICATION §7). Only this file chooses a status.

use actix_web::http::StatusCode;
use domain::{DeliveryState, DeliveryStatus, EventKind, GoLiveItem, IllegalMove, OrderId, Paise};
use postgres::StoreError;
use serde_json::{Value, json};
use web::ApiError;

use crate::commands::MoveError;
use crate::commands::correct_delivery::CorrectError;
use crate::commands::create_order::{CreateError, InvalidOrder, LockedBusiness, ReusedKey};
use crate::commands::decide_after_failure::DecideError;
use crate::commands::erase_personal_data::EraseError;
use crate::commands::issue_delivery_code::IssueError;
use crate::commands::record_progress::ReportError;
use crate::commands::simulate_progress::SimulateError;
use crate::domain::{Decided, Decision, ExistingOrder, Placement, Refusal};
use crate::feed_waiters::{TooManyWaiting, WAITING_PER_KEY_MAX};
use crate::queries::feed::FeedError;
use crate::queries::orders::ListError;

pub(super) fn order_not_found() -> ApiError {
    ApiError::not_found("order_not_found", "order")
}

/// For a text in place of an order's id. Says what the text probably is.
pub(super) fn no_order_id(text: &str) -> ApiError {
    let shown = shown(text);
    let message = if text.starts_with(OrderId::PREFIX) {
        format!(
            "{shown} is not the id of an order, which is {} and 26 characters. Use the id of the response that created the \
             order; ord_… in an example stands for it.",
            OrderId::PREFIX
        )
    } else {
        let reference: String = url::form_urlencoded::byte_serialize(shown.as_bytes()).collect();
        format!(
            "{shown} is not the id of an order, which begins with {}. To find an order by your own reference, call GET \
             /v1/integration/orders?orderReference={reference}.",
            OrderId::PREFIX
        )
    };
    ApiError::new(StatusCode::NOT_FOUND, "order_not_found", message)
}

/// Of a path or an address: an error is never much larger than the request.
fn shown(text: &str) -> String {
    text.chars().take(SHOWN_MAX).collect()
}

/// As long as a reference.
const SHOWN_MAX: usize = 128;
const INTEGRATION: &str = "/v1/integration/";

/// For an address that lacks the version, or has it twice: the client's base URL is wrong.
pub(super) fn without_version(path: &str) -> Option<ApiError> {
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty() && *part != "v1").collect();
    let meant = format!("{INTEGRATION}{}", parts.strip_prefix(["integration"].as_slice())?.join("/"));
    if path.starts_with(INTEGRATION) {
        return None;
    }
    let message = format!(
        "There is nothing at this address. The base URL ends with /v1, so the address is {}.",
        shown(&meant)
    );
    Some(ApiError::new(StatusCode::NOT_FOUND, "not_found", message))
}

pub(super) fn event_not_found() -> ApiError {
    ApiError::not_found("event_not_found", "event")
}

pub(super) fn from_list(error: ListError) -> ApiError {
    const TOO_BROAD: &str =
        "The search takes too long, because too many orders match. Enter more words, or choose a period.";
    match error {
        ListError::TooBroad => ApiError::invalid_field("search", "too_broad", TOO_BROAD),
        ListError::Store(error) => error.into(),
    }
}

/// When a place among the waiting calls is probably free.
const WAITING_RETRY_S: u32 = 5;

pub(super) fn from_feed(error: FeedError) -> ApiError {
    match error {
        FeedError::TooManyWaiting(limit) => too_many_waiting(limit),
        FeedError::Store(error) => error.into(),
    }
}

fn too_many_waiting(limit: TooManyWaiting) -> ApiError {
    let message = match limit {
        TooManyWaiting::OfKey => format!(
            "At most {WAITING_PER_KEY_MAX} calls of an API key may wait for events at once. Read the feed with one call at a \
             time, or leave waitSeconds out."
        ),
        TooManyWaiting::OfAll => {
            "The service is at its limit of waiting calls. Retry later, or leave waitSeconds out.".to_owned()
        }
    };
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_waiting", message).retry_after(WAITING_RETRY_S)
}

/// `brand` names the contact for locked businesses.
pub(super) fn from_create(
    error: CreateError,
    brand: &str,
    tracking_url: impl Fn(&ExistingOrder) -> String,
) -> ApiError {
    match error {
        CreateError::KeyReused(reused) => key_reused(&reused, tracking_url(&reused.existing)),
        CreateError::Locked { missing, business } => locked(&missing, business, brand),
        CreateError::Invalid(invalid) => invalid_order(invalid),
        CreateError::ReferenceExists(existing) => reference_exists(&existing, tracking_url(&existing)),
        CreateError::OrderInProgress => ApiError::new(
            StatusCode::CONFLICT,
            "order_in_progress",
            "Another request for this orderReference is still being paid. Retry with its Idempotency-Key.",
        )
        .retry_after(2),
        CreateError::InsufficientBalance { balance, owed, required } => {
            insufficient_balance(balance, owed, required)
        }
        CreateError::Unknown => ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "outcome_unknown",
            "The outcome is not known yet. Retry with the same Idempotency-Key: the order is placed and paid once at most.",
        )
        .retry_after(2),
        CreateError::KeyInProgress => ApiError::new(
            StatusCode::CONFLICT,
            "idempotency_in_progress",
            "The first request with this Idempotency-Key is still running. Repeat this one in a few seconds to get its response.",
        )
        .retry_after(2),
        CreateError::Peer(error) => error.into(),
        CreateError::Store(error) => error.into(),
    }
}

fn invalid_order(invalid: InvalidOrder) -> ApiError {
    let error = ApiError::invalid(invalid.field_errors);
    if invalid.warnings.is_empty() { error } else { error.with("warnings", json!(invalid.warnings)) }
}

/// Names the contact of a business that has placed live orders before: a Test key does not help it.
fn locked(missing: &[GoLiveItem], business: LockedBusiness, brand: &str) -> ApiError {
    let open: Vec<_> = missing.iter().map(|item| item.label()).collect();
    let open = open.join("; ");
    let message = match business {
        LockedBusiness::Closing => format!(
            "The business is being closed: it places no live orders any more. If it should stay, contact {brand}; an owner can \
             withdraw a closing that an owner began. Afterwards, retry with the same Idempotency-Key."
        ),
        LockedBusiness::WasLive => format!(
            "Live orders of this business are stopped until these are true again: {open}. Contact {brand}. Once they are true, \
             retry with the same Idempotency-Key."
        ),
        LockedBusiness::New => {
            format!("Live orders are locked until these are done: {open}. Until then, use the Test key.")
        }
    };
    ApiError::new(StatusCode::FORBIDDEN, "live_api_locked", message).with("missing", json!(missing))
}

/// In the message; `differences` lists more.
const DIFFERENCES_NAMED: usize = 5;

fn key_reused(reused: &ReusedKey, tracking_url: String) -> ApiError {
    let ReusedKey { existing, differences } = reused;
    let named = differences.iter().take(DIFFERENCES_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let differs = match differences.len() {
        0 => String::new(),
        1..=DIFFERENCES_NAMED => format!(" This request differs in {named}."),
        many => format!(" This request differs in {named} and {} more.", many - DIFFERENCES_NAMED),
    };
    // An unpaid order may be released, so the caller must not store its id and tracking code.
    let is_placed = existing.placement == Placement::Placed;
    let held = match is_placed {
        true => format!("{} ({})", existing.order_reference, existing.order_id),
        false => format!("{}, which is still being paid", existing.order_reference),
    };
    let message = format!(
        "This Idempotency-Key was used for another request: it holds the order {held}.{differs} Use one key per order, and \
         send the same body when you retry."
    );
    let error = ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused", message);
    let error = if is_placed { error.with("order", existing_order(existing, tracking_url)) } else { error };
    if differences.is_empty() { error } else { error.with("differences", json!(differences)) }
}

fn reference_exists(existing: &ExistingOrder, tracking_url: String) -> ApiError {
    let message = match existing.status {
        DeliveryStatus::Cancelled => {
            "The order with this orderReference is cancelled. To have it delivered after all, send it with a new \
             orderReference and a new Idempotency-Key."
        }
        _ => {
            "An order with this orderReference exists. Use its tracking details, or retry with the Idempotency-Key it was placed with."
        }
    };
    ApiError::new(StatusCode::CONFLICT, "order_reference_exists", message)
        .with("order", existing_order(existing, tracking_url))
}

fn existing_order(existing: &ExistingOrder, tracking_url: String) -> Value {
    json!({
        "id": existing.order_id,
        "serviceOrderId": existing.order_id,
        "orderReference": existing.order_reference,
        "trackingCode": existing.tracking_code,
        "trackingUrl": tracking_url,
        "status": existing.status,
    })
}

/// A top-up pays what the business owes first, so that it must cover both.
fn insufficient_balance(balance: Paise, owed: Paise, required: Paise) -> ApiError {
    let lacking = required.checked_sub(balance).and_then(|lacking| lacking.checked_add(owed));
    let shortfall = lacking.unwrap_or(required);
    let message = if owed > Paise::ZERO {
        format!(
            "The wallet holds {balance}, and the delivery costs {required}. The business also owes {owed}, which a top-up pays first. Top it up by {shortfall} and retry."
        )
    } else {
        format!("The wallet holds {balance} and the delivery costs {required}. Top it up and retry.")
    };
    ApiError::new(StatusCode::PAYMENT_REQUIRED, "insufficient_wallet_balance", message)
        .with("balancePaise", json!(balance))
        .with("requiredPaise", json!(required))
        .with("shortfallPaise", json!(shortfall))
}

/// For a cancellation after the pickup.
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

pub(super) fn from_decide(error: DecideError) -> ApiError {
    let (decision, refusal) = match error {
        DecideError::NotFound => return order_not_found(),
        DecideError::Store(error) => return error.into(),
        DecideError::Changed(present) => return decision_changed(present),
        DecideError::Refused(decision, refusal) => (decision, refusal),
    };
    let (code, wanted) = match decision {
        Decision::Reattempt { .. } => ("reattempt_not_possible", "attempted again"),
        Decision::Return => ("return_not_possible", "returned"),
    };
    let message = match refusal {
        Refusal::NotFailed(status) => format!(
            "The order is {status}. It is {wanted} after an attempt that failed, while the fleet has the parcel."
        ),
        Refusal::Refunded(status) => format!(
            "The order ended as {status} before its pickup; the fee of a live order is refunded. Place a new \
             order, with a new orderReference and a new Idempotency-Key."
        ),
        Refusal::AttemptsUsed(max) => {
            format!("The order had all of its {max} attempts. Request its return, and place a new order.")
        }
        Refusal::Erased => {
            "The address of the order is erased. Request its return, and place a new order.".to_owned()
        }
    };
    ApiError::new(StatusCode::CONFLICT, code, message)
}

/// For the portal, whose people saw another decision in a list.
fn decision_changed(present: Option<Decided>) -> ApiError {
    let now = match present.map(|decided| decided.decision) {
        Some(Decision::Reattempt { on: Some(day) }) => {
            format!("another attempt on {} is requested", day.format("%-d %b %Y"))
        }
        Some(Decision::Reattempt { on: None }) => "another attempt is requested".to_owned(),
        Some(Decision::Return) => "the return is requested".to_owned(),
        None => "nothing is requested any more".to_owned(),
    };
    let message = format!("Changed since you looked: {now}. Nothing was replaced. Look again, then decide.");
    ApiError::new(StatusCode::CONFLICT, "decision_changed", message)
}

pub(super) fn from_correct(error: CorrectError) -> ApiError {
    let message = match error {
        CorrectError::NotFound => return order_not_found(),
        CorrectError::Store(error) => return error.into(),
        CorrectError::Ended(status) => {
            format!("The order is {status}. An address is corrected before the delivery has ended.")
        }
        CorrectError::Erased => "The personal data of the order is erased. Place a new order.".to_owned(),
    };
    ApiError::new(StatusCode::CONFLICT, "delivery_not_correctable", message)
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
        EraseError::Store(error) => error.into(),
    }
}

pub(super) fn from_move(error: MoveError) -> ApiError {
    match error {
        MoveError::NotFound => order_not_found(),
        MoveError::Illegal(illegal) => illegal_move(&illegal),
        MoveError::Store(error) => error.into(),
    }
}

pub(super) fn from_simulate(error: SimulateError) -> ApiError {
    match error {
        SimulateError::NothingLeft(state, legal) => {
            let hint = if legal.contains(&EventKind::DriverAssigned) {
                " Request another attempt first."
            } else {
                ""
            };
            let message = format!(
                "Nothing leads from status {} to a delivery.{hint} Possible now: {}.",
                state.status,
                in_words(&legal)
            );
            refused_move(state, &legal, message)
        }
        SimulateError::Move(error) => from_move(error),
    }
}

fn illegal_move(illegal: &IllegalMove) -> ApiError {
    let DeliveryState { status, cod, .. } = illegal.from;
    let is_of_cash = illegal.event.is_cash() && status == DeliveryStatus::Delivered;
    let present = if is_of_cash { format!("cash status {cod}") } else { format!("status {status}") };
    let message =
        format!("{} cannot follow {present}. Possible now: {}.", illegal.event, in_words(&illegal.legal));
    refused_move(illegal.from, &illegal.legal, message)
}

fn in_words(legal: &[EventKind]) -> String {
    let names: Vec<_> = legal.iter().map(|event| event.as_str()).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// With the current state and the legal events.
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
        ReportError::NoCode => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "delivery_code_not_issued",
            "The business issued no delivery code for this order. Report the delivery without one.",
        ),
        ReportError::WrongCode { left } => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "delivery_code_wrong",
            format!(
                "The delivery code is wrong. {left} more may be wrong. Ask the customer again, or report the delivery without \
                 one."
            ),
        ),
        ReportError::CodeBlocked => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "delivery_code_blocked",
            "Too many delivery codes were wrong. Report the delivery without one.",
        ),
        ReportError::Move(error) => from_move(error),
    }
}

pub(super) fn from_issue(error: IssueError) -> ApiError {
    match error {
        IssueError::NotFound => order_not_found(),
        IssueError::Ended(status) => ApiError::new(
            StatusCode::CONFLICT,
            "delivery_code_not_possible",
            format!("The order is {status}. A delivery code is issued before the delivery has ended."),
        ),
        IssueError::Store(error) => error.into(),
    }
}

/// For a stored record that is no record.
pub(super) fn unreadable_evidence(error: serde_json::Error) -> ApiError {
    StoreError::Corrupt(format!("delivery_evidence: {error}")).into()
}
