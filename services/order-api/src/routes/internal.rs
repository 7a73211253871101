//! What portal-api asks for its businesses. The business is in the path; the mode is the portal user's choice.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path, Payload};
use domain::OrderId;
use internal_api::orders::{AcceptedRequest, AnyTestOrder, OrderReference, OrderView};
use web::{ApiError, FieldErrors, Fields, JsonBody, TextRule, read_optional_json, read_query};

use super::fleet_page::OrderPage;
use super::{errors, integration, order_body, views};
use crate::app::App;
use crate::store::orders;

/// What an order is looked for by: no id and no code is as long as a reference may be.
pub(super) const SEARCH: TextRule = order_body::REFERENCE;
/// As many as a page has.
const REFERENCES_MAX: usize = 100;

pub(super) async fn list(
    app: Data<App>,
    request: HttpRequest,
    path: Path<String>,
) -> Result<Json<OrderPage>, ApiError> {
    let business = integration::parse_business(&path)?;
    let (mut query, search) = read_query(&request, |fields| {
        let mode = fields.parsed("mode", "test or live");
        (integration::order_query(fields, mode), fields.text("search", SEARCH))
    })?;
    if let Some(text) = search {
        let mut conn = app.database.connection().await.map_err(errors::from_store)?;
        let named = orders::named(&mut conn, business, &text).await.map_err(errors::from_store)?;
        query.filter.among = Some(named);
    }
    integration::page(&app, business, query).await.map(Json)
}

/// The request that an order was accepted from.
pub(super) async fn request(
    app: Data<App>,
    path: Path<(String, String)>,
) -> Result<Json<AcceptedRequest>, ApiError> {
    let business = integration::parse_business(&path.0)?;
    let id = integration::parse_id(&path.1)?;
    let read = app.database.read(async |conn| orders::accepted(conn, business, id).await).await;
    let accepted = read.map_err(errors::from_store)?.ok_or_else(errors::order_not_found)?;
    Ok(Json(views::accepted_request(accepted)))
}

/// `POST /internal/businesses/{business}/orders/{id}/cancel`, with `{reason?}`: as the integration API's.
pub(super) async fn cancel(
    app: Data<App>,
    path: Path<(String, String)>,
    request: HttpRequest,
    payload: Payload,
) -> Result<Json<OrderView>, ApiError> {
    let business = integration::parse_business(&path.0)?;
    let reason = integration::cancel_reason(&read_optional_json(&request, payload).await?)?;
    let order = integration::find(&app, business, None, &path.1).await?;
    integration::call_off(&app, business, order.mode, order.id, reason).await
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
    let field_errors = FieldErrors::default();
    let ids = Fields::of_body(&body.0, &field_errors)
        .and_then(|fields| fields.optional_words::<OrderId>("ids", REFERENCES_MAX, "the id of an order"));
    if !field_errors.is_empty() {
        return Err(ApiError::invalid(field_errors));
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
