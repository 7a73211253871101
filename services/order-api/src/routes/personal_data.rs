//! Erasing what orders tell of people, as portal-api asks for it: one order at once, all of a business by and by.

use actix_web::HttpResponse;
use actix_web::web::{Data, Json, Path};
use internal_api::orders::{BusinessErasureView, OrderView};
use web::ApiError;

use super::{errors, integration, views};
use crate::app::App;
use crate::commands::erase_personal_data::erase_order;
use crate::store::erasures;

/// `POST /internal/businesses/{business}/orders/{id}/erase-personal-data`
pub(super) async fn erase_one(
    app: Data<App>,
    path: Path<(String, String)>,
) -> Result<Json<OrderView>, ApiError> {
    let business = integration::parse_business(&path.0)?;
    let id = integration::parse_id(&path.1)?;
    let running = Data::clone(&app);
    let work = async move { erase_order(&running.ambient, &running.database, business, id).await };
    let order = app.tasks.run(work).await?.map_err(errors::from_erase)?;
    app.notifier.notify();
    Ok(Json(views::order_view(&app.ambient, order)))
}

/// `POST /internal/businesses/{business}/personal-data-erasure`: begins it, or tells of the one under way.
pub(super) async fn begin(app: Data<App>, path: Path<String>) -> Result<HttpResponse, ApiError> {
    let business = integration::parse_business(&path)?;
    let now = app.ambient.clock.now();
    let mut conn = app.database.connection().await.map_err(errors::from_store)?;
    let begun = erasures::begin(&mut conn, business, now).await.map_err(errors::from_store)?;
    Ok(HttpResponse::Accepted().json(views::erasure_view(begun)))
}

/// `GET /internal/businesses/{business}/personal-data-erasure`: the latest one.
pub(super) async fn latest(
    app: Data<App>,
    path: Path<String>,
) -> Result<Json<BusinessErasureView>, ApiError> {
    let business = integration::parse_business(&path)?;
    let read = app.database.read(async |conn| erasures::of_business(conn, business).await).await;
    let erasure = read.map_err(errors::from_store)?.map(views::erasure_view);
    Ok(Json(BusinessErasureView { erasure }))
}
