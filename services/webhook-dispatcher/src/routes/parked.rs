//! `POST …/webhook-endpoints/{endpoint}/parked/{replay|discard}`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::{ApiError, Tasks};

use super::errors::from_parked;
use super::{path, view};
use crate::commands;
use crate::domain::ParkedDecision;
use crate::state::State;

pub(super) async fn replay(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    decide(state, tasks, &ids, ParkedDecision::Replay).await
}

pub(super) async fn discard(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    decide(state, tasks, &ids, ParkedDecision::Discard).await
}

/// The sweeper carries out the decision; `parkedDeliveries` shows its progress.
async fn decide(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: &(String, String),
    decision: ParkedDecision,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(ids)?;
    let context = view::ViewContext::of(&state);
    let state = state.into_inner();
    let work = async move { commands::decide_on_parked(&state, business, endpoint, decision).await };
    let endpoint = tasks.run(work).await?.map_err(from_parked)?;
    Ok(HttpResponse::Accepted().json(view::of_endpoint(endpoint, context)))
}
