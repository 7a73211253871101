//! Erasure of personal data for portal-api: of one order immediately, of all orders of a business in the background.

use actix_web::HttpResponse;
use actix_web::web::{Data, Json, Path};
use internal_api::orders::{BusinessErasureView, OrderView};
use web::{ApiError, JsonBody, read_body};

use super::{errors, integration, views};
use crate::commands::erase_business::request_erasure;
use crate::commands::erase_personal_data::erase_order;
use crate::queries::orders;
use crate::state::State;

/// `POST /internal/businesses/{business}/orders/{id}/erase-personal-data`
pub(super) async fn erase_one(
    state: Data<State>,
    path: Path<(String, String)>,
) -> Result<Json<OrderView>, ApiError> {
    let business = integration::parse_business(&path.0)?;
    let id = integration::parse_id(&path.1)?;
    let running = Data::clone(&state);
    let work = async move { erase_order(&running.unit, business, id).await };
    let order = state.tasks.run(work).await?.map_err(errors::from_erase)?;
    Ok(Json(views::order_view(&state.tracking_urls, state.attempts, order)))
}

/// `POST /internal/businesses/{business}/personal-data-erasure {everything?}`: starts an erasure, or returns the running one.
pub(super) async fn begin(
    state: Data<State>,
    path: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = integration::parse_business(&path)?;
    let everything =
        read_body(&body.0, &["everything"], |fields| Some(fields.optional_boolean("everything")))?;
    let erasure = request_erasure(&state, business, everything.unwrap_or(false)).await?;
    Ok(HttpResponse::Accepted().json(views::erasure_view(erasure)))
}

/// `GET /internal/businesses/{business}/personal-data-erasure`: the latest erasure.
pub(super) async fn latest(
    state: Data<State>,
    path: Path<String>,
) -> Result<Json<BusinessErasureView>, ApiError> {
    let business = integration::parse_business(&path)?;
    let erasure = orders::latest_erasure(&state, business).await?.map(views::erasure_view);
    Ok(Json(BusinessErasureView { erasure }))
}
