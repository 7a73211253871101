//! Publishes metrics that only the database can provide.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Utc};
use metrics::gauge;
use postgres::StoreError;

use super::gauge_value;
use crate::queries::{self, QueueStatus};
use crate::state::State;

/// Events cross the broker within seconds. A predecessor that is missing for this long may never arrive.
const HELD_BACK_ALARM_SECONDS: f64 = 60.0;

/// Logs each alarm once.
#[derive(Default)]
pub(crate) struct QueueMonitor {
    is_alarmed: AtomicBool,
}

pub(crate) async fn monitor(state: Arc<State>, monitor: Arc<QueueMonitor>) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    let QueueStatus { held_back, oldest_held_back, breakers } = queries::queue_status(&state).await?;
    gauge!("webhook_breaker_endpoints", "state" => "open").set(gauge_value(breakers.open));
    gauge!("webhook_breaker_endpoints", "state" => "half_open").set(gauge_value(breakers.half_open));
    gauge!("webhook_disabled_endpoints").set(gauge_value(breakers.disabled));
    monitor.report_held_back(held_back, age(oldest_held_back, now));
    Ok(())
}

impl QueueMonitor {
    fn report_held_back(&self, held_back: i64, age: f64) {
        gauge!("webhook_held_back_events").set(gauge_value(held_back));
        gauge!("webhook_held_back_oldest_age_seconds").set(age);
        let is_alarming = age > HELD_BACK_ALARM_SECONDS;
        let was_alarmed = self.is_alarmed.swap(is_alarming, Ordering::Relaxed);
        if is_alarming && !was_alarmed {
            tracing::error!(
                held_back,
                age_seconds = age,
                "events are held back: their predecessors do not arrive"
            );
        }
    }
}

fn age(since: Option<DateTime<Utc>>, now: DateTime<Utc>) -> f64 {
    since.and_then(|since| (now - since).to_std().ok()).unwrap_or_default().as_secs_f64()
}
