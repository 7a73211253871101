//! What a batch of attempts tells of the endpoints: last delivery, test, circuit breaker, and the end of an outage.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::{StoreError, statement};

use crate::announcements::{Trouble, What};
use crate::domain::{Breaker, Sample};
use crate::store::corrupt;
use crate::store::record::Outcome;

/// What waits for its next attempt when an outage ends; more than this wait for their time.
const BROUGHT_FORWARD_MAX: i64 = 10_000;

/// Of one endpoint, oldest first.
#[derive(Default)]
struct News {
    samples: Vec<Sample>,
    test: Option<bool>,
    disables: Option<&'static str>,
}

impl News {
    fn last(&self) -> Option<&Sample> {
        self.samples.last()
    }

    fn last_success(&self) -> Option<DateTime<Utc>> {
        self.samples.iter().rfind(|sample| sample.succeeded).map(|sample| sample.at)
    }

    /// Since when it has only failed, as far as these attempts tell.
    fn failing_from(&self) -> Option<DateTime<Utc>> {
        self.samples.iter().rev().take_while(|sample| !sample.succeeded).last().map(|sample| sample.at)
    }

    fn all_succeeded(&self) -> bool {
        self.samples.iter().all(|sample| sample.succeeded)
    }
}

fn news(outcomes: &[&Outcome]) -> BTreeMap<String, News> {
    let mut made: Vec<_> =
        outcomes.iter().filter_map(|outcome| Some((outcome, outcome.attempt.as_ref()?))).collect();
    made.sort_by_key(|(outcome, _)| outcome.at);
    let mut by_endpoint: BTreeMap<String, News> = BTreeMap::new();
    for (outcome, attempt) in made {
        let succeeded = attempt.succeeded();
        let news = by_endpoint.entry(outcome.endpoint.to_string()).or_default();
        news.samples.push(Sample { at: outcome.at, succeeded, asked_for: outcome.asked_for });
        news.test = if outcome.is_test { Some(succeeded) } else { news.test };
        news.disables = outcome.disables.or(news.disables);
    }
    by_endpoint
}

/// Writes what is new; gives back the endpoints that were disabled by it, and what is to be told after the commit. An endpoint that simply goes on succeeding is noted once a second, not once per batch.
pub(in crate::store) async fn note_attempts(
    conn: &mut AsyncPgConnection,
    outcomes: &[&Outcome],
    now: DateTime<Utc>,
    jitter: impl Fn() -> f64,
) -> Result<(Vec<Trouble>, Vec<EndpointNews>), StoreError> {
    let mut news = news(outcomes);
    if news.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let locked = lock(conn, &news).await?;
    let mut changes = Vec::new();
    for (endpoint, before) in locked {
        let Some(news) = news.remove(&endpoint) else { continue };
        let breaker = news.samples.iter().fold(before, |breaker, sample| breaker.after(*sample, jitter()));
        changes.push(Change { endpoint, news, before, breaker });
    }
    if changes.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let disabled = write(conn, &changes).await?;
    let mut told = Vec::new();
    for change in &changes {
        let tell = |what| EndpointNews { endpoint: change.endpoint.clone(), what };
        told.extend(change.of_breaker().map(tell));
        if change.ends_an_outage() {
            let brought_forward = bring_forward_all(conn, &change.endpoint, now).await?;
            told.push(tell(WhatIsNew::Answers { brought_forward }));
        }
    }
    Ok((disabled, told))
}

struct Change {
    endpoint: String,
    news: News,
    before: Breaker,
    breaker: Breaker,
}

impl Change {
    fn ends_an_outage(&self) -> bool {
        self.before.is_outage() && self.news.last_success().is_some()
    }

    fn of_breaker(&self) -> Option<WhatIsNew> {
        if self.breaker.trips > self.before.trips {
            return Some(WhatIsNew::Tripped(self.breaker));
        }
        let is_whole_again = self.before.tripped_until.is_some() && self.breaker.tripped_until.is_none();
        is_whole_again.then_some(WhatIsNew::SentToAgain)
    }
}

/// What attempts changed about an endpoint, for the log.
#[derive(Clone, Debug)]
pub(crate) struct EndpointNews {
    endpoint: String,
    what: WhatIsNew,
}

#[derive(Clone, Copy, Debug)]
enum WhatIsNew {
    Tripped(Breaker),
    SentToAgain,
    Answers { brought_forward: usize },
}

