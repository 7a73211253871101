//! `POST /internal/businesses/{id}/api-keys/{key}/revoke`

use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, Tasks, read_optional_json};

use super::errors::from_revoke;
use super::{path, view};
use crate::commands;
use crate::state::State;

/// Completes even if the caller disconnects, because a revocation must not get lost.
pub(super) async fn revoke(
    request: HttpRequest,
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let (business, id) = path::key_of_business(&ids)?;
    let keeps = keeps_predecessor(&read_optional_json(&request, payload).await?)?;
    let state = state.into_inner();
    let revoked = tasks.run(async move { commands::revoke(&state, business, id, keeps).await }).await?;
    Ok(HttpResponse::Ok().json(view::of_revoked(revoked.map_err(from_revoke)?)))
}

fn keeps_predecessor(body: &Value) -> Result<bool, ApiError> {
    const KEEP_PREDECESSOR: &str = "keepPredecessor";
    if body.is_null() {
        return Ok(false);
    }
    let errors = FieldErrors::default();
    let keeps = Fields::only(body, &errors, &[KEEP_PREDECESSOR])
        .and_then(|fields| fields.optional_boolean(KEEP_PREDECESSOR));
    if errors.is_empty() { Ok(keeps.unwrap_or(false)) } else { Err(ApiError::invalid(errors)) }
}
