//! Revokes keys when they expire.

use std::sync::Arc;
use std::time::Duration;

use chassis::Chassis;

use crate::commands;
use crate::state::State;

/// Verification does not wait for this: it rejects a key from the moment it expires.
const INTERVAL: Duration = Duration::from_secs(5);

pub(crate) fn expire_keys(chassis: &mut Chassis, state: &Arc<State>) {
    let state = Arc::clone(state);
    chassis.every("expire-keys", INTERVAL, move |_| {
        let state = Arc::clone(&state);
        async move { commands::expire_keys(&state).await }
    });
}
