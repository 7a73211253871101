//! `GET /v1/portal/packages`: the packages for integrators that order-api serves.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use web::ApiError;

use crate::state::State;

#[derive(Serialize, utoipa::ToSchema)]
struct PackagesView {
    /// The names of the files below `/docs/downloads` of the API's host; empty if it serves none.
    data: Vec<String>,
}

#[utoipa::path(
    get,
    path = "/v1/portal/packages",
    operation_id = "listPackages",
    tag = "Overview",
    summary = "List the packages for integrators that this installation serves",
    responses((status = 200, description = "The names of the packages.", body = PackagesView)),
)]
pub(crate) async fn list(state: Data<State>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(PackagesView { data: state.peers.orders.packages().await? }))
}
