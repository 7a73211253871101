//! `DELETE …/webhook-endpoints/{endpoint}`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::{ApiError, Tasks};

use super::errors::endpoint_not_found;
use super::path;
use crate::commands;
use crate::state::State;

pub(super) async fn delete(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&ids)?;
    let state = state.into_inner();
    let work = async move { commands::delete_endpoint(&state, business, endpoint).await };
    if tasks.run(work).await?? { Ok(HttpResponse::NoContent().finish()) } else { Err(endpoint_not_found()) }
}
