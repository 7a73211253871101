//! What came of attempts: the log, the deliveries' next states, the queues behind them and the endpoints' health, for a
//! batch of attempts in one transaction. Serves all businesses.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId, OrderId, WebhookDeliveryId};
use postgres::{StoreError, statement};

use super::attempts::insert_attempts;
use super::queues::{Queue, advance};
use super::streams;
use crate::domain::Attempt;

/// What a sender did with a delivery it had claimed.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub delivery: WebhookDeliveryId,
    pub business_id: BusinessId,
    pub endpoint: EndpointId,
    /// The order whose turns the delivery takes.
    pub order_in_turn: Option<OrderId>,
    pub token: i64,
    pub number: i32,
    /// None when nothing was sent.
    pub attempt: Option<Attempt>,
    pub then: Then,
    pub at: DateTime<Utc>,
    /// It was the owner's test.
    pub is_test: bool,
    /// The endpoint must not be called any more, and why.
    pub disables: Option<&'static str>,
}

/// Where the delivery stands now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    Succeeded,
    /// There was no attempt left.
    Failed,
    /// The endpoint no longer wants it.
    Discarded,
    /// To be tried again then.
    Again(DateTime<Utc>),
}

impl Then {
    fn state(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Discarded => "discarded",
            Self::Again(_) => "pending",
        }
    }

    fn due_at(self) -> Option<DateTime<Utc>> {
        match self {
            Self::Again(at) => Some(at),
            _ => None,
        }
    }

    fn is_end(self) -> bool {
        self.due_at().is_none()
    }
}

/// Tells for each outcome whether the delivery was still ours to write: not when its lease had run out and another
/// sender took it, or when this very outcome was written before.
pub(crate) async fn record(
    conn: &mut AsyncPgConnection,
    outcomes: &[Outcome],
    now: DateTime<Utc>,
) -> Result<Vec<bool>, StoreError> {
    lock_streams(conn, outcomes).await?;
    let written = write_states(conn, outcomes).await?;
    let ours: Vec<&Outcome> =
        outcomes.iter().filter(|outcome| written.contains(&outcome.delivery.to_string())).collect();
    insert_attempts(conn, &ours).await?;
    let freed: BTreeSet<Queue> = ours
        .iter()
        .filter(|outcome| outcome.then.is_end())
        .filter_map(|outcome| Some(Queue { order: outcome.order_in_turn?, endpoint: outcome.endpoint }))
        .collect();
    advance(conn, &freed.into_iter().collect::<Vec<_>>(), now).await?;
    write_health(conn, &ours).await?;
    Ok(outcomes.iter().map(|outcome| written.contains(&outcome.delivery.to_string())).collect())
}

/// Whoever comes behind a head that ends here waits for this lock, or is seen by `advance`.
async fn lock_streams(conn: &mut AsyncPgConnection, outcomes: &[Outcome]) -> Result<(), StoreError> {
    let ending = outcomes.iter().filter(|outcome| outcome.then.is_end());
    let orders: BTreeSet<OrderId> = ending.filter_map(|outcome| outcome.order_in_turn).collect();
    let locked = streams::lock_streams(conn, orders.iter().copied()).await?;
    if locked.len() == orders.len() { Ok(()) } else { Err(super::corrupt("an order without a stream")) }
}

const WRITE_STATES: &str = r#"
UPDATE deliveries
SET state = outcome.state,
    attempts = deliveries.attempts + outcome.made,
    due_at = outcome.due_at,
    lease_token = NULL,
    last_error = CASE WHEN outcome.made = 1 THEN outcome.error ELSE coalesce(outcome.error, deliveries.last_error) END,
    completed_at = CASE WHEN outcome.due_at IS NULL THEN outcome.at END
FROM unnest($1, $2, $3, $4, $5, $6, $7) AS outcome (id, token, state, made, due_at, error, at)
WHERE deliveries.id = outcome.id AND deliveries.lease_token = outcome.token
RETURNING deliveries.id
"#;

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = Text)]
    id: String,
}

