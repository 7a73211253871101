//! Adds placed orders to the index of the search, in portions. A portion commits with its position, so an interrupted
//! instance continues where it stopped. The orders of former releases are indexed in the same way.

use std::time::Duration;

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::state::State;
use crate::store::search_index::{self, Position};

/// Small, because erasures wait for it, and because nothing else happens on this thread while words are made.
const PORTION: i64 = 200;
/// Between portions, to limit the load on the database.
const PAUSE: Duration = Duration::from_millis(20);

/// Indexes all orders that are placed by now.
pub async fn index_orders(state: &State, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let complete = report(state).await?;
        let Some(complete) = complete else { break };
        let portion = async |conn: &mut AsyncPgConnection| -> Result<_, StoreError> {
            let position = search_index::lock_position(conn).await?;
            let placed = search_index::next(conn, &position, complete, PORTION).await?;
            search_index::add(conn, placed).await
        };
        // Repeated after a crash.
        state.unit.database.transaction_lost_in_a_crash(portion).await?;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

/// Reports how long the next order waits, and returns the time up to which placements are known if there is one.
async fn report(state: &State) -> Result<Option<DateTime<Utc>>, StoreError> {
    let read = async |conn: &mut AsyncPgConnection| -> Result<_, StoreError> {
        let complete = search_index::complete(conn).await?;
        let position = search_index::position(conn).await?;
        Ok((complete, search_index::first_after(conn, &position, complete).await?))
    };
    let (complete, first) = state.unit.database.read(read).await?;
    let lag = first.as_ref().map(|Position { feed_at, .. }| complete - *feed_at);
    let lag = lag.and_then(|lag| lag.to_std().ok()).unwrap_or_default();
    metrics::gauge!("order_search_lag_seconds").set(lag.as_secs_f64());
    Ok(first.map(|_| complete))
}

/// Publishes 0 up front: alerts ignore absent series.
pub fn publish_zeros() {
    metrics::gauge!("order_search_lag_seconds").set(0.0);
}
