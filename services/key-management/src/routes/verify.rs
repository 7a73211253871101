//! `POST /internal/api-keys/verify`

use actix_web::HttpResponse;
use actix_web::web::Data;
use internal_api::keys::{AuthenticatedKey, KeyVerification, VerifyKey};
use web::{ApiError, FieldErrors, Fields, JsonBody};

use crate::commands::{self, Verified};
use crate::domain::Key;
use crate::state::State;

/// Values of the label `outcome`.
const VALID: &str = "valid";
const INVALID: &str = "invalid";

/// Publishes 0 up front: alerts ignore absent series.
pub(crate) fn create_counters() {
    for outcome in [VALID, INVALID] {
        metrics::counter!("api_key_verifications_total", "outcome" => outcome).increment(0);
    }
}

pub(super) async fn verify(state: Data<State>, body: JsonBody) -> Result<HttpResponse, ApiError> {
    let VerifyKey { key } = read(&body)?;
    let verified = commands::verify(&state, &key).await?;
    let verification = match verified {
        Verified::Working(key) => KeyVerification { key: Some(authenticated(*key)), expired: false },
        Verified::Expired => KeyVerification { key: None, expired: true },
        Verified::Invalid => KeyVerification::default(),
    };
    let outcome = if verification.key.is_some() { VALID } else { INVALID };
    metrics::counter!("api_key_verifications_total", "outcome" => outcome).increment(1);
    Ok(HttpResponse::Ok().json(verification))
}

fn authenticated(key: Key) -> AuthenticatedKey {
    let Key { id, business_id, mode, expires_at, restrictions, .. } = key;
    AuthenticatedKey { key_id: id, business_id, mode, expires_at, restrictions }
}

/// Accepts any text as a key: one that cannot be a key is simply invalid.
fn read(body: &JsonBody) -> Result<VerifyKey, ApiError> {
    let field_errors = FieldErrors::default();
    if let Some(fields) = Fields::of_body(&body.0, &field_errors) {
        match fields.value("key") {
            Some(serde_json::Value::String(key)) if field_errors.is_empty() => {
                return Ok(VerifyKey { key: key.clone() });
            }
            Some(serde_json::Value::String(_)) => {}
            Some(_) => fields.reject("key", "invalid_type", "key must be a string."),
            None => fields.missing::<()>("key").unwrap_or_default(),
        }
    }
    Err(ApiError::invalid(field_errors))
}
