//! How the commands' errors are answered.

use actix_web::http::StatusCode;
use web::ApiError;

use crate::commands::credit::CreditError;
use crate::commands::debit::DebitError;
use crate::commands::take_notice::TakeNoticeError;
use crate::commands::top_up::TopUpError;
use crate::domain::{DebitRefusal, PostingError};
use crate::payments::{NoticeError, ProviderError};

pub(super) fn from_debit(error: DebitError) -> ApiError {
    match error {
        DebitError::Refused(DebitRefusal::Mismatch) => conflict(
            "debit_mismatch",
            "This debit was asked for before, with another amount or for another business.",
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
            "A credit of another amount was given under this reference. Use a reference once.",
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
            "Another amount was asked for under this Idempotency-Key. Use a key for one top-up.",
        ),
        TopUpError::Provider(ProviderError::Refused(reason)) => {
            tracing::warn!(reason, "the payment provider refused a top-up");
            let message = "The payment provider does not take this top-up on. Try another amount.";
            ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "top_up_refused", message)
        }
        TopUpError::Provider(ProviderError::Unavailable(reason)) => {
            tracing::warn!(reason, "the payment provider did not answer");
            ApiError::unavailable()
        }
        TopUpError::Posting(error) => from_posting(error),
        TopUpError::Store(error) => error.into(),
    }
}

pub(super) fn from_notice(error: TakeNoticeError) -> ApiError {
    match error {
        TakeNoticeError::Notice(NoticeError::Unsigned) => ApiError::new(
            StatusCode::UNAUTHORIZED,
            "payment_signature_invalid",
            "The signature is not the payment provider's over this body.",
        ),
        TakeNoticeError::Notice(NoticeError::Unreadable) => {
            ApiError::new(StatusCode::BAD_REQUEST, "payment_notice_unreadable", "The notice cannot be read.")
        }
        TakeNoticeError::Posting(error) => from_posting(error),
        TakeNoticeError::Store(error) => error.into(),
    }
}

fn from_posting(error: PostingError) -> ApiError {
    match error {
        PostingError::TooMuch => conflict("balance_too_large", "The wallet cannot hold that much."),
        // Money that comes in never takes a balance below zero.
        PostingError::Insufficient => ApiError::internal(error),
    }
}

fn conflict(code: &str, message: &str) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, code, message)
}
