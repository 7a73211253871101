//! `POST /internal/businesses/{id}/webhook-deliveries/{delivery}/redeliver`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::{ApiError, Tasks};

use super::errors::from_redeliver;
use super::{path, view};
use crate::commands;
use crate::state::State;

pub(super) async fn redeliver(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, delivery) = path::delivery(&ids)?;
    let state = state.into_inner();
    let work = async move { commands::redeliver(&state, business, delivery).await };
    let redelivered = tasks.run(work).await?.map_err(from_redeliver)?;
    Ok(HttpResponse::Ok().json(view::of_redelivered(redelivered)))
}
