//! The HTTP response to each error; the one place that chooses status codes.

use actix_web::http::StatusCode;
use domain::Mode;
use web::ApiError;

use crate::commands::{CreateError, RevokeError, RotateError};
use crate::domain::WORKING_KEYS_MAX;

pub(super) fn key_not_found() -> ApiError {
    ApiError::not_found("api_key_not_found", "API key")
}

pub(super) fn from_create(error: CreateError) -> ApiError {
    match error {
        CreateError::TooManyKeys(mode) => too_many_keys(mode),
        CreateError::Store(error) => error.into(),
    }
}

pub(super) fn from_revoke(error: RevokeError) -> ApiError {
    match error {
        RevokeError::NotFound => key_not_found(),
        RevokeError::Store(error) => error.into(),
    }
}

pub(super) fn from_rotate(error: RotateError) -> ApiError {
    match error {
        RotateError::NotFound => key_not_found(),
        RotateError::Revoked => {
            conflict("api_key_revoked", "This key is revoked or expired. Create a new one.")
        }
        RotateError::AlreadyRotated => conflict(
            "api_key_already_rotated",
            "This key was rotated already. Rotate its successor, or revoke this key to end its grace period.",
        ),
        RotateError::TooManyKeys(mode) => too_many_keys(mode),
        RotateError::Store(error) => error.into(),
    }
}

fn too_many_keys(mode: Mode) -> ApiError {
    let message = format!(
        "A business can have {WORKING_KEYS_MAX} working {mode} keys, including rotated keys in their grace period. Revoke one first."
    );
    conflict("too_many_keys", message)
}

fn conflict(code: &str, message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, code, message)
}
