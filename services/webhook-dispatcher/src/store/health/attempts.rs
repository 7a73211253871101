//! Updates the health of endpoints from a batch of attempts: last delivery, connection test, circuit breaker, end of an
//! outage. Serves all businesses.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::{StoreError, statement};

use crate::domain::{AnnouncementSubject, Breaker, EndpointAnnouncement, Sample};
use crate::store::corrupt;
use crate::store::record::{Outcome, Times};

/// Deliveries brought forward when an outage ends. The rest keep their times.
const BROUGHT_FORWARD_MAX: i64 = 10_000;

/// The attempts of one endpoint, oldest first.
#[derive(Default)]
struct EndpointSamples {
    samples: Vec<Sample>,
    test: Option<bool>,
    disable_reason: Option<&'static str>,
}

impl EndpointSamples {
    /// The breaker after these attempts. Drops those that it ignores.
    fn apply_to(&mut self, mut breaker: Breaker, jitter: impl Fn() -> f64) -> Breaker {
        self.samples.retain(|sample| {
            let counts = !breaker.ignores(*sample);
            breaker = breaker.after(*sample, jitter());
            counts
        });
        breaker
    }

    fn last(&self) -> Option<&Sample> {
        self.samples.last()
    }

    fn last_success(&self) -> Option<DateTime<Utc>> {
        self.samples.iter().rfind(|sample| sample.succeeded).map(|sample| sample.at)
    }

    /// Since when it has only failed, judged by these attempts.
    fn failing_from(&self) -> Option<DateTime<Utc>> {
        self.samples.iter().rev().take_while(|sample| !sample.succeeded).last().map(|sample| sample.at)
    }

    fn all_succeeded(&self) -> bool {
        self.samples.iter().all(|sample| sample.succeeded)
    }
}

fn by_endpoint(outcomes: &[&Outcome], times: Times) -> BTreeMap<String, EndpointSamples> {
    let mut made: Vec<_> =
        outcomes.iter().filter_map(|outcome| Some((outcome, outcome.attempt.as_ref()?))).collect();
    made.sort_by_key(|(outcome, _)| outcome.at);
    let mut by_endpoint: BTreeMap<String, EndpointSamples> = BTreeMap::new();
    for (outcome, attempt) in made {
        let succeeded = attempt.succeeded();
        let samples = by_endpoint.entry(outcome.endpoint.to_string()).or_default();
        let (at, is_test) = (times.of_database(outcome.at), outcome.is_test);
        let requested_pause = outcome.requested_pause;
        samples.samples.push(Sample { at, succeeded, is_test, requested_pause });
        samples.test = if outcome.is_test { Some(succeeded) } else { samples.test };
        samples.disable_reason = outcome.disable_reason.or(samples.disable_reason);
    }
    by_endpoint
}

/// Returns the announcements of disabled endpoints, and changes to report after the commit. An endpoint that keeps
/// succeeding is updated once a second, not once per batch.
pub(in crate::store) async fn record_health(
    conn: &AsyncPgConnection,
    outcomes: &[&Outcome],
    times: Times,
    jitter: impl Fn() -> f64,
) -> Result<(Vec<EndpointAnnouncement>, Vec<HealthChange>), StoreError> {
    let mut samples = by_endpoint(outcomes, times);
    if samples.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let locked = lock(conn, &samples).await?;
    let mut changes = Vec::new();
    for (endpoint, before) in locked {
        let Some(mut samples) = samples.remove(&endpoint) else { continue };
        let breaker = samples.apply_to(before, &jitter);
        if !samples.samples.is_empty() {
            changes.push(Change { endpoint, samples, before, breaker });
        }
    }
    if changes.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let disabled = write(conn, &changes).await?;
    let mut reports = Vec::new();
    for change in &changes {
        let report = |kind| HealthChange { endpoint: change.endpoint.clone(), kind };
        reports.extend(change.of_breaker().map(report));
        if change.ends_an_outage() {
            let brought_forward = bring_forward_endpoint(conn, &change.endpoint, times.database_now).await?;
            reports.push(report(HealthChangeKind::OutageEnded { brought_forward }));
        }
    }
    Ok((disabled, reports))
}

struct Change {
    endpoint: String,
    samples: EndpointSamples,
    before: Breaker,
    breaker: Breaker,
}

impl Change {
    fn ends_an_outage(&self) -> bool {
        let is_closed = self.breaker.tripped_until.is_none();
        self.before.is_outage() && is_closed && self.samples.last_success().is_some()
    }

