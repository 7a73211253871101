//! `GET …/webhook-endpoints/{endpoint}/deliveries?status=&event=`

use std::str::FromStr;

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::Page;
use web::ApiError;

use super::errors::{from_log, unknown_start};
use super::{path, view};
use crate::app::App;
use crate::queries;
use crate::store::DeliveryFilter;

pub(super) async fn list(
    request: HttpRequest,
    app: Data<App>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&ids)?;
    let page = web::page_query(&request)?;
    let unknown = |_| unknown_start("delivery of this endpoint");
    let filter = DeliveryFilter {
        endpoint,
        state: word(&request, "status", "pending, succeeded, failed or discarded")?,
        kind: word(&request, "event", "an event kind, such as order.delivered")?,
        after: page.starting_after.map(|id| id.parse().map_err(unknown)).transpose()?,
        limit: i64::try_from(page.limit).unwrap_or(i64::MAX),
    };
    let deliveries = queries::deliveries(&app, business, filter).await.map_err(from_log)?;
    Ok(HttpResponse::Ok().json(Page::cut(deliveries, page.limit).map(view::of_delivery)))
}

fn word<T: FromStr>(request: &HttpRequest, name: &str, allowed: &str) -> Result<Option<T>, ApiError> {
    let wrong = |_| ApiError::invalid_field(name, "invalid_value", format!("{name} must be {allowed}."));
    web::query_value(request, name)?.map(|text| text.parse().map_err(wrong)).transpose()
}
