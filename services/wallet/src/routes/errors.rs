//! The HTTP status and the message of each error.

use actix_web::http::StatusCode;
use domain::Paise;
use web::{ApiError, FieldErrors};

use crate::commands::assign_difference::AssignError;
use crate::commands::credit::CreditError;
use crate::commands::debit::DebitError;
use crate::commands::debit_by_operator::OperatorDebitError;
use crate::commands::process_notice::ProcessNoticeError;
use crate::commands::remit::RemitError;
use crate::commands::top_up::TopUpError;
use crate::domain::{DebitRefusal, OrderRefusal, PENDING_MAX, PostingError};
use crate::payments::{NoticeError, ProviderError};

pub(super) fn top_up_not_found() -> ApiError {
    ApiError::not_found("top_up_not_found", "top-up")
}

pub(super) fn remittance_not_found() -> ApiError {
    ApiError::not_found("remittance_not_found", "remittance")
}

pub(super) fn from_remit(error: RemitError) -> ApiError {
    match error {
        RemitError::ReferenceReused => conflict(
            "bank_reference_reused",
            "A remittance with this bank reference has another date or other orders. Check the reference: each bank transfer has its own.",
        ),
        RemitError::Refused(refused) => {
            let field_errors = FieldErrors::default();
            for (position, refusal) in refused {
                let (code, message) = order_refusal(refusal);
                field_errors.add(format!("orders[{position}]"), code, message);
            }
            ApiError::invalid(field_errors)
        }
        RemitError::Store(error) => error.into(),
    }
}

pub(super) fn order_refusal(refusal: OrderRefusal) -> (&'static str, String) {
    let (code, message) = match refusal {
        OrderRefusal::Unknown => (
            "unknown_order",
            "The business has no order with this id or reference whose cash is to be settled.",
        ),
        OrderRefusal::Repeated => ("repeated", "Another line names the same order."),
        OrderRefusal::NotHandedOver => (
            "not_handed_over",
            "The cash of this order is not reported as handed over. Settle it afterwards.",
        ),
        OrderRefusal::AlreadySettled { bank_reference, lacks } => {
            return ("already_settled", already_settled(bank_reference, lacks));
        }
        OrderRefusal::NothingHandedOver => (
            "nothing_handed_over",
            "No cash of this order was handed over. Name the amount that was paid out.",
        ),
        OrderRefusal::FarAbove(handed_over) => {
            let message = format!(
                "{handed_over} was handed over, and the line pays more than ten times as much. Amounts of a file are in rupees: is \
                 this one in paise?"
            );
            return ("amount_too_high", message);
        }
        OrderRefusal::NoteMissing(handed_over) => {
            let message =
                format!("{handed_over} was handed over. Add a note that explains the other amount.");
            return ("note_required", message);
        }
    };
    (code, message.to_owned())
}

fn already_settled(bank_reference: Option<String>, lacks: Option<Paise>) -> String {
    let paid = match bank_reference {
        None => "The cash of this order is already settled, without a bank transfer.".to_owned(),
        Some(reference) => format!("The bank transfer {reference} has already paid this order."),
    };
    match lacks {
        None => paid,
        Some(lacks) => format!(
            "{paid} {lacks} less than owed was paid. Unless its discrepancy is closed, pay the rest by a bank transfer \
             that you do not record here, and close the discrepancy with that transfer's reference."
        ),
    }
}

pub(super) fn from_assign(error: AssignError) -> ApiError {
    match error {
        AssignError::Unknown => ApiError::not_found("order_not_found", "order with cash"),
        AssignError::NoDifference => {
            conflict("no_difference", "The amounts of this order agree. There is no difference to assign.")
        }
        AssignError::Closed => {
            conflict("difference_closed", "This discrepancy is closed. Send reopen to open it again.")
        }
        AssignError::Store(error) => error.into(),
    }
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

pub(super) fn from_operator_debit(error: OperatorDebitError) -> ApiError {
    match error {
        OperatorDebitError::ReferenceReused => conflict(
            "reference_reused",
            "A debit with this reference has another amount or takes back another transfer. Use a new reference.",
        ),
        OperatorDebitError::UnknownTransfer => conflict(
            "transfer_not_reversible",
            "The wallet has no credit, top-up or refund with this id. Take back one of its statement, or leave reverses out.",
        ),
        OperatorDebitError::ExceedsTransfer(Paise::ZERO) => conflict(
            "exceeds_transfer",
            "This transfer is already taken back in full. Nothing of it is left.",
        ),
        OperatorDebitError::ExceedsTransfer(left) => {
            let message = format!("Only {left} of this transfer is left to take back. Use a smaller amount.");
            conflict("exceeds_transfer", &message)
        }
        OperatorDebitError::Insufficient(balance) => {
            let message = format!(
                "The balance is only {balance}. Use a smaller amount, or name the transfer that the debit reverses: the business then owes the rest."
            );
            conflict("insufficient_balance", &message)
        }
        OperatorDebitError::Posting(error) => from_posting(error),
        OperatorDebitError::Store(error) => error.into(),
    }
}

pub(super) fn from_top_up(error: TopUpError) -> ApiError {
    match error {
        TopUpError::KeyReused => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_key_reused",
            "A top-up with this Idempotency-Key has another amount. Use a new key.",
        ),
        TopUpError::TooManyPending => conflict(
            "too_many_pending_top_ups",
            &format!(
                "{PENDING_MAX} top-ups wait for their payment. The page “Wallet” lists them. Pay one, or try again in an hour."
            ),
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
