//! Closing a business.

use actix_web::http::StatusCode;
use serde_json::json;
use web::ApiError;

use super::{business_not_found, role_insufficient};
use crate::business::commands::closing::ClosingError;
use crate::business::commands::complete_closing::CompleteClosingError;
use crate::business::commands::open_items::OpenItemsError;
use crate::business::domain::OpenItem;
use crate::domain::Permission;

pub(crate) fn business_closing() -> ApiError {
    conflict(
        "business_closing",
        "The business is being closed. Withdraw the closing first, if that is still possible.",
    )
}

pub(crate) fn business_closed() -> ApiError {
    conflict("business_closed", "The business is closed. This cannot be undone.")
}

pub(crate) fn closing_ends() -> ApiError {
    conflict(
        "closing_ends",
        "Keys and endpoints are being ended. Settle what is open, and complete the closing.",
    )
}

pub(crate) fn closing(error: ClosingError) -> ApiError {
    match error {
        ClosingError::Unknown => business_not_found(),
        ClosingError::NotOwner => role_insufficient(Permission::ManageBusiness),
        ClosingError::Closed => business_closed(),
        ClosingError::Ends => closing_ends(),
        ClosingError::OfOperator => conflict(
            "closing_of_operator",
            "Your delivery company is closing your business. Ask it to withdraw the closing.",
        ),
        ClosingError::Store(error) => error.into(),
    }
}

pub(crate) fn complete_closing(error: CompleteClosingError) -> ApiError {
    match error {
        CompleteClosingError::Unknown => business_not_found(),
        CompleteClosingError::NotBegun => {
            conflict("closing_not_begun", "Nobody is closing this business. Begin the closing first.")
        }
        CompleteClosingError::Open(items) => {
            let open = labels(&items);
            let message = format!("The business cannot be closed yet: {open}. Settle this first.");
            not_settled(message, &items)
        }
        CompleteClosingError::StillOpen(items) => {
            let open = labels(&items);
            let message = format!(
                "Keys and endpoints are being ended, and the closing cannot be withdrawn. Still open: {open}. Settle this first."
            );
            not_settled(message, &items)
        }
        CompleteClosingError::Peer(error) => error.into(),
        CompleteClosingError::Items(error) => open_items(error),
        CompleteClosingError::Store(error) => error.into(),
    }
}

pub(crate) fn open_items(error: OpenItemsError) -> ApiError {
    match error {
        OpenItemsError::Peer(error) => error.into(),
        OpenItemsError::Store(error) => error.into(),
    }
}

fn not_settled(message: String, items: &[OpenItem]) -> ApiError {
    conflict("closing_not_settled", message).with("unsettled", json!(items))
}

/// Names every item.
fn labels(items: &[OpenItem]) -> String {
    items.iter().map(|item| item.label()).collect::<Vec<_>>().join("; ")
}

fn conflict(code: &str, message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, code, message)
}