impl EndpointNews {
    /// To be called after the commit.
    pub(crate) fn tell(&self) {
        let endpoint_id = &self.endpoint;
        match self.what {
            WhatIsNew::Tripped(Breaker { failures_in_a_row: failures, trips, tripped_until: until }) => {
                metrics::counter!("webhook_breaker_trips_total").increment(1);
                tracing::warn!(endpoint_id, failures, trips, ?until, "an endpoint is left alone for a while");
            }
            WhatIsNew::SentToAgain => {
                tracing::info!(endpoint_id, "an endpoint that was left alone is sent to again");
            }
            WhatIsNew::Answers { brought_forward } => {
                tracing::info!(
                    endpoint_id,
                    brought_forward,
                    "an endpoint answers again; what waits is sent now"
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
    conn: &mut AsyncPgConnection,
    news: &BTreeMap<String, News>,
) -> Result<Vec<(String, Breaker)>, StoreError> {
    let changes = |news: &News| !news.all_succeeded() || news.test.is_some() || news.disables.is_some();
    let latest = |news: &News| news.last().map(|sample| sample.at);
    let rows: Vec<BreakerRow> = statement(LOCK)
        .bind::<Array<Text>, _>(Vec::from_iter(news.keys().cloned()))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(news.values().map(latest)))
        .bind::<Array<Bool>, _>(Vec::from_iter(news.values().map(changes)))
        .load(conn)
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
    /// Of an endpoint that was disabled by this very news.
    #[diesel(sql_type = Nullable<Text>)]
    disabled_reason: Option<String>,
}

impl WrittenRow {
    fn trouble(self) -> Option<Result<Trouble, StoreError>> {
        let what = What::Disabled { reason: self.disabled_reason? };
        let parsed = self.endpoint_id.parse().map_err(corrupt).and_then(|endpoint_id| {
            let business_id = self.business_id.parse().map_err(corrupt)?;
            Ok(Trouble { endpoint_id, business_id, what })
        });
        Some(parsed)
    }
}

async fn write(conn: &mut AsyncPgConnection, changes: &[Change]) -> Result<Vec<Trouble>, StoreError> {
    let all = || changes.iter();
    let last = |change: &Change| change.news.last().map(|sample| sample.at);
    let succeeded = |change: &Change| change.news.last().map(|sample| sample.succeeded);
    let rows: Vec<WrittenRow> = statement(WRITE)
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|change| change.endpoint.as_str())))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(all().map(last)))
        .bind::<Array<Nullable<Bool>>, _>(Vec::from_iter(all().map(succeeded)))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(
            all().map(|change| change.news.last_success()),
        ))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(
            all().map(|change| change.news.failing_from()),
        ))
        .bind::<Array<Integer>, _>(Vec::from_iter(all().map(|change| change.breaker.failures_in_a_row)))
        .bind::<Array<Integer>, _>(Vec::from_iter(all().map(|change| change.breaker.trips)))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(
            all().map(|change| change.breaker.tripped_until),
        ))
        .bind::<Array<Nullable<Bool>>, _>(Vec::from_iter(all().map(|change| change.news.test)))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(all().map(|change| change.news.disables)))
        .load(conn)
        .await?;
    rows.into_iter().filter_map(WrittenRow::trouble).collect()
}

/// What failed only because of an outage is tried as soon as it is over, so that each order goes on from its head. Rows
/// that somebody holds are passed over: they are in hand.
const BRING_FORWARD: &str = r#"
UPDATE deliveries SET due_at = $2
FROM (
    SELECT id, business_id FROM deliveries
    WHERE endpoint_id = $1 AND due_at > $2 AND lease_token IS NULL
    ORDER BY due_at
    LIMIT $3
    FOR UPDATE SKIP LOCKED
) AS waiting
WHERE deliveries.id = waiting.id AND deliveries.business_id = waiting.business_id
"#;

/// Makes due what waits for its next attempt to this endpoint; tells how many.
pub(crate) async fn bring_forward_all(
    conn: &mut AsyncPgConnection,
    endpoint: &str,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    Ok(statement(BRING_FORWARD)
        .bind::<Text, _>(endpoint)
        .bind::<Timestamptz, _>(now)
        .bind::<BigInt, _>(BROUGHT_FORWARD_MAX)
        .execute(conn)
        .await?)
}