async fn write_states(
    conn: &mut AsyncPgConnection,
    outcomes: &[Outcome],
) -> Result<HashSet<String>, StoreError> {
    let all = || outcomes.iter();
    let error = |outcome: &Outcome| match (&outcome.attempt, outcome.then) {
        (Some(attempt), _) => attempt.error.clone(),
        (None, Then::Discarded) => {
            Some("not sent: the endpoint no longer subscribes to such events".to_owned())
        }
        (None, _) => None,
    };
    let rows: Vec<IdRow> = statement(WRITE_STATES)
        .bind::<Array<Text>, _>(all().map(|outcome| outcome.delivery.to_string()).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(all().map(|outcome| outcome.token).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(all().map(|outcome| outcome.then.state()).collect::<Vec<_>>())
        .bind::<Array<Integer>, _>(
            all().map(|outcome| i32::from(outcome.attempt.is_some())).collect::<Vec<_>>(),
        )
        .bind::<Array<Nullable<Timestamptz>>, _>(
            all().map(|outcome| outcome.then.due_at()).collect::<Vec<_>>(),
        )
        .bind::<Array<Nullable<Text>>, _>(all().map(error).collect::<Vec<_>>())
        .bind::<Array<Timestamptz>, _>(all().map(|outcome| outcome.at).collect::<Vec<_>>())
        .load(conn)
        .await?;
    Ok(rows.into_iter().map(|row| row.id).collect())
}

/// What the latest of an endpoint's attempts in a batch says of it, and what any of them decided.
#[derive(Clone, Copy)]
struct News {
    at: DateTime<Utc>,
    succeeded: bool,
    test: Option<bool>,
    disables: Option<&'static str>,
}

fn news(outcomes: &[&Outcome]) -> BTreeMap<String, News> {
    let mut by_endpoint: BTreeMap<String, News> = BTreeMap::new();
    for outcome in outcomes {
        let Some(attempt) = &outcome.attempt else { continue };
        let succeeded = attempt.succeeded();
        let test = outcome.is_test.then_some(succeeded);
        let this = News { at: outcome.at, succeeded, test, disables: outcome.disables };
        by_endpoint
            .entry(outcome.endpoint.to_string())
            .and_modify(|known| {
                let (test, disables) = (this.test.or(known.test), this.disables.or(known.disables));
                let latest = if this.at >= known.at { this } else { *known };
                *known = News { test, disables, ..latest };
            })
            .or_insert(this);
    }
    by_endpoint
}

/// An endpoint that simply goes on as before is noted once a second, not once per attempt.
const LOCK_HEALTH: &str = r#"
SELECT health.endpoint_id AS id
FROM endpoint_health AS health
JOIN unnest($1, $2, $3, $4) AS news (endpoint_id, at, succeeded, decides) ON news.endpoint_id = health.endpoint_id
WHERE news.decides
   OR health.last_delivery_succeeded IS DISTINCT FROM news.succeeded
   OR health.last_delivery_at < news.at - interval '1 second'
ORDER BY health.endpoint_id
FOR UPDATE OF health
"#;

const WRITE_HEALTH: &str = r#"
UPDATE endpoint_health AS health
SET last_delivery_at = greatest(health.last_delivery_at, news.at),
    last_delivery_succeeded = news.succeeded,
    failing_since = CASE WHEN NOT news.succeeded THEN coalesce(health.failing_since, news.at) END,
    disabled_at = coalesce(health.disabled_at, CASE WHEN news.disables IS NOT NULL THEN news.at END),
    disabled_reason = coalesce(health.disabled_reason, news.disables),
    connection_test = CASE news.test WHEN true THEN 'passed' WHEN false THEN 'failed' ELSE health.connection_test END,
    connection_tested_at = CASE WHEN news.test IS NULL THEN health.connection_tested_at ELSE news.at END
FROM unnest($1, $2, $3, $4, $5) AS news (endpoint_id, at, succeeded, test, disables)
WHERE health.endpoint_id = news.endpoint_id
"#;

async fn write_health(conn: &mut AsyncPgConnection, outcomes: &[&Outcome]) -> Result<(), StoreError> {
    let mut news = news(outcomes);
    if news.is_empty() {
        return Ok(());
    }
    let decides = |news: &News| news.test.is_some() || news.disables.is_some();
    let locked: Vec<IdRow> = statement(LOCK_HEALTH)
        .bind::<Array<Text>, _>(news.keys().cloned().collect::<Vec<_>>())
        .bind::<Array<Timestamptz>, _>(news.values().map(|news| news.at).collect::<Vec<_>>())
        .bind::<Array<Bool>, _>(news.values().map(|news| news.succeeded).collect::<Vec<_>>())
        .bind::<Array<Bool>, _>(news.values().map(decides).collect::<Vec<_>>())
        .load(conn)
        .await?;
    if locked.is_empty() {
        return Ok(());
    }
    news.retain(|endpoint, _| locked.iter().any(|row| row.id == *endpoint));
    statement(WRITE_HEALTH)
        .bind::<Array<Text>, _>(news.keys().cloned().collect::<Vec<_>>())
        .bind::<Array<Timestamptz>, _>(news.values().map(|news| news.at).collect::<Vec<_>>())
        .bind::<Array<Bool>, _>(news.values().map(|news| news.succeeded).collect::<Vec<_>>())
        .bind::<Array<Nullable<Bool>>, _>(news.values().map(|news| news.test).collect::<Vec<_>>())
        .bind::<Array<Nullable<Text>>, _>(news.values().map(|news| news.disables).collect::<Vec<_>>())
        .execute(conn)
        .await?;
    Ok(())
}
