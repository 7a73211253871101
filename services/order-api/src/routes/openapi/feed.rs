//! The events feed of a business.
#![expect(dead_code, reason = "described, not called")]

use domain::KeyScope;
use utoipa::ToSchema;

use super::answers::Sample;
use super::integration::before_all;
use super::operation::Operation;
use super::parameters::{EventPath, FeedQuery};
use super::samples::Samples;
use super::webhooks::{self, WebhookEvent};
use crate::domain::FeedPosition;
use crate::feed_waiters::TooManyWaiting;
use crate::queries::feed::FeedError;
use crate::routes::{errors, feed, feed_page};

/// Events, oldest first.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(super) struct EventList {
    data: Vec<WebhookEvent>,
    /// Whether more events may follow now. `data` can be empty even then: the next page continues behind events of the other mode
    /// or of other kinds.
    has_more: bool,
    /// The `startingAfter` of the next call, now or later. Store it in the transaction of what the events caused.
    next: String,
}

pub(super) fn operations(samples: &Samples) -> Vec<Operation> {
    vec![list(samples), get(samples)]
}

/// List events
///
/// The events of your orders in the key's mode, oldest first, as the webhooks about them: use it to catch up after an outage, and
/// where no webhook can reach you. Each event has the bytes of the webhook's body. All events are listed, whatever your endpoints
/// subscribe to; each order's in the order of `sequence`. An event appears at most a second after it was recorded.
///
/// Continue with `startingAfter` set to `next`, which an empty page has too. With `waitSeconds` the call waits for the first event:
/// at most two calls of a key may wait at once.
#[utoipa::path(
    get,
    path = "/v1/integration/events",
    operation_id = "listEvents",
    tag = "Orders",
    params(FeedQuery),
    responses((status = 200, description = "The events.", body = EventList)),
)]
pub(super) fn list_events() {}

fn list(samples: &Samples) -> Operation {
    let page = |bodies: &[String]| {
        let bodies: Vec<_> = bodies.iter().map(|body| body.clone().into_bytes()).collect();
        let next = FeedPosition::before(samples.order(domain::Mode::Live, &[]).created_at);
        String::from_utf8_lossy(&feed_page::page(&bodies, false, next)).into_owned()
    };
    let bodies: Vec<String> =
        webhooks::of_orders(samples).into_iter().take(2).map(|(_, _, body)| body).collect();
    let mut errors = before_all(KeyScope::ReadEvents);
    errors.push(errors::from_feed(FeedError::TooManyWaiting(TooManyWaiting::OfKey)));
    errors.push(feed::unknown_cursor());
    Operation {
        id: "listEvents",
        answers: vec![("page", "Two events", page(&bodies)), ("empty", "No event yet", page(&[]))],
        headers: &["Webhook-Header-Prefix"],
        errors,
        ..Operation::default()
    }
}

/// Get an event
///
/// One event by its id: the body of its webhook, byte for byte.
#[utoipa::path(
    get,
    path = "/v1/integration/events/{id}",
    operation_id = "getEvent",
    tag = "Orders",
    params(EventPath),
    responses((status = 200, description = "The event.", body = WebhookEvent)),
)]
pub(super) fn get_event() {}

fn get(samples: &Samples) -> Operation {
    let answers: Vec<Sample> = webhooks::of_orders(samples).into_iter().take(1).collect();
    let mut errors = before_all(KeyScope::ReadEvents);
    errors.push(errors::event_not_found());
    Operation { id: "getEvent", answers, headers: &["Webhook-Header-Prefix"], errors, ..Operation::default() }
}
