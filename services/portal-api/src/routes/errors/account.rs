//! The errors of e-mail addresses and names.

use actix_web::http::StatusCode;
use web::ApiError;

use super::{not_logged_in, role_insufficient, too_many};
use crate::commands::change_email::ChangeEmailError;
use crate::commands::change_name::ChangeNameError;
use crate::commands::confirm_email::{ConfirmEmailError, SendConfirmationError};
use crate::domain::Permission;

const TOO_MANY: &str = "Too many links to confirm this account or e-mail address were sent.";

pub(super) fn email_not_verified() -> ApiError {
    ApiError::new(
        StatusCode::FORBIDDEN,
        "email_not_verified",
        "Confirm your e-mail address first: open the link that we sent to it, or send the link again.",
    )
}

fn email_taken() -> ApiError {
    ApiError::new(
        StatusCode::CONFLICT,
        "email_taken",
        "An account with this e-mail address already exists. Choose another address.",
    )
}

pub(in crate::routes) fn confirmation_invalid() -> ApiError {
    ApiError::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "confirmation_invalid",
        "This link is used, replaced or expired. Log in and send a new one.",
    )
}

pub(in crate::routes) fn confirm_email(error: ConfirmEmailError) -> ApiError {
    match error {
        ConfirmEmailError::Invalid => confirmation_invalid(),
        ConfirmEmailError::EmailTaken => email_taken(),
        ConfirmEmailError::Store(error) => error.into(),
    }
}

pub(in crate::routes) fn send_confirmation(error: SendConfirmationError) -> ApiError {
    match error {
        SendConfirmationError::AlreadyVerified => {
            ApiError::new(StatusCode::CONFLICT, "email_verified", "Your e-mail address is already confirmed.")
        }
        SendConfirmationError::NoMail => ApiError::new(
            StatusCode::CONFLICT,
            "mail_unavailable",
            "This installation sends no e-mails. Nothing needs to be confirmed.",
        ),
        SendConfirmationError::TooMany { wait } => too_many("too_many_confirmations", TOO_MANY, wait),
        SendConfirmationError::UnknownUser => not_logged_in(),
        SendConfirmationError::Store(error) => error.into(),
    }
}

pub(in crate::routes) fn change_email(error: ChangeEmailError) -> ApiError {
    match error {
        ChangeEmailError::EmailTaken => email_taken(),
        ChangeEmailError::TooMany { wait } => too_many("too_many_confirmations", TOO_MANY, wait),
        ChangeEmailError::UnknownUser => not_logged_in(),
        ChangeEmailError::Store(error) => error.into(),
    }
}

pub(in crate::routes) fn change_name(error: ChangeNameError) -> ApiError {
    match error {
        ChangeNameError::UnknownUser => not_logged_in(),
        ChangeNameError::NotOwner => role_insufficient(Permission::ManageBusiness),
        ChangeNameError::Store(error) => error.into(),
    }
}
