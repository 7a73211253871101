//! `GET …/orders/{order}/webhook-deliveries?limit=&after=&afterId=`, and one of them

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{BusinessId, OrderId};
use internal_api::Page;
use web::{ApiError, QueryFields, TextRule, read_query};

use super::errors::delivery_not_found;
use super::{path, view};
use crate::domain::TimelineCursor;
use crate::queries;
use crate::state::State;

/// Longer than any id of the timeline.
const AFTER_ID: TextRule = TextRule::code(64);

pub(super) async fn list(
    request: HttpRequest,
    state: Data<State>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, order) = (path::business(&ids.0)?, order(&ids.1)?);
    let (page, after) = read_query(&request, |fields| (fields.page(), cursor(fields)))?;
    let deliveries = queries::deliveries_of_order(&state, business, order, after, page.limit).await;
    let page = Page::cut(deliveries?, page.limit);
    Ok(HttpResponse::Ok().json(page.map(view::of_order_delivery)))
}

pub(super) async fn show(
    state: Data<State>,
    ids: Path<(String, String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, order): (BusinessId, OrderId) = (path::business(&ids.0)?, order(&ids.1)?);
    let id = ids.2.parse().map_err(|_| delivery_not_found())?;
    let delivery = queries::delivery_of_order(&state, business, order, id).await?;
    let delivery = delivery.ok_or_else(delivery_not_found)?;
    Ok(HttpResponse::Ok().json(view::of_order_delivery(delivery)))
}

fn order(text: &str) -> Result<OrderId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("order_not_found", "order"))
}

fn cursor(fields: &mut QueryFields) -> Option<TimelineCursor> {
    let at = fields.parsed_by("after", "a time in RFC 3339 format", |text| {
        DateTime::parse_from_rfc3339(text).ok().map(|at| at.with_timezone(&Utc))
    });
    let id = fields.text("afterId", AFTER_ID).unwrap_or_default();
    at.map(|at| TimelineCursor { at, id })
}
