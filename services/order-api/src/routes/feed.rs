//! The events feed of a business: `GET /v1/integration/events` and one event of it. The events are the bodies of its
//! webhooks, byte for byte, so that one handler of the integrator can take both.

use std::time::Duration;

use actix_web::http::header::{ContentType, HeaderName, HeaderValue};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{EventKind, KeyScope};
use internal_api::keys::AuthenticatedKey;
use web::{ApiError, QueryFields, no_query, read_query};

use super::feed_page::{self, FeedCursor};
use super::limits::WAIT_MAX_S;
use super::openapi::{bodies, params, webhooks};
use super::{authenticate, errors, integration};
use crate::domain::{FeedFilter, FeedPosition};
use crate::queries::feed::{self, FeedRequest};
use crate::state::State;

/// Begins the names of webhook headers, for those who sign events themselves.
const HEADER_PREFIX: HeaderName = HeaderName::from_static("webhook-header-prefix");

struct FeedQuery {
    limit: usize,
    starting_after: Option<String>,
    since: Option<DateTime<Utc>>,
    kinds: Option<Vec<EventKind>>,
    wait: Duration,
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
    params(params::FeedQuery),
    responses((status = 200, description = "The events.", body = bodies::EventList)),
)]
pub(super) async fn list(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let caller = authenticate::business(&state, &request, KeyScope::ReadEvents).await?;
    let query = read_query(&request, read)?;
    let cursor =
        query.starting_after.as_deref().map(|text| FeedCursor::parse(text).ok_or_else(unknown_cursor));
    let start = start(&state, &caller, cursor.transpose()?).await?;
    let page = FeedRequest {
        business: caller.business_id,
        key: caller.key_id,
        filter: FeedFilter { mode: caller.mode, kinds: query.kinds },
        start: query.since.map_or(start, |since| start.or_from(since)),
        limit: query.limit,
        wait: query.wait,
    };
    let slice = feed::page(&state, &page).await.map_err(errors::from_feed)?;
    if !page.wait.is_zero() {
        // The key may have been revoked or expired while the call waited.
        authenticate::identify(&state, &request).await?;
    }
    let next = slice.end.unwrap_or(page.start);
    let bodies = slice.events.iter().map(|event| feed_page::body(&state.tracking_urls, event));
    let bodies = bodies.collect::<Result<Vec<_>, _>>().map_err(ApiError::internal)?;
    answer(&state, feed_page::page(&bodies, slice.has_more, next))
}

/// Get an event
///
/// One event by its id: the body of its webhook, byte for byte.
#[utoipa::path(
    get,
    path = "/v1/integration/events/{id}",
    operation_id = "getEvent",
    tag = "Orders",
    params(params::EventPath),
    responses((status = 200, description = "The event.", body = webhooks::WebhookEvent)),
)]
pub(super) async fn get(
    state: Data<State>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let caller = authenticate::business(&state, &request, KeyScope::ReadEvents).await?;
    no_query(&request)?;
    let id = id.parse().map_err(|_| errors::event_not_found())?;
    let found = feed::event(&state, caller.business_id, caller.mode, id).await?;
    let event = found.ok_or_else(errors::event_not_found)?;
    answer(&state, feed_page::body(&state.tracking_urls, &event).map_err(ApiError::internal)?)
}

fn answer(state: &State, body: Vec<u8>) -> Result<HttpResponse, ApiError> {
    let prefix = HeaderValue::try_from(&state.webhook_header_prefix).map_err(ApiError::internal)?;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).insert_header((HEADER_PREFIX, prefix)).body(body))
}

fn read(fields: &mut QueryFields) -> FeedQuery {
    let page = fields.page();
    let wanted = format!("a whole number between 0 and {WAIT_MAX_S}");
    let wait = fields.parsed_by("waitSeconds", &wanted, wait_seconds);
    FeedQuery {
        limit: page.limit,
        starting_after: page.starting_after,
        since: integration::time(fields, "since"),
        kinds: fields.parsed_by("types", &kinds_wanted(), kinds),
        wait: Duration::from_secs(wait.unwrap_or_default()),
    }
}

/// Digits only: the meaning of `+5` is unclear in a query string.
fn wait_seconds(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten().filter(|seconds| *seconds <= WAIT_MAX_S)
}

fn kinds(text: &str) -> Option<Vec<EventKind>> {
    text.split(',').map(order_kind).collect()
}

pub(super) fn order_kind(text: &str) -> Option<EventKind> {
    EventKind::of_orders().find(|kind| kind.as_str() == text)
}

pub(super) fn kinds_wanted() -> String {
    let names: Vec<_> = EventKind::of_orders().map(EventKind::as_str).collect();
    format!("kinds of events of orders, separated by commas: {}", names.join(", "))
}

async fn start(
    state: &State,
    caller: &AuthenticatedKey,
    cursor: Option<FeedCursor>,
) -> Result<FeedPosition, ApiError> {
    match cursor {
        None => Ok(FeedPosition::BEGINNING),
        Some(FeedCursor::At(position)) => Ok(position),
        Some(FeedCursor::Now) => Ok(feed::now(state).await?),
        Some(FeedCursor::Event(id)) => {
            let event = feed::event(state, caller.business_id, caller.mode, id).await?;
            Ok(event.ok_or_else(unknown_cursor)?.position)
        }
    }
}

pub(super) fn unknown_cursor() -> ApiError {
    let message =
        "startingAfter is neither next of an earlier answer, nor the id of one of your events, nor now.";
    ApiError::invalid_field("startingAfter", "invalid_value", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_seconds_are_read_exactly() {
        let both = vec![EventKind::OrderFailed, EventKind::OrderCreated];
        assert_eq!(kinds("order.failed,order.created"), Some(both));
        for bad in [
            "",
            "order.failed,",
            "order.failed, order.created",
            "order.lost",
            "wallet.low_balance",
            "webhook.test",
        ] {
            assert_eq!(kinds(bad), None, "{bad}");
        }
        assert_eq!((wait_seconds("0"), wait_seconds("25")), (Some(0), Some(25)));
        for bad in ["", "26", "+5", "-1", "1.5", "99999999999999999999"] {
            assert_eq!(wait_seconds(bad), None, "{bad}");
        }
    }
}
