//! The HTTP status and the message of each error.

use actix_web::http::StatusCode;
use web::ApiError;

use crate::commands::credit::CreditError;
use crate::commands::debit::DebitError;
use crate::commands::process_notice::ProcessNoticeError;
use crate::commands::top_up::TopUpError;
use crate::domain::{DebitRefusal, PostingError};
use crate::payments::{NoticeError, ProviderError};

pub(super) fn top_up_not_found() -> ApiError {
    ApiError::not_found("top_up_not_found", "top-up")
}

pub(super) fn from_debit(error: DebitError) -> ApiError {
    match error {
        DebitError::Refused(DebitRefusal::Mismatch) => conflict(
            "debit_mismatch",
            "This debit already exists with another amount or for another business.",
        ),
        DebitError::Refused(DebitRefusal::OrderAlreadyDebited) => {
            conflict("order_already_debited", "Another attempt of this order has already taken its fee.")
        }
        DebitError::Store(error) => error.into(),
    }
}

pub(super) fn from_credit(error: CreditError) -> ApiError {
    match error {
        CreditError::ReferenceReused => conflict(
            "reference_reused",
            "A credit with this reference has another amount. Use a new reference.",
        ),
        CreditError::Posting(error) => from_posting(error),
        CreditError::Store(error) => error.into(),
    }
}

pub(super) fn from_top_up(error: TopUpError) -> ApiError {
    match error {
        TopUpError::KeyReused => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_key_reused",
            "A top-up with this Idempotency-Key has another amount. Use a new key.",
        ),
        TopUpError::Provider(ProviderError::Refused(reason)) => {
            tracing::warn!(reason, "payment provider refused a top-up");
            let message = "The payment provider refused this top-up. Try another amount.";
            ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "top_up_refused", message)
        }
        TopUpError::Provider(ProviderError::Unavailable(reason)) => {
            tracing::warn!(reason, "payment provider unreachable");
            ApiError::unavailable()
        }
        TopUpError::Posting(error) => from_posting(error),
        TopUpError::Store(error) => error.into(),
    }
}

pub(super) fn from_notice(error: ProcessNoticeError) -> ApiError {
    match error {
        ProcessNoticeError::Notice(NoticeError::Unsigned) => ApiError::new(
            StatusCode::UNAUTHORIZED,
            "payment_signature_invalid",
            "The signature does not match the body. Send the body unchanged, with the payment provider's signature.",
        ),
        ProcessNoticeError::Notice(NoticeError::Malformed) => {
            ApiError::new(StatusCode::BAD_REQUEST, "payment_notice_unreadable", "The notice is malformed.")
        }
        ProcessNoticeError::Posting(error) => from_posting(error),
        ProcessNoticeError::Store(error) => error.into(),
    }
}

fn from_posting(error: PostingError) -> ApiError {
    match error {
        PostingError::TooMuch => conflict(
            "balance_too_large",
            "The balance would exceed the maximum of a wallet. Use a smaller amount.",
        ),
        // Deposits never reduce a balance.
        PostingError::Insufficient => ApiError::internal(error),
    }
}

fn conflict(code: &str, message: &str) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, code, message)
}
