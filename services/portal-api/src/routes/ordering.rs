//! `GET /internal/businesses/{id}/ordering`: what order-api needs to know of a business.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::BusinessId;
use internal_api::ordering::OrderingContext;
use web::ApiError;

use super::errors;
use crate::app::App;
use crate::commands::confirm_go_live::confirm_go_live;
use crate::store::businesses;

/// Also asked for test orders, which need the pickup profile alone: an owner that does not answer leaves its item open
/// and must not stop them.
pub(super) async fn ordering(app: Data<App>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business: BusinessId = business.parse().map_err(|_| errors::business_not_found())?;
    let read = app.database.read(async |conn| businesses::standing(conn, business).await).await;
    let standing = read.map_err(errors::store)?.ok_or_else(errors::business_not_found)?;
    let standing = confirm_go_live(&app, standing).await.map_err(errors::store)?.standing;
    let missing = standing.missing();
    Ok(HttpResponse::Ok().json(OrderingContext { missing, pickup: standing.pickup }))
}
