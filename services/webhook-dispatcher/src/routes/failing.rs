//! `GET /internal/failing-endpoints`

use actix_web::HttpResponse;
use actix_web::web::Data;
use internal_api::attention::{self, ATTENTION_MAX};
use web::ApiError;

use crate::queries::{self, FailingEndpoint};
use crate::state::State;

pub(super) async fn list(state: Data<State>) -> Result<HttpResponse, ApiError> {
    let failing = queries::failing_endpoints(&state, ATTENTION_MAX).await?;
    Ok(HttpResponse::Ok().json(failing.into_iter().map(view).collect::<Vec<_>>()))
}

fn view(endpoint: FailingEndpoint) -> attention::FailingEndpoint {
    attention::FailingEndpoint {
        business_id: endpoint.business_id,
        endpoint_id: endpoint.id,
        failing_since: endpoint.failing_since,
    }
}
