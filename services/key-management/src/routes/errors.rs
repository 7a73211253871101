//! What each refusal is over HTTP.

use actix_web::http::StatusCode;
use domain::Mode;
use postgres::StoreError;
use web::ApiError;

use crate::commands::{CreateError, RevokeError, RotateError};
use crate::domain::WORKING_KEYS_MAX;

pub(super) fn key_not_found() -> ApiError {
    ApiError::not_found("api_key_not_found", "API key")
}

pub(super) fn from_store(error: StoreError) -> ApiError {
    if error.is_unavailable() {
        tracing::warn!(%error, "the database did not answer");
        return ApiError::unavailable();
    }
    ApiError::internal(error)
}

pub(super) fn from_create(error: CreateError) -> ApiError {
    match error {
        CreateError::TooManyKeys(mode) => too_many_keys(mode),
        CreateError::Store(error) => from_store(error),
    }
}

pub(super) fn from_revoke(error: RevokeError) -> ApiError {
    match error {
        RevokeError::NotFound => key_not_found(),
        RevokeError::Store(error) => from_store(error),
    }
}

pub(super) fn from_rotate(error: RotateError) -> ApiError {
    match error {
        RotateError::NotFound => key_not_found(),
        RotateError::Revoked => conflict("api_key_revoked", "This key works no longer. Create a new one."),
        RotateError::AlreadyRotated => conflict(
            "api_key_already_rotated",
            "This key has its successor already. Rotate that one, or revoke this one to end its grace.",
        ),
        RotateError::TooManyKeys(mode) => too_many_keys(mode),
        RotateError::Store(error) => from_store(error),
    }
}

fn too_many_keys(mode: Mode) -> ApiError {
    let message = format!(
        "There can be {WORKING_KEYS_MAX} working {mode} keys, those in their grace included. Revoke one first."
    );
    conflict("too_many_keys", message)
}

fn conflict(code: &str, message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, code, message)
}
