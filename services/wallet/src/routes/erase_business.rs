//! `POST /internal/wallets/{business}/erasure`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use internal_api::ErasureProgress;
use web::{ApiError, Tasks};

use super::path;
use crate::commands::erase_business::erase_business;
use crate::state::State;

pub(super) async fn erase(
    state: Data<State>,
    tasks: Data<Tasks>,
    business: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let state = state.into_inner();
    let complete = tasks.run(async move { erase_business(&state, business).await }).await??;
    Ok(HttpResponse::Ok().json(ErasureProgress { complete }))
}
