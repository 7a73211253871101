//! `POST /internal/api-keys/verify`

use actix_web::HttpResponse;
use actix_web::web::Data;
use internal_api::keys::{AuthenticatedKey, KeyVerification};
use web::{ApiError, FieldErrors, Fields, JsonBody};

use super::errors::from_store;
use crate::app::App;
use crate::commands;
use crate::domain::Key;

/// What is found, as it is counted.
const GOOD: &str = "good";
const BAD: &str = "bad";

/// A counter that begins with what it counts hides that from whoever watches its increase.
pub(crate) fn create_counters() {
    for outcome in [GOOD, BAD] {
        metrics::counter!("api_key_verifications_total", "outcome" => outcome).increment(0);
    }
}

pub(super) async fn verify(app: Data<App>, body: JsonBody) -> Result<HttpResponse, ApiError> {
    let key = commands::verify(&app, &read(&body)?).await.map_err(from_store)?;
    let outcome = if key.is_some() { GOOD } else { BAD };
    metrics::counter!("api_key_verifications_total", "outcome" => outcome).increment(1);
    let verdict = key.map(|Key { id, business_id, mode, expires_at, .. }| AuthenticatedKey {
        key_id: id,
        business_id,
        mode,
        expires_at,
    });
    Ok(HttpResponse::Ok().json(KeyVerification { key: verdict }))
}

/// Any text may be asked about, however long or strange: the verdict on it is then negative. So no rule for texts here.
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
