//! `POST /internal/businesses/{id}/api-keys/{key}/revoke`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::{ApiError, Tasks};

use super::errors::from_revoke;
use super::{path, view};
use crate::commands;
use crate::state::State;

/// Completes even if the caller disconnects, because a revocation must not get lost.
pub(super) async fn revoke(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, id) = path::key_of_business(&ids)?;
    let state = state.into_inner();
    let key = tasks.run(async move { commands::revoke(&state, business, id).await }).await?;
    Ok(HttpResponse::Ok().json(view::of_key(key.map_err(from_revoke)?)))
}
