//! `GET /internal/businesses/{business}/events?mode=&event=&search=&limit=&startingAfter=`: the events of all orders,
//! newest first, for portal-api.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path};
use internal_api::orders::{BusinessEventView, BusinessEventsPage};
use web::{ApiError, read_query};

use super::{feed, integration, limits, views};
use crate::domain::EventSearch;
use crate::queries::business_events::{BusinessEvents, BusinessEventsError, business_events};
use crate::queries::orders;
use crate::state::State;

pub(super) async fn list(
    state: Data<State>,
    request: HttpRequest,
    path: Path<String>,
) -> Result<Json<BusinessEventsPage>, ApiError> {
    let business = integration::parse_business(&path)?;
    let (page, mut search, text) = read_query(&request, |fields| {
        let kind = fields.parsed_by("event", &feed::kinds_wanted(), feed::order_kind);
        let search = EventSearch { mode: fields.parsed("mode", "test or live"), kind, orders: None };
        (fields.page(), search, fields.text("search", limits::SEARCH))
    })?;
    if let Some(text) = text {
        search.orders = Some(orders::with_code(&state, business, &text).await?);
    }
    let before = page.starting_after.as_deref().map(|text| text.parse().map_err(|_| unknown_cursor()));
    let found = business_events(&state, business, &search, before.transpose()?, page.limit).await;
    found.map(|found| Json(view(found))).map_err(|error| match error {
        BusinessEventsError::UnknownStart => unknown_cursor(),
        BusinessEventsError::Store(error) => error.into(),
    })
}

fn unknown_cursor() -> ApiError {
    ApiError::invalid_field(
        "startingAfter",
        "invalid_value",
        "startingAfter is not the id of one of your events.",
    )
}

fn view(BusinessEvents { found, mut deliveries, incomplete }: BusinessEvents) -> BusinessEventsPage {
    let data = found.events.into_iter().map(|found| BusinessEventView {
        id: found.event.id,
        event: found.event.kind,
        sequence: found.event.sequence,
        mode: found.mode,
        order_id: found.event.order_id,
        order_reference: found.order_reference,
        occurred_at: found.event.occurred_at,
        recorded_at: found.event.recorded_at,
        deliveries: deliveries
            .remove(&found.event.id)
            .unwrap_or_default()
            .into_iter()
            .map(views::webhook_view)
            .collect(),
    });
    BusinessEventsPage {
        data: data.collect(),
        has_more: found.continue_after.is_some(),
        continue_after: found.continue_after,
        incomplete: incomplete.into_iter().map(str::to_owned).collect(),
    }
}
