//! The health of endpoints: `GET /internal/businesses/{id}/webhooks/summary`, and `GET /internal/failing-endpoints` of all
//! businesses.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use internal_api::attention::{self, ATTENTION_MAX};
use web::ApiError;

use super::{path, view};
use crate::queries::{self, FailingEndpoint};
use crate::state::State;

pub(super) async fn summary(state: Data<State>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let summary = queries::endpoints_summary(&state, business).await?;
    Ok(HttpResponse::Ok().json(view::of_summary(summary)))
}

pub(super) async fn failing(state: Data<State>) -> Result<HttpResponse, ApiError> {
    let failing = queries::failing_endpoints(&state, ATTENTION_MAX).await?;
    Ok(HttpResponse::Ok().json(failing.into_iter().map(of_failing).collect::<Vec<_>>()))
}

fn of_failing(endpoint: FailingEndpoint) -> attention::FailingEndpoint {
    attention::FailingEndpoint {
        business_id: endpoint.business_id,
        endpoint_id: endpoint.id,
        failing_since: endpoint.failing_since,
    }
}
