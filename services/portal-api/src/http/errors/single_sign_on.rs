//! The errors of single sign-on.

use actix_web::http::StatusCode;
use identity::single_sign_on::ProviderError;
use web::ApiError;

use crate::console::commands::staff::StaffError;
use crate::http::errors::business_sso::proof;
use crate::http::errors::{staff, too_many};
use crate::single_sign_on::commands::complete_staff::CompleteSsoError;
use crate::single_sign_on::commands::start_sso::StartSsoError;

fn off() -> ApiError {
    let message = "This installation has no single sign-on. Log in with your password.";
    ApiError::new(StatusCode::NOT_FOUND, "sso_off", message)
}

pub(crate) fn provider(error: ProviderError) -> ApiError {
    match error {
        ProviderError::Unavailable(reason) => {
            tracing::warn!(%reason, "the identity provider is unavailable");
            let message = "The identity provider does not respond. Try again, or log in with your password.";
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "sso_unavailable", message)
        }
        // The reason is logged. Details would only help attackers.
        ProviderError::Rejected(_) => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "sso_response_invalid",
            "The response of the identity provider is not valid. Log in again.",
        ),
    }
}

pub(crate) fn sso_ended() -> ApiError {
    let message = "This log-in has expired or was completed before. Log in again.";
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "sso_ended", message)
}

pub(crate) fn declined() -> ApiError {
    let message = "You or the identity provider declined the log-in. Log in again.";
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "sso_declined", message)
}

pub(crate) fn other_person() -> ApiError {
    let message = "You logged in at the identity provider as somebody else. Log in there with the account of this session.";
    ApiError::new(StatusCode::FORBIDDEN, "sso_other_person", message)
}

pub(crate) fn not_recent() -> ApiError {
    let message = "The identity provider did not ask you to log in again. Log out there, then try again.";
    ApiError::new(StatusCode::FORBIDDEN, "sso_not_recent", message)
}

pub(crate) fn password_log_in_off() -> ApiError {
    let message = "Log in with single sign-on. Passwords are not accepted from this account.";
    ApiError::new(StatusCode::FORBIDDEN, "password_log_in_off", message)
}

pub(crate) fn start_sso(error: StartSsoError) -> ApiError {
    match error {
        StartSsoError::Off => off(),
        StartSsoError::TooMany { wait } => too_many("too_many_log_ins", "Too many log-ins.", wait),
        StartSsoError::Provider(error) => provider(error),
        StartSsoError::Store(error) => error.into(),
    }
}

pub(crate) fn complete_sso(error: CompleteSsoError) -> ApiError {
    let forbidden = |code, message| ApiError::new(StatusCode::FORBIDDEN, code, message);
    let conflict = |code, message| ApiError::new(StatusCode::CONFLICT, code, message);
    match error {
        CompleteSsoError::Off => off(),
        CompleteSsoError::NoRole => forbidden(
            "sso_no_role",
            "Your company account may not use this console: none of its groups has a role here. Ask an administrator to add you to a group.",
        ),
        CompleteSsoError::NoEmail => forbidden(
            "sso_no_email",
            "The identity provider names no verified e-mail address of yours. Ask its administrator to add it.",
        ),
        CompleteSsoError::AccountExists => conflict(
            "sso_account_exists",
            "An account with your e-mail address exists. Log in with its password, then link single sign-on on the page of your account.",
        ),
        CompleteSsoError::TooManyStaff => staff(StaffError::TooMany),
        CompleteSsoError::OtherPerson => other_person(),
        CompleteSsoError::AlreadyLinked => conflict(
            "sso_already_linked",
            "This company account belongs to another person, or your account is linked already.",
        ),
        CompleteSsoError::NotRecent => not_recent(),
        CompleteSsoError::Proof(error) => proof(error),
        CompleteSsoError::Store(error) => error.into(),
    }
}
