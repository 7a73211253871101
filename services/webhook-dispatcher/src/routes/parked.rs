//! `POST …/webhook-endpoints/{endpoint}/parked/{replay|discard}`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::{ApiError, Tasks};

use super::errors::from_parked;
use super::{path, view};
use crate::app::App;
use crate::commands;
use crate::domain::ParkedFate;

pub(super) async fn replay(
    app: Data<App>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    decide(app, tasks, &ids, ParkedFate::Replay).await
}

pub(super) async fn discard(
    app: Data<App>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    decide(app, tasks, &ids, ParkedFate::Discard).await
}

/// Accepted: `parkedDeliveries` tells how far it is.
async fn decide(
    app: Data<App>,
    tasks: Data<Tasks>,
    ids: &(String, String),
    fate: ParkedFate,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(ids)?;
    let moment = view::Moment::of(&app);
    let app = app.into_inner();
    let work = async move { commands::decide_parked(&app, business, endpoint, fate).await };
    let endpoint = tasks.run(work).await?.map_err(from_parked)?;
    Ok(HttpResponse::Accepted().json(view::of_endpoint(endpoint, moment)))
}
