//! What portal-api asks for its businesses. The business is in the path; the mode is the portal user's choice.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path};
use domain::OrderId;
use internal_api::Page;
use internal_api::orders::{AnyTestOrder, OrderReference, OrderView};
use web::{ApiError, FaultList, Fields, JsonBody, read_query};

use super::{errors, integration, views};
use crate::app::App;
use crate::store::orders;

/// As many as a page has.
const REFERENCES_MAX: usize = 100;

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

/// Of up to 100 orders; those that are not this business's are left out.
pub(super) async fn references(
    app: Data<App>,
    path: Path<String>,
    body: JsonBody,
) -> Result<Json<Vec<OrderReference>>, ApiError> {
    let business = integration::parse_business(&path)?;
    let faults = FaultList::default();
    let ids = Fields::of_body(&body.0, &faults)
        .and_then(|fields| fields.optional_words::<OrderId>("ids", REFERENCES_MAX, "the id of an order"));
    if !faults.is_empty() {
        return Err(ApiError::invalid(faults));
    }
    let mut conn = app.database.connection().await.map_err(errors::from_store)?;
    let found = orders::references(&mut conn, business, &ids.unwrap_or_default()).await;
    let views = found.map_err(errors::from_store)?.into_iter();
    Ok(Json(views.map(|(id, order_reference)| OrderReference { id, order_reference }).collect()))
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
