//! `POST …/webhook-endpoints/{endpoint}/test`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::{ApiError, Tasks};

use super::errors::from_test;
use super::{path, view};
use crate::commands;
use crate::state::State;

pub(super) async fn test(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&ids)?;
    let state = state.into_inner();
    let work = async move { commands::test_endpoint(&state, business, endpoint).await };
    let outcome = tasks.run(work).await?.map_err(from_test)?;
    Ok(HttpResponse::Ok().json(view::of_test(outcome)))
}
