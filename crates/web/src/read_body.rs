//! Reads JSON bodies, and names all errors of a body at once.

use actix_web::HttpRequest;
use actix_web::web::Payload;
use serde_json::Value;

use crate::{ApiError, FieldErrors, Fields, read_optional_json};

/// Reads a body. It may have the `known` fields only. `read` reports the errors of each field, and returns the result.
///
/// # Errors
/// 400 with every error.
pub fn read_body<T>(
    body: &Value,
    known: &[&str],
    read: impl FnOnce(&Fields<'_>) -> Option<T>,
) -> Result<T, ApiError> {
    let field_errors = FieldErrors::default();
    finish(Fields::only(body, &field_errors, known).as_ref().and_then(read), field_errors)
}

/// As [`read_body`], for bodies that may have further fields, or that refuse them with words of their own.
///
/// # Errors
/// 400 with every error.
pub fn read_object<T>(body: &Value, read: impl FnOnce(&Fields<'_>) -> Option<T>) -> Result<T, ApiError> {
    let field_errors = FieldErrors::default();
    finish(Fields::of_body(body, &field_errors).as_ref().and_then(read), field_errors)
}

/// Reads the body of a call without fields: none, or an empty object.
///
/// # Errors
/// 400 with every field, and as [`read_optional_json`].
pub async fn read_no_fields(request: &HttpRequest, payload: Payload) -> Result<(), ApiError> {
    match read_optional_json(request, payload).await? {
        Value::Null => Ok(()),
        body => read_body(&body, &[], |_| Some(())),
    }
}

fn finish<T>(found: Option<T>, field_errors: FieldErrors) -> Result<T, ApiError> {
    found.filter(|_| field_errors.is_empty()).ok_or_else(|| ApiError::invalid(field_errors))
}
