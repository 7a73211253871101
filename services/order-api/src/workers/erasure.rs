//! Erases the orders of businesses that requested it, and old orders of all businesses.

use std::sync::Arc;
use std::time::Duration;

use chassis::Chassis;
use chrono::TimeDelta;

use crate::commands::{apply_retention, erase_business, erase_personal_data};
use crate::state::State;

/// How long a request of a business waits at most.
const REQUESTS_EVERY: Duration = Duration::from_secs(5);

/// Without `retention`, nothing is erased automatically.
pub fn start(chassis: &mut Chassis, state: &Arc<State>, retention: Option<TimeDelta>, interval: Duration) {
    erase_personal_data::publish_zeros();
    apply_retention::publish_zeros();
    let erasing = Arc::clone(state);
    chassis.every("business-erasures", REQUESTS_EVERY, move |stop| {
        let state = Arc::clone(&erasing);
        async move { erase_business::process_requests(&state, &stop).await }
    });
    let Some(retention) = retention else { return };
    let retaining = Arc::clone(state);
    chassis.every("retention", interval, move |stop| {
        let state = Arc::clone(&retaining);
        async move { apply_retention::apply_retention(&state, retention, &stop).await }
    });
}
