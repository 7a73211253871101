//! `POST /internal/businesses/{id}/webhook-deliveries/{delivery}/redeliver`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::{ApiError, Tasks};

use super::errors::from_redeliver;
use super::{path, view};
use crate::app::App;
use crate::commands;

pub(super) async fn redeliver(
    app: Data<App>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, delivery) = path::delivery(&ids)?;
    let app = app.into_inner();
    let work = async move { commands::redeliver(&app, business, delivery).await };
    let redelivered = tasks.run(work).await?.map_err(from_redeliver)?;
    Ok(HttpResponse::Ok().json(view::of_redelivered(redelivered)))
}
