//! Bearer tokens, and the authentication of calls between the services.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap};
use actix_web::middleware::Next;
use actix_web::{Error, web};
use settings::Secret;
use subtle::ConstantTimeEq;

use crate::ApiError;

/// The token of `Authorization: Bearer <token>`; the scheme's case does not matter (RFC 9110 §11.1).
///
/// # Errors
/// 400 when the header occurs more than once, because it is unclear which caller is meant.
pub fn bearer_token(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let mut given = headers.get_all(header::AUTHORIZATION);
    let (first, another) = (given.next(), given.next());
    if another.is_some() {
        let message =
            "The Authorization header is given more than once. Send it once, with one key or token.";
        return Err(ApiError::new(StatusCode::BAD_REQUEST, "duplicate_header", message)
            .with("header", "Authorization"));
    }
    let parts = first.and_then(|value| value.to_str().ok()).and_then(|text| text.split_once(' '));
    Ok(parts.and_then(|(scheme, token)| {
        let token = token.trim();
        (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
    }))
}

/// Compares in constant time, so that the duration reveals nothing about the secret.
pub fn same_secret(given: &str, secret: &Secret) -> bool {
    given.as_bytes().ct_eq(secret.expose().as_bytes()).into()
}

/// Middleware for internal listeners. Requires `web::Data<settings::Internal>` in the app. Answers 401 without the
/// token and 400 with two tokens.
///
/// # Errors
/// Those of the handlers behind it.
pub async fn require_internal_token(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<EitherBody<impl MessageBody + 'static>>, Error> {
    let internal = request.app_data::<web::Data<settings::Internal>>().cloned();
    let known = bearer_token(request.headers()).map(|given| {
        let token = internal.as_ref().map(|internal| &internal.token);
        given.zip(token).is_some_and(|(given, token)| same_secret(given, token))
    });
    let refusal = match known {
        Ok(true) => None,
        Ok(false) => {
            let message = "The internal token is missing or wrong. Only the operator's own services may call this address.";
            Some(ApiError::new(StatusCode::UNAUTHORIZED, "internal_token_invalid", message))
        }
        Err(error) => Some(error),
    };
    if let Some(error) = refusal {
        return Ok(request.error_response(error).map_into_right_body());
    }
    Ok(next.call(request).await?.map_into_left_body())
}
