//! `GET /internal/businesses/{business}/open-orders`

use actix_web::web::{Data, Json, Path};
use internal_api::orders::open::OpenOrders;
use web::ApiError;

use super::integration;
use crate::queries::open_orders;
use crate::state::State;

/// Of each kind.
const COUNTED_MAX: i64 = 1_000;

pub(super) async fn count(state: Data<State>, path: Path<String>) -> Result<Json<OpenOrders>, ApiError> {
    let business = integration::parse_business(&path)?;
    let found = open_orders::count(&state, business, COUNTED_MAX).await?;
    Ok(Json(OpenOrders { on_their_way: found.on_their_way, failed: found.failed, cash: found.cash }))
}
