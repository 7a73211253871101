//! Recovers orders that a crash left before the end of their payment.

use std::sync::Arc;
use std::time::Duration;

use chassis::Chassis;
use tokio::sync::Mutex;

use crate::commands::recover_orders::{publish_zeros, recover_orders};
use crate::domain::Postponed;
use crate::state::State;

const INTERVAL: Duration = Duration::from_secs(2);

pub fn start(chassis: &mut Chassis, state: &Arc<State>) {
    publish_zeros();
    let (state, postponed) = (Arc::clone(state), Arc::new(Mutex::new(Postponed::default())));
    chassis.every("recovery", INTERVAL, move |_| {
        let (state, postponed) = (Arc::clone(&state), Arc::clone(&postponed));
        async move { recover_orders(&state, &mut *postponed.lock().await).await }
    });
}
