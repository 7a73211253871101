//! `POST /internal/api-keys/verify`

use actix_web::HttpResponse;
use actix_web::web::Data;
use internal_api::keys::{AuthenticatedKey, KeyVerification};
use web::{ApiError, FieldErrors, Fields, JsonBody};

use crate::commands;
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
    let key = commands::verify(&state, &read(&body)?).await?;
    let outcome = if key.is_some() { VALID } else { INVALID };
    metrics::counter!("api_key_verifications_total", "outcome" => outcome).increment(1);
    let verdict = key.map(|Key { id, business_id, mode, expires_at, .. }| AuthenticatedKey {
        key_id: id,
        business_id,
        mode,
        expires_at,
    });
    Ok(HttpResponse::Ok().json(KeyVerification { key: verdict }))
}

/// Accepts any text: one that cannot be a key is simply invalid.
fn read(body: &JsonBody) -> Result<String, ApiError> {
    let field_errors = FieldErrors::default();
    if let Some(fields) = Fields::of_body(&body.0, &field_errors) {
        match fields.value("key") {
            Some(serde_json::Value::String(text)) => return Ok(text.clone()),
            Some(_) => fields.reject("key", "invalid_type", "key must be a string."),
            None => fields.missing::<()>("key").unwrap_or_default(),
        }
    }
    Err(ApiError::invalid(field_errors))
}
