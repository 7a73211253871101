//! What the operator's alerts and panels need to know, and only the database knows.

use chrono::{DateTime, Utc};
use postgres::StoreError;

use crate::app::App;
use crate::store;

/// Events cross the broker within seconds. One that is still waited for after this time may never come.
const PARKED_ALARM_SECONDS: f64 = 60.0;

/// Remembers what was told already.
#[derive(Default)]
pub(super) struct Watch {
    alarmed: bool,
}

impl Watch {
    pub(super) async fn look(&mut self, app: &App) -> Result<(), StoreError> {
        let now = app.clock.now();
        let (parked, breakers, oldest_due) = app
            .database
            .read(async |conn| {
                let parked = store::parked_overview(conn).await?;
                let breakers = store::breakers(conn, now).await?;
                Ok::<_, StoreError>((parked, breakers, store::oldest_due(conn, now).await?))
            })
            .await?;
        metrics::gauge!("webhook_breaker_endpoints", "state" => "open").set(number(breakers.open));
        metrics::gauge!("webhook_breaker_endpoints", "state" => "half_open").set(number(breakers.half_open));
        metrics::gauge!("webhook_disabled_endpoints").set(number(breakers.disabled));
        metrics::gauge!("webhook_oldest_due_age_seconds").set(age(oldest_due, now));
        self.parked(parked.0, age(parked.1, now));
        Ok(())
    }

    fn parked(&mut self, parked: i64, age: f64) {
        metrics::gauge!("webhook_held_back_events").set(number(parked));
        metrics::gauge!("webhook_held_back_oldest_age_seconds").set(age);
        let alarm = age > PARKED_ALARM_SECONDS;
        if alarm && !self.alarmed {
            tracing::error!(parked, age_seconds = age, "events wait for predecessors that do not come");
        }
        self.alarmed = alarm;
    }
}

fn age(since: Option<DateTime<Utc>>, now: DateTime<Utc>) -> f64 {
    since.and_then(|since| (now - since).to_std().ok()).unwrap_or_default().as_secs_f64()
}

fn number(count: i64) -> f64 {
    i32::try_from(count).map_or(f64::MAX, f64::from)
}
