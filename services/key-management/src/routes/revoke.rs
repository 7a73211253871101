//! `POST /internal/businesses/{id}/api-keys/{key}/revoke`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::{ApiError, Tasks};

use super::errors::from_revoke;
use super::{path, view};
use crate::app::App;
use crate::commands;

/// Runs to its end although the caller has gone: whoever asked for it wants the key dead.
pub(super) async fn revoke(
    app: Data<App>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, id) = path::key_of_business(&ids)?;
    let app = app.into_inner();
    let key = tasks.run(async move { commands::revoke(&app, business, id).await }).await?;
    Ok(HttpResponse::Ok().json(view::of_key(key.map_err(from_revoke)?)))
}
