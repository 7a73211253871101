//! What portal-api asks for its businesses. The business is in the path; the mode is the portal user's choice.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path};
use internal_api::Page;
use internal_api::orders::{AnyTestOrder, OrderView};
use web::{ApiError, read_query};

use super::{errors, integration, views};
use crate::app::App;
use crate::store::orders;

pub(super) async fn list(
    app: Data<App>,
    request: HttpRequest,
    path: Path<String>,
) -> Result<Json<Page<OrderView>>, ApiError> {
    let business = integration::parse_business(&path)?;
    let query = read_query(&request, |fields| {
        let mode = fields.parsed("mode", "test or live");
        integration::order_query(fields, mode)
    })?;
    integration::page(&app, business, query).await.map(Json)
}

pub(super) async fn get(app: Data<App>, path: Path<(String, String)>) -> Result<Json<OrderView>, ApiError> {
    let order = integration::find(&app, integration::parse_business(&path.0)?, None, &path.1).await?;
    Ok(Json(views::order_view(&app.ambient, order)))
}

pub(super) async fn any_test_order(
    app: Data<App>,
    path: Path<String>,
) -> Result<Json<AnyTestOrder>, ApiError> {
    let mut conn = app.database.connection().await.map_err(errors::from_store)?;
    let exists = orders::any_test_order(&mut conn, integration::parse_business(&path)?)
        .await
        .map_err(errors::from_store)?;
    Ok(Json(AnyTestOrder { exists }))
}
