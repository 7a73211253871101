//! What portal-api asks for its businesses. The business is in the path; the mode is the portal user's choice.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path};
use domain::BusinessId;
use internal_api::Page;
use internal_api::orders::{AnyTestOrder, OrderEventView, OrderView};
use web::{ApiError, JsonBody, query_value};

use super::{errors, integration, views};
use crate::app::App;
use crate::store::orders;

fn business(id: &str) -> Result<BusinessId, ApiError> {
    id.parse().map_err(|_| ApiError::not_found("business_not_found", "business"))
}

pub(super) async fn list(
    app: Data<App>,
    request: HttpRequest,
    path: Path<String>,
) -> Result<Json<Page<OrderView>>, ApiError> {
    let mode =
        query_value(&request, "mode")?.map(|mode| integration::parse_word(&mode, "mode")).transpose()?;
    integration::page(&app, business(&path)?, mode, &request).await.map(Json)
}

pub(super) async fn get(app: Data<App>, path: Path<(String, String)>) -> Result<Json<OrderView>, ApiError> {
    let order = integration::find(&app, business(&path.0)?, None, &path.1).await?;
    Ok(Json(views::order_view(&app.ambient, order)))
}

pub(super) async fn events(
    app: Data<App>,
    request: HttpRequest,
    path: Path<(String, String)>,
) -> Result<Json<Page<OrderEventView>>, ApiError> {
    integration::timeline_page(&app, business(&path.0)?, None, &path.1, &request).await.map(Json)
}

pub(super) async fn simulate(
    app: Data<App>,
    path: Path<(String, String)>,
    body: JsonBody,
) -> Result<Json<OrderView>, ApiError> {
    let id = integration::parse_id(&path.1)?;
    let event = integration::simulated_event(&body.0)?;
    integration::simulate_test_order(&app, business(&path.0)?, id, event).await.map(Json)
}

pub(super) async fn any_test_order(
    app: Data<App>,
    path: Path<String>,
) -> Result<Json<AnyTestOrder>, ApiError> {
    let mut conn = app.database.connection().await.map_err(errors::from_store)?;
    let exists = orders::any_test_order(&mut conn, business(&path)?).await.map_err(errors::from_store)?;
    Ok(Json(AnyTestOrder { exists }))
}
