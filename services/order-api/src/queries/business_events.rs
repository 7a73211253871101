//! The events of all orders of a business with their webhooks, for the portal.
//!
//! Without an answer of webhook-dispatcher, the events have no webhooks and `incomplete` names it, as in a timeline.

use std::collections::HashMap;

use domain::{BusinessId, EventId};
use internal_api::webhooks::OrderDeliveryView;
use postgres::StoreError;

use super::order_timeline::in_time;
use crate::domain::{EventSearch, FoundEvents};
use crate::page_slots::Reader;
use crate::state::State;
use crate::store::feed;

pub struct BusinessEvents {
    pub found: FoundEvents,
    pub deliveries: HashMap<EventId, Vec<OrderDeliveryView>>,
    /// The peers that did not answer.
    pub incomplete: Vec<&'static str>,
}

#[derive(Debug, thiserror::Error)]
pub enum BusinessEventsError {
    #[error("the page starts after an unknown event")]
    UnknownStart,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The events before another one, newest first; without it, from the newest on.
pub async fn business_events(
    state: &State,
    business: BusinessId,
    search: &EventSearch,
    before: Option<EventId>,
    limit: usize,
) -> Result<BusinessEvents, BusinessEventsError> {
    let found = read(state, business, search, before, limit).await?;
    let ids: Vec<EventId> = found.events.iter().map(|found| found.event.id).collect();
    let mut events = BusinessEvents { found, deliveries: HashMap::new(), incomplete: Vec::new() };
    if ids.is_empty() {
        return Ok(events);
    }
    match in_time(state.webhooks.of_events(business, &ids)).await {
        Some(all) => {
            for delivery in all {
                events.deliveries.entry(delivery.event_id).or_default().push(delivery);
            }
        }
        None => events.incomplete.push("webhook-dispatcher"),
    }
    Ok(events)
}

async fn read(
    state: &State,
    business: BusinessId,
    search: &EventSearch,
    before: Option<EventId>,
    limit: usize,
) -> Result<FoundEvents, BusinessEventsError> {
    let database = &state.unit.database;
    let start = match before {
        None => None,
        Some(id) => {
            let event = database.read(async |conn| feed::find(conn, business, None, id).await).await?;
            Some(event.ok_or(BusinessEventsError::UnknownStart)?.position)
        }
    };
    let _slot = state.page_slots.enter(Reader::Business(business)).await?;
    Ok(database.read(async |conn| feed::newest(conn, business, search, start, limit).await).await?)
}
