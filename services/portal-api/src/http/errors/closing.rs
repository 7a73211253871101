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
        "The business is being closed, or is closed. Withdraw the closing first, if it is not complete.",
    )
}

pub(crate) fn business_closed() -> ApiError {
    conflict("business_closed", "The business is closed. This cannot be undone.")
}

pub(crate) fn closing(error: ClosingError) -> ApiError {
    match error {
        ClosingError::Unknown => business_not_found(),
        ClosingError::NotOwner => role_insufficient(Permission::ManageBusiness),
        ClosingError::Closed => business_closed(),
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
        CompleteClosingError::Open(items) => still_open(&items),
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

/// Names every item.
fn still_open(items: &[OpenItem]) -> ApiError {
    let labels: Vec<&str> = items.iter().map(|item| item.label()).collect();
    let message = format!("The business cannot be closed yet: {}. Settle this first.", labels.join("; "));
    conflict("closing_not_settled", message).with("unsettled", json!(items))
}

fn conflict(code: &str, message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, code, message)
}
