//! Bearer tokens, and the authentication of calls between the services.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap};
use actix_web::middleware::Next;
use actix_web::{Error, web};
use settings::{Internal, Secret, Tokens};
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

/// The accepted token that this is. Compares with every one. The request's log line shows a use of the previous one.
pub fn accepted_token<'a>(given: &str, tokens: &'a Tokens) -> Option<&'a Secret> {
    let accepted = tokens.accepted().filter(|token| is_same(given, token.expose())).last()?;
    if *accepted != tokens.current {
        tracing::Span::current().record("caller", "previous-token");
    }
    Some(accepted)
}

/// Compares in constant time, so that the duration reveals nothing about the secret.
fn is_same(given: &str, secret: &str) -> bool {
    given.as_bytes().ct_eq(secret.as_bytes()).into()
}

/// The caller that sends this token, or `shared` if several do. Compares with every accepted token.
fn caller_of(given: &str, internal: &Internal) -> Option<&'static str> {
    let accepted = internal.accepted().filter(|(_, token)| is_same(given, token));
    accepted.map(|(caller, _)| caller).reduce(|one, other| if one == other { one } else { Internal::SHARED })
}

/// Middleware for internal listeners. Requires `web::Data<settings::Internal>` in the app. Answers 401 without an
/// accepted token and 400 with two tokens.
///
/// # Errors
/// Those of the handlers behind it.
pub async fn require_internal_token(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<EitherBody<impl MessageBody + 'static>>, Error> {
    let internal = request.app_data::<web::Data<Internal>>();
    let caller = bearer_token(request.headers())
        .map(|given| given.zip(internal).and_then(|(given, internal)| caller_of(given, internal)));
    let refusal = match caller {
        Ok(Some(caller)) => {
            tracing::Span::current().record("caller", caller);
            None
        }
        Ok(None) => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_is_known_by_its_tokens() {
        let mut internal = Internal { token: Secret::new("own"), ..Internal::default() };
        assert_eq!((caller_of("own", &internal), caller_of("", &internal)), (Some("shared"), None));
        internal.callers.order_api = Some(Secret::new("new-of-orders, old-of-orders,old-of-all"));
        internal.callers.wallet = Some(Secret::new("of-wallet,old-of-all"));
        for (token, caller) in [
            ("new-of-orders", Some("order-api")),
            ("old-of-orders", Some("order-api")),
            ("of-wallet", Some("wallet")),
            ("old-of-all", Some("shared")),
            ("own", None),
            ("new-of-orders, old-of-orders", None),
        ] {
            assert_eq!(caller_of(token, &internal), caller, "{token}");
        }
    }

    #[test]
    fn a_previous_token_is_accepted_as_well() {
        let (current, previous) = (Secret::new("current"), Secret::new("previous"));
        let both = Tokens::new(&current, Some(&previous));
        for (given, accepted) in [
            ("current", Some(&current)),
            ("previous", Some(&previous)),
            ("", None),
            ("current,previous", None),
        ] {
            assert_eq!(accepted_token(given, &both), accepted, "{given}");
        }
        assert_eq!(accepted_token("previous", &Tokens::new(&current, None)), None);
    }
}
