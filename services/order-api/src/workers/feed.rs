//! Wakes the calls that wait for events of the feed: one look into the database for all of them.

use std::sync::Arc;
use std::time::Duration;

use chassis::Chassis;
use metrics::gauge;

use crate::queries::feed;
use crate::state::State;

/// With the margin of the feed and the reading, an event arrives within a second of its commit.
const INTERVAL: Duration = Duration::from_millis(250);

pub fn start(chassis: &mut Chassis, state: &Arc<State>) {
    let state = Arc::clone(state);
    chassis.every("feed", INTERVAL, move |_| {
        let state = Arc::clone(&state);
        async move {
            let waiting = u32::try_from(state.feed_waiters.count()).unwrap_or(u32::MAX);
            gauge!("feed_waiting_calls").set(waiting);
            feed::wake_waiting(&state).await
        }
    });
}
