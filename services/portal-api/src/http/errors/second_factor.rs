//! The errors of second factors and of recent authentication.

use actix_web::http::StatusCode;
use identity::passkeys::PASSKEYS_MAX;
use identity::second_factors::FactorError;
use web::ApiError;

use crate::account::commands::ChallengeError;
use crate::account::commands::confirm_session::ConfirmError;
use crate::account::commands::reset_factor::ResetFactorError;
use crate::domain::{OperatorPermission, Permission};
use crate::http::errors::{
    no_permission, not_logged_in, password, role_insufficient, sso_required, too_many,
};

/// The person may only set up the second factor that the role requires.
pub(crate) fn mfa_enrolment_required() -> ApiError {
    let message =
        "Your role requires two-factor authentication. Set it up first, on the page of your account.";
    ApiError::new(StatusCode::FORBIDDEN, "mfa_enrolment_required", message)
}

pub(crate) fn recent_authentication_required() -> ApiError {
    let message = "Confirm that it is you, with your password and the code of your second factor, or log in with the installation token again. Then repeat this call.";
    ApiError::new(StatusCode::FORBIDDEN, "recent_authentication_required", message)
}

fn second_factor_not_found() -> ApiError {
    ApiError::not_found("second_factor_not_found", "second factor")
}

pub(crate) fn passkey_not_found() -> ApiError {
    ApiError::not_found("passkey_not_found", "passkey")
}

/// For tokens and their console sessions.
pub(crate) fn account_required() -> ApiError {
    let message = "Tokens have no second factor. Log in with an account.";
    ApiError::new(StatusCode::FORBIDDEN, "account_required", message)
}

pub(crate) fn challenge_ended() -> ApiError {
    let message = "This log-in has expired or has too many wrong codes. Enter your password again.";
    ApiError::new(StatusCode::UNAUTHORIZED, "challenge_ended", message)
}

/// Nobody can enrol while the installation has no key.
pub(crate) fn second_factor_unavailable() -> ApiError {
    let message =
        "This installation does not offer two-factor authentication. Ask the operator to turn it on.";
    ApiError::new(StatusCode::CONFLICT, "second_factor_unavailable", message)
}

pub(crate) fn factor(error: FactorError) -> ApiError {
    match error {
        FactorError::WrongCode => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "code_wrong",
            "The code is wrong or was used before. Enter the next code.",
        ),
        FactorError::WrongPasskey => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "passkey_wrong",
            "The passkey was not accepted. Try again, or use a code.",
        ),
        FactorError::CeremonyEnded => ApiError::new(
            StatusCode::CONFLICT,
            "passkey_options_ended",
            "These passkey options have expired or were used. Fetch new ones and try again.",
        ),
        FactorError::PasskeysUnavailable => ApiError::new(
            StatusCode::CONFLICT,
            "passkeys_unavailable",
            "Browsers offer passkeys only at addresses with a domain name and TLS. Ask the operator to give the portal one.",
        ),
        FactorError::UnknownPasskey => passkey_not_found(),
        FactorError::PasskeyExists => ApiError::new(
            StatusCode::CONFLICT,
            "passkey_exists",
            "This passkey belongs to an account already.",
        ),
        FactorError::TooManyPasskeys => ApiError::new(
            StatusCode::CONFLICT,
            "too_many_passkeys",
            format!("An account may have {PASSKEYS_MAX} passkeys. Remove one first."),
        ),
        FactorError::Passkeys(error) => ApiError::internal(error),
        FactorError::TooMany { wait } => too_many("too_many_codes", "Too many wrong codes.", wait),
        FactorError::NotEnrolled => second_factor_not_found(),
        FactorError::AlreadyEnrolled => ApiError::new(
            StatusCode::CONFLICT,
            "second_factor_exists",
            "Two-factor authentication is already on. Remove it first to use another app.",
        ),
        FactorError::NotStarted => ApiError::new(
            StatusCode::CONFLICT,
            "enrolment_not_started",
            "No set-up is open, or it has expired. Start again.",
        ),
        FactorError::Vault(error) => {
            tracing::error!(%error, "check WAYBILL_MFA__KEY and WAYBILL_MFA__PREVIOUS_KEY");
            ApiError::unavailable()
        }
        FactorError::Store(error) => error.into(),
    }
}

pub(crate) fn challenge(error: ChallengeError) -> ApiError {
    match error {
        ChallengeError::Ended => challenge_ended(),
        ChallengeError::Sso(error) => sso_required(error),
        ChallengeError::Factor(error) => factor(error),
        ChallengeError::Store(error) => error.into(),
    }
}

pub(crate) fn confirm(error: ConfirmError) -> ApiError {
    match error {
        ConfirmError::WrongPassword => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "password_wrong",
            "The password is wrong. Enter it again.",
        ),
        ConfirmError::CodeRequired => {
            ApiError::invalid_field("code", "required", "Enter the code of your authenticator app.")
        }
        ConfirmError::UnknownAccount | ConfirmError::SessionEnded => not_logged_in(),
        ConfirmError::Factor(error) => factor(error),
        ConfirmError::Password(error) => password(error),
        ConfirmError::Store(error) => error.into(),
    }
}

pub(crate) fn reset_factor(error: ResetFactorError, unknown: fn() -> ApiError) -> ApiError {
    match error {
        ResetFactorError::NotOwner => role_insufficient(Permission::ManageUsers),
        ResetFactorError::NotAdministrator => no_permission(OperatorPermission::ManageStaff),
        ResetFactorError::Unknown => unknown(),
        ResetFactorError::NotEnrolled => second_factor_not_found(),
        ResetFactorError::OfSeveralBusinesses => ApiError::new(
            StatusCode::CONFLICT,
            "second_factor_shared",
            "This person belongs to other businesses too, which the second factor also protects. Only the operator can remove it.",
        ),
        ResetFactorError::Store(error) => error.into(),
    }
}
