//! `POST …/event-deliveries {ids}`: the deliveries of up to 100 events

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::EventId;
use internal_api::webhooks::OrderDeliveryView;
use web::{ApiError, FieldErrors, Fields, JsonBody};

use super::{path, view};
use crate::queries;
use crate::state::State;

/// The size of a page.
const EVENTS_MAX: usize = 100;

pub(super) async fn list(
    state: Data<State>,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let field_errors = FieldErrors::default();
    let ids = Fields::of_body(&body.0, &field_errors)
        .and_then(|fields| fields.optional_words::<EventId>("ids", EVENTS_MAX, "the id of an event"));
    if !field_errors.is_empty() {
        return Err(ApiError::invalid(field_errors));
    }
    let found = queries::deliveries_of_events(&state, business, &ids.unwrap_or_default()).await?;
    let views: Vec<OrderDeliveryView> = found.into_iter().map(view::of_order_delivery).collect();
    Ok(HttpResponse::Ok().json(views))
}