    fn of_breaker(&self) -> Option<HealthChangeKind> {
        if self.breaker.trips > self.before.trips {
            return Some(HealthChangeKind::BreakerTripped(self.breaker));
        }
        let is_closed = self.before.tripped_until.is_some() && self.breaker.tripped_until.is_none();
        is_closed.then_some(HealthChangeKind::BreakerClosed)
    }
}

/// A change of an endpoint's health, for the log.
#[derive(Clone, Debug)]
pub(crate) struct HealthChange {
    endpoint: String,
    kind: HealthChangeKind,
}

#[derive(Clone, Copy, Debug)]
enum HealthChangeKind {
    BreakerTripped(Breaker),
    BreakerClosed,
    OutageEnded { brought_forward: usize },
}

impl HealthChange {
    /// The endpoint whose outage has ended.
    pub(in crate::store) fn recovered(&self) -> Option<String> {
        matches!(self.kind, HealthChangeKind::OutageEnded { .. }).then(|| self.endpoint.clone())
    }

    /// To be called after the commit.
    pub(crate) fn report(&self) {
        let endpoint_id = &self.endpoint;
        match self.kind {
            HealthChangeKind::BreakerTripped(Breaker {
                failures_in_a_row: failures,
                trips,
                tripped_until: until,
            }) => {
                metrics::counter!("webhook_breaker_trips_total").increment(1);
                tracing::warn!(endpoint_id, failures, trips, ?until, "circuit breaker tripped");
            }
            HealthChangeKind::BreakerClosed => {
                tracing::info!(endpoint_id, "circuit breaker closed");
            }
            HealthChangeKind::OutageEnded { brought_forward } => {
                tracing::info!(
                    endpoint_id,
                    brought_forward,
                    "outage of an endpoint ended; its deliveries are brought forward"
                );
            }
        }
    }
}

const LOCK: &str = r#"
SELECT health.endpoint_id, health.failures_in_a_row, health.trips, health.tripped_until
FROM endpoint_health AS health
JOIN unnest($1, $2, $3) AS news (endpoint_id, at, changes) ON news.endpoint_id = health.endpoint_id
WHERE news.changes
   OR health.last_delivery_succeeded IS NOT TRUE
   OR health.failures_in_a_row > 0
   OR health.last_delivery_at < news.at - interval '1 second'
ORDER BY health.endpoint_id
FOR UPDATE OF health
"#;

#[derive(QueryableByName)]
struct BreakerRow {
    #[diesel(sql_type = Text)]
    endpoint_id: String,
    #[diesel(sql_type = Integer)]
    failures_in_a_row: i32,
    #[diesel(sql_type = Integer)]
    trips: i32,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    tripped_until: Option<DateTime<Utc>>,
}

async fn lock(
    mut conn: &AsyncPgConnection,
    samples: &BTreeMap<String, EndpointSamples>,
) -> Result<Vec<(String, Breaker)>, StoreError> {
    let changes = |samples: &EndpointSamples| {
        !samples.all_succeeded() || samples.test.is_some() || samples.disable_reason.is_some()
    };
    let latest = |samples: &EndpointSamples| samples.last().map(|sample| sample.at);
    let rows: Vec<BreakerRow> = statement(LOCK)
        .bind::<Array<Text>, _>(Vec::from_iter(samples.keys().cloned()))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(samples.values().map(latest)))
        .bind::<Array<Bool>, _>(Vec::from_iter(samples.values().map(changes)))
        .load(&mut conn)
        .await?;
    let breaker = |row: BreakerRow| {
        let BreakerRow { endpoint_id, failures_in_a_row, trips, tripped_until } = row;
        (endpoint_id, Breaker { failures_in_a_row, trips, tripped_until })
    };
    Ok(rows.into_iter().map(breaker).collect())
}

const WRITE: &str = r#"
UPDATE endpoint_health AS health
SET last_delivery_at = greatest(health.last_delivery_at, news.at),
    last_delivery_succeeded = news.succeeded,
    last_success_at = greatest(health.last_success_at, news.last_success),
    failing_since = CASE
        WHEN news.last_success IS NULL THEN coalesce(health.failing_since, news.failing_from)
        ELSE news.failing_from END,
    failures_in_a_row = news.failures,
    trips = news.trips,
    tripped_until = news.tripped_until,
    disabled_at = coalesce(health.disabled_at, CASE WHEN news.disables IS NOT NULL THEN news.at END),
    disabled_reason = coalesce(health.disabled_reason, news.disables),
    connection_test = CASE news.test WHEN true THEN 'passed' WHEN false THEN 'failed' ELSE health.connection_test END,
    connection_tested_at = CASE WHEN news.test IS NULL THEN health.connection_tested_at ELSE news.at END
FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    AS news (endpoint_id, at, succeeded, last_success, failing_from, failures, trips, tripped_until, test, disables)
WHERE health.endpoint_id = news.endpoint_id
RETURNING health.endpoint_id, health.business_id,
    CASE WHEN health.disabled_at = news.at THEN news.disables END AS disabled_reason
"#;

#[derive(QueryableByName)]
struct WrittenRow {
    #[diesel(sql_type = Text)]
    endpoint_id: String,
    #[diesel(sql_type = Text)]
    business_id: String,
    /// Set if these attempts disabled the endpoint.
    #[diesel(sql_type = Nullable<Text>)]
    disabled_reason: Option<String>,
}

impl WrittenRow {
    fn announcement(self) -> Option<Result<EndpointAnnouncement, StoreError>> {
        let subject = AnnouncementSubject::Disabled { reason: self.disabled_reason? };
        let parsed = self.endpoint_id.parse().map_err(corrupt).and_then(|endpoint_id| {
            let business_id = self.business_id.parse().map_err(corrupt)?;
            Ok(EndpointAnnouncement { endpoint_id, business_id, subject })
        });
        Some(parsed)
    }
}

async fn write(
    mut conn: &AsyncPgConnection,
    changes: &[Change],
) -> Result<Vec<EndpointAnnouncement>, StoreError> {
    let all = || changes.iter();
    let last = |change: &Change| change.samples.last().map(|sample| sample.at);
    let succeeded = |change: &Change| change.samples.last().map(|sample| sample.succeeded);
    let rows: Vec<WrittenRow> = statement(WRITE)
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|change| change.endpoint.as_str())))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(all().map(last)))
        .bind::<Array<Nullable<Bool>>, _>(Vec::from_iter(all().map(succeeded)))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(
            all().map(|change| change.samples.last_success()),
        ))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(
            all().map(|change| change.samples.failing_from()),
        ))
        .bind::<Array<Integer>, _>(Vec::from_iter(all().map(|change| change.breaker.failures_in_a_row)))
        .bind::<Array<Integer>, _>(Vec::from_iter(all().map(|change| change.breaker.trips)))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(
            all().map(|change| change.breaker.tripped_until),
        ))
        .bind::<Array<Nullable<Bool>>, _>(Vec::from_iter(all().map(|change| change.samples.test)))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(all().map(|change| change.samples.disable_reason)))
        .load(&mut conn)
        .await?;
    rows.into_iter().filter_map(WrittenRow::announcement).collect()
}

/// Deliveries that failed because of an outage are tried as soon as it ends. Skips locked rows: they are in flight.
const BRING_FORWARD: &str = r#"
UPDATE deliveries SET due_at = $2
FROM (
    SELECT later.*
    FROM (VALUES ('live'), ('test')) AS modes (mode)
    CROSS JOIN LATERAL (
        SELECT id, business_id FROM deliveries
        WHERE endpoint_id = $1 AND deliveries.mode = modes.mode AND due_at > $2 AND lease_token IS NULL
        ORDER BY due_at
        LIMIT $3
        FOR UPDATE SKIP LOCKED
    ) AS later
) AS waiting
WHERE deliveries.id = waiting.id AND deliveries.business_id = waiting.business_id
"#;

/// Makes deliveries due that wait for their next attempt to this endpoint. Returns their number.
pub(crate) async fn bring_forward_endpoint(
    mut conn: &AsyncPgConnection,
    endpoint: &str,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    Ok(statement(BRING_FORWARD)
        .bind::<Text, _>(endpoint)
        .bind::<Timestamptz, _>(now)
        .bind::<BigInt, _>(BROUGHT_FORWARD_MAX)
        .execute(&mut conn)
        .await?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn change(before: Breaker, samples: &[Sample]) -> Change {
        let mut samples = EndpointSamples { samples: samples.to_vec(), ..EndpointSamples::default() };
        let breaker = samples.apply_to(before, || 0.0);
        Change { endpoint: String::new(), samples, before, breaker }
    }

    #[test]
    fn an_outage_ends_with_a_success_unless_the_breaker_trips() {
        let at = DateTime::UNIX_EPOCH;
        let success = Sample { at, succeeded: true, is_test: false, requested_pause: None };
        let failure = Sample { succeeded: false, ..success };
        let refusal = Sample { requested_pause: Some(Duration::from_secs(60)), ..failure };
        let outage = change(Breaker::default(), &[failure; 3]).breaker;
        for (before, samples, ends) in [
            (outage, &[success][..], true),
            (outage, &[success, failure], true),
            (outage, &[success, refusal], false),
            (outage, &[refusal, success], false),
            (outage, &[failure], false),
            (Breaker::default(), &[success], false),
        ] {
            assert_eq!(change(before, samples).ends_an_outage(), ends, "{samples:?}");
        }
    }
}
