//! Authentication: a business by its API key, the fleet by its token.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use domain::KeyScope;
use internal_api::keys::AuthenticatedKey;
use web::{ApiError, accepted_token, bearer_token, caller_ip};

use super::quota;
use crate::cache::AuthenticationError;
use crate::state::State;

/// Authenticates a business, charges the call to its key, and requires a scope.
pub(super) async fn business(
    state: &State,
    request: &HttpRequest,
    scope: KeyScope,
) -> Result<AuthenticatedKey, ApiError> {
    let caller = identify(state, request).await?;
    quota::charge_request(state, request, &caller)?;
    require(&caller, scope)?;
    Ok(caller)
}

pub(super) fn require(caller: &AuthenticatedKey, scope: KeyScope) -> Result<(), ApiError> {
    if caller.restrictions.allow(scope) { Ok(()) } else { Err(insufficient_scope(scope)) }
}

/// Authenticates `Authorization: Bearer <API_KEY>` (SPECIFICATION §5.1), and the address of the caller if the key is
/// restricted to some. The handler charges the call and requires a scope.
pub(super) async fn identify(state: &State, request: &HttpRequest) -> Result<AuthenticatedKey, ApiError> {
    let failed = |failure| state.authentication_failures.count(request, failure);
    let Some(key) = bearer_token(request.headers())? else {
        return Err(failed(misplaced_key(request).unwrap_or_else(no_key)));
    };
    let invalid = || failed(misplaced_key(request).unwrap_or_else(bad_key));
    if state.authentication_failures.is_blocked(request) && !state.keys.was_recently_valid(key) {
        return Err(invalid());
    }
    let caller = state.keys.authenticate(key).await.map_err(|error| match error {
        AuthenticationError::InvalidKey => invalid(),
        AuthenticationError::ExpiredKey => failed(expired_key()),
        AuthenticationError::Unavailable(error) => error.into(),
    })?;
    if !caller.restrictions.allow_from(|| caller_ip(request, &state.trusted_proxies)) {
        // The call is not charged to the key. Otherwise a thief could use up its quota.
        return Err(failed(address_not_allowed()));
    }
    tracing::debug!(business_id = %caller.business_id, key_id = %caller.key_id, mode = %caller.mode, "authenticated");
    Ok(caller)
}

/// Authenticates the driver system of the operator.
pub(super) fn fleet(state: &State, request: &HttpRequest) -> Result<(), ApiError> {
    let given = bearer_token(request.headers())?;
    if given.is_some_and(|given| accepted_token(given, &state.fleet_tokens).is_some()) {
        return Ok(());
    }
    Err(state.authentication_failures.count(request, bad_fleet_token()))
}

/// The error for a key outside of `Authorization: Bearer`. Such a key is never verified.
fn misplaced_key(request: &HttpRequest) -> Option<ApiError> {
    // An example's placeholder may contain other characters than ASCII.
    let authorization =
        request.headers().get(AUTHORIZATION).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let message = if has_key(request.query_string()) {
        "Send the API key in the header Authorization: Bearer <API_KEY>, not in the query: addresses are written to logs. \
         Replace the key that was sent this way."
    } else if request.headers().contains_key("X-Api-Key") {
        "Send the API key in the header Authorization: Bearer <API_KEY>, not in X-Api-Key."
    } else {
        authorization.as_deref().and_then(miswritten)?
    };
    Some(unauthorized("missing_api_key", message))
}

/// Parts of placeholders in examples. No API key contains one.
const PLACEHOLDERS: [&str; 4] = ["REPLACE_WITH", "YOUR_", "…", "..."];

/// The mistake in an `Authorization` header.
fn miswritten(authorization: &str) -> Option<&'static str> {
    if authorization.trim().eq_ignore_ascii_case("bearer") {
        return Some(
            "There is no key after Bearer: is it set where you take it from? Send Authorization: Bearer <API_KEY>.",
        );
    }
    let Some((scheme, key)) = authorization.trim().split_once(' ') else {
        return Some("Write Bearer and a space before the API key: Authorization: Bearer <API_KEY>.");
    };
    let key = key.trim_start();
    if scheme.eq_ignore_ascii_case("basic") {
        Some(
            "API keys are not sent as Basic authentication, with user and password: send Authorization: Bearer <API_KEY>.",
        )
    } else if key.get(.."bearer".len()).is_some_and(|start| start.eq_ignore_ascii_case("bearer")) {
        Some("Write Bearer once before the API key: Authorization: Bearer <API_KEY>.")
    } else if PLACEHOLDERS.iter().any(|part| key.contains(part)) {
        Some(
            "This is the placeholder of an example. Replace it with your API key, which the portal shows once when you create \
             it: Authorization: Bearer <API_KEY>.",
        )
    } else if key.starts_with(['"', '\'', '<', '{', '$']) {
        Some(
            "Write the API key itself, without quotes or other signs around it: Authorization: Bearer <API_KEY>.",
        )
    } else {
        None
    }
}

/// Whether a query has a parameter that is named like a key or looks like one.
fn has_key(query: &str) -> bool {
    const NAMES: [&str; 6] = ["apikey", "key", "token", "accesstoken", "authorization", "xapikey"];
    url::form_urlencoded::parse(query.as_bytes()).any(|(name, value)| {
        let name = name.replace(['_', '-'], "").to_ascii_lowercase();
        NAMES.contains(&name.as_str()) || value.starts_with("sk_test_") || value.starts_with("sk_live_")
    })
}

pub(super) fn no_key() -> ApiError {
    let message = "Send your API key from the backend, as Authorization: Bearer <API_KEY>.";
    unauthorized("missing_api_key", message)
}

pub(super) fn bad_key() -> ApiError {
    unauthorized(
        "invalid_api_key",
        "The API key is not valid. Use the key from your backend's configuration; it may have been revoked.",
    )
}

pub(super) fn expired_key() -> ApiError {
    unauthorized("api_key_expired", "The API key has expired. Take a new key from the portal.")
}

/// Does not reveal the allow-list: the key may be stolen.
pub(super) fn address_not_allowed() -> ApiError {
    let message = "This API key may not be used from this address. Call from an address of the key's allow-list, or use \
                   another key.";
    ApiError::new(StatusCode::FORBIDDEN, "address_not_allowed", message)
}

pub(super) fn insufficient_scope(scope: KeyScope) -> ApiError {
    let message = format!(
        "This API key may not make this call, which needs the scope {scope}. Use a key with that scope."
    );
    ApiError::new(StatusCode::FORBIDDEN, "insufficient_scope", message).with("requiredScope", scope.as_str())
}

pub(super) fn bad_fleet_token() -> ApiError {
    unauthorized("invalid_fleet_token", "The fleet token is not valid.")
}

fn unauthorized(code: &str, message: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, code, message)
        .with_header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}
