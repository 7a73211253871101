//! `GET /internal/businesses/{id}/ordering`: whether a business may place live orders, and its pickup profile, for order-api.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::BusinessId;
use internal_api::ordering::OrderingContext;
use web::ApiError;

use crate::business::queries::businesses;
use crate::business::routes::pickup_profile::to_wire;
use crate::go_live::commands::confirm_go_live::confirm_go_live;
use crate::http::errors;
use crate::state::State;

/// A service that does not answer leaves its item open, without an error: test orders need only the pickup profile.
pub(crate) async fn ordering(state: Data<State>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business: BusinessId = business.parse().map_err(|_| errors::business_not_found())?;
    let standing = businesses::standing(&state, business).await?.ok_or_else(errors::business_not_found)?;
    let standing = confirm_go_live(&state, standing).await?.standing;
    let missing = standing.missing();
    let pickup = standing.pickup.map(to_wire);
    Ok(HttpResponse::Ok().json(OrderingContext { missing, closing: standing.closing, pickup }))
}
