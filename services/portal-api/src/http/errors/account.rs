//! The errors of e-mail addresses, names and memberships.

use actix_web::http::StatusCode;
use web::ApiError;

use crate::account::commands::change_email::ChangeEmailError;
use crate::account::commands::change_name::ChangeNameError;
use crate::account::commands::confirm_email::{ConfirmEmailError, SendConfirmationError};
use crate::account::commands::join_business::JoinError;
use crate::account::commands::switch_business::SwitchError;
use crate::domain::Permission;
use crate::http::errors::{
    accept_invitation, business_not_found, not_logged_in, role_insufficient, sso_required, too_many,
};

const TOO_MANY: &str = "Too many links to confirm this account or e-mail address were sent.";

pub(crate) fn email_not_verified() -> ApiError {
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

pub(crate) fn confirmation_invalid() -> ApiError {
    ApiError::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "confirmation_invalid",
        "This link is used, replaced or expired. Log in and send a new one.",
    )
}

pub(crate) fn confirm_email(error: ConfirmEmailError) -> ApiError {
    match error {
        ConfirmEmailError::Invalid => confirmation_invalid(),
        ConfirmEmailError::OtherAccount => ApiError::new(
            StatusCode::FORBIDDEN,
            "other_account",
            "This link belongs to another account. Log in with that account, then open the link again.",
        ),
        ConfirmEmailError::EmailTaken => email_taken(),
        ConfirmEmailError::Store(error) => error.into(),
    }
}

pub(crate) fn send_confirmation(error: SendConfirmationError) -> ApiError {
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

pub(crate) fn change_email(error: ChangeEmailError) -> ApiError {
    match error {
        ChangeEmailError::EmailTaken => email_taken(),
        ChangeEmailError::TooMany { wait } => too_many("too_many_confirmations", TOO_MANY, wait),
        ChangeEmailError::UnknownUser => not_logged_in(),
        ChangeEmailError::Store(error) => error.into(),
    }
}

pub(crate) fn change_name(error: ChangeNameError) -> ApiError {
    match error {
        ChangeNameError::UnknownAccount => not_logged_in(),
        ChangeNameError::NotOwner => role_insufficient(Permission::ManageBusiness),
        ChangeNameError::Store(error) => error.into(),
    }
}

pub(crate) fn session_changed() -> ApiError {
    ApiError::new(
        StatusCode::CONFLICT,
        "session_changed",
        "You have switched to another business or account in another tab. Nothing was changed. Reload the page.",
    )
}

pub(crate) fn switch_business(error: SwitchError) -> ApiError {
    match error {
        SwitchError::UnknownBusiness => business_not_found(),
        SwitchError::SessionEnded => not_logged_in(),
        SwitchError::Sso(error) => sso_required(error),
        SwitchError::Store(error) => error.into(),
    }
}

pub(crate) fn join(error: JoinError) -> ApiError {
    match error {
        JoinError::Invitation(error) => accept_invitation(error),
        JoinError::OtherAccount => ApiError::new(
            StatusCode::FORBIDDEN,
            "other_account",
            "This invitation is for another e-mail address. Log in with the account that has that address.",
        ),
        JoinError::AlreadyMember => {
            ApiError::new(StatusCode::CONFLICT, "already_member", "You already belong to this business.")
        }
        JoinError::TooManyBusinesses => ApiError::new(
            StatusCode::CONFLICT,
            "too_many_businesses",
            "You belong to the maximum number of businesses. Ask an owner of one to remove you.",
        ),
        JoinError::TooManyCreated { wait } => {
            too_many("too_many_sign_ups", "Too many businesses were created from your address.", wait)
        }
        JoinError::SessionEnded => not_logged_in(),
        JoinError::Store(error) => error.into(),
    }
}
