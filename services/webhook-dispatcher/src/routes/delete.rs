//! `DELETE …/webhook-endpoints/{endpoint}`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::{ApiError, Tasks};

use super::errors::{endpoint_not_found, from_store};
use super::path;
use crate::app::App;
use crate::commands;

pub(super) async fn delete(
    app: Data<App>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&ids)?;
    let app = app.into_inner();
    let work = async move { commands::delete_endpoint(&app, business, endpoint).await };
    if tasks.run(work).await?.map_err(from_store)? {
        Ok(HttpResponse::NoContent().finish())
    } else {
        Err(endpoint_not_found())
    }
}
