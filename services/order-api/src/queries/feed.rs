//! The events feed of a business, and the wait for new events.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, EventId, Mode};
use postgres::StoreError;
use tokio::time::{Instant, timeout_at};

use crate::domain::{FeedEvent, FeedFilter, FeedPosition, FeedSlice};
use crate::feed_waiters::TooManyWaiting;
use crate::page_slots::Reader;
use crate::state::State;
use crate::store::feed;

#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    #[error(transparent)]
    TooManyWaiting(#[from] TooManyWaiting),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A page of a business's feed.
#[derive(Clone, Debug)]
pub struct FeedRequest {
    pub business: BusinessId,
    /// Of the caller; its waiting calls are limited.
    pub key: ApiKeyId,
    pub filter: FeedFilter,
    pub start: FeedPosition,
    pub limit: usize,
    /// For the first event.
    pub wait: Duration,
}

/// The next events, oldest first. Waits for the first one if there is none yet.
pub async fn page(state: &State, request: &FeedRequest) -> Result<FeedSlice, FeedError> {
    let deadline = Instant::now() + request.wait;
    let mut slice = read(state, request, request.start).await?;
    if request.wait.is_zero() || is_answer(&slice) {
        return Ok(slice);
    }
    let call = state.feed_waiters.enter(request.key, request.business)?;
    let draining = state.tasks.draining();
    while !is_answer(&slice) {
        let start = request.start.or_from(slice.complete_until);
        let arrival = draining.run_until_cancelled(timeout_at(deadline, call.event_from(start.at)));
        match arrival.await {
            Some(Ok(())) => slice = read(state, request, start).await?,
            Some(Err(_)) | None => break,
        }
    }
    Ok(slice)
}

/// A slice without wanted events also has an end, from which its reader continues.
fn is_answer(slice: &FeedSlice) -> bool {
    slice.has_more || !slice.events.is_empty()
}

async fn read(
    state: &State,
    FeedRequest { business, filter, limit, .. }: &FeedRequest,
    start: FeedPosition,
) -> Result<FeedSlice, StoreError> {
    let _slot = state.page_slots.enter(Reader::Business(*business)).await?;
    state.unit.database.read(async |conn| feed::slice(conn, *business, filter, start, *limit).await).await
}

/// An event of a business, in the mode of its caller.
pub async fn event(
    state: &State,
    business: BusinessId,
    mode: Mode,
    id: EventId,
) -> Result<Option<FeedEvent>, StoreError> {
    state.unit.database.read(async |conn| feed::find(conn, business, Some(mode), id).await).await
}

/// The position before all events that can still appear.
pub async fn now(state: &State) -> Result<FeedPosition, StoreError> {
    state.unit.database.read(async |conn| feed::now(conn).await).await
}

/// Wakes the waiting calls whose businesses have new events.
pub async fn wake_waiting(state: &State) -> Result<(), StoreError> {
    let waiting = state.feed_waiters.waiting();
    if waiting.is_empty() {
        return Ok(());
    }
    let wanted: Vec<(BusinessId, DateTime<Utc>)> =
        waiting.iter().map(|waiting| (waiting.business, waiting.since)).collect();
    let arrived = state.unit.database.read(async |conn| feed::arrivals(conn, &wanted).await).await?;
    for waiting in arrived.into_iter().filter_map(|place| waiting.get(place)) {
        state.feed_waiters.wake(*waiting);
    }
    Ok(())
}
