//! Errors that many operations have.

use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use domain::KeyScope;
use web::{ApiError, bearer_token, too_many_failures};

use crate::routes::{authenticate, backend_only, integration};

const WAIT_S: u64 = 12;

/// Whatever is called.
pub(super) fn always() -> [ApiError; 2] {
    [ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR), ApiError::unavailable()]
}

/// Of a caller who is to have an API key with this scope.
pub(super) fn api_key(scope: KeyScope) -> Vec<ApiError> {
    let mut errors = vec![
        authenticate::no_key(),
        authenticate::bad_key(),
        authenticate::expired_key(),
        authenticate::insufficient_scope(scope),
        authenticate::address_not_allowed(),
        backend_only::from_browser(),
    ];
    errors.extend(two_callers());
    errors
}

/// Of a caller who is to have the fleet token.
pub(super) fn fleet_token() -> Vec<ApiError> {
    let mut errors = vec![authenticate::bad_fleet_token()];
    errors.extend(two_callers());
    errors
}

fn two_callers() -> impl Iterator<Item = ApiError> {
    let mut twice = HeaderMap::new();
    twice.append(AUTHORIZATION, HeaderValue::from_static("Bearer one"));
    twice.append(AUTHORIZATION, HeaderValue::from_static("Bearer two"));
    bearer_token(&twice).err().into_iter().chain([too_many_failures(WAIT_S)])
}

/// Of a body that cannot be read.
pub(super) fn body() -> Vec<ApiError> {
    vec![
        ApiError::malformed_json(
            "The request body is not valid JSON: expected `,` or `}` at line 3 column 5.",
        ),
        ApiError::body_incomplete(),
        ApiError::from_status(StatusCode::REQUEST_TIMEOUT),
        ApiError::from_status(StatusCode::PAYLOAD_TOO_LARGE),
        ApiError::unsupported_media_type("Send the body as JSON, with Content-Type: application/json."),
    ]
}

/// Of a list.
pub(super) fn bad_page() -> [ApiError; 1] {
    [integration::unknown_cursor()]
}
