//! Adds placed orders to the index of the search.

use std::sync::Arc;
use std::time::Duration;

use chassis::Chassis;

use crate::commands::index_orders::{index_orders, publish_zeros};
use crate::state::State;

/// An order is found about a second after it is placed.
const INTERVAL: Duration = Duration::from_secs(1);

pub fn start(chassis: &mut Chassis, state: &Arc<State>) {
    publish_zeros();
    let state = Arc::clone(state);
    chassis.every("search", INTERVAL, move |stop| {
        let state = Arc::clone(&state);
        async move { index_orders(&state, &stop).await }
    });
}
