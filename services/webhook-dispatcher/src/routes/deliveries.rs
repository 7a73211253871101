//! `GET …/webhook-endpoints/{endpoint}/deliveries?status=&event=`

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::Page;
use web::{ApiError, read_query};

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
    let (page, state, kind) = read_query(&request, |fields| {
        let state = fields.parsed("status", "pending, succeeded, failed or discarded");
        (fields.page(), state, fields.parsed("event", "an event kind, such as order.delivered"))
    })?;
    let unknown = |_| unknown_start("delivery of this endpoint");
    let filter = DeliveryFilter {
        endpoint,
        state,
        kind,
        after: page.starting_after.map(|id| id.parse().map_err(unknown)).transpose()?,
        limit: i64::try_from(page.limit).unwrap_or(i64::MAX),
    };
    let deliveries = queries::deliveries(&app, business, filter).await.map_err(from_log)?;
    Ok(HttpResponse::Ok().json(Page::cut(deliveries, page.limit).map(view::of_delivery)))
}
