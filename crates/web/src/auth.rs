//! Bearer tokens, and the check that a call comes from another of our services.

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
pub fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Whether `given` is the secret, without telling by the time it takes where they differ.
pub fn same_secret(given: &str, secret: &Secret) -> bool {
    given.as_bytes().ct_eq(secret.expose().as_bytes()).into()
}

/// Middleware for internal listeners; wants `web::Data<settings::Internal>` in the app.
///
/// Without the token the answer is 401.
///
/// # Errors
/// Those of the handlers behind it.
pub async fn require_internal_token(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<EitherBody<impl MessageBody + 'static>>, Error> {
    let internal = request.app_data::<web::Data<settings::Internal>>().cloned();
    let known = internal.is_some_and(|internal| {
        bearer_token(request.headers()).is_some_and(|given| same_secret(given, &internal.token))
    });
    if !known {
        let message = "This address is for the operator's own services.";
        let error = ApiError::new(StatusCode::UNAUTHORIZED, "internal_token_invalid", message);
        return Ok(request.error_response(error).map_into_right_body());
    }
    Ok(next.call(request).await?.map_into_left_body())
}
