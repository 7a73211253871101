//! What came of attempts: the log, the deliveries' next states, the queues behind them and the endpoints' health, for a
//! batch of attempts in one transaction. Serves all businesses.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId, OrderId, WebhookDeliveryId};
use futures_util::try_join;
use postgres::{StoreError, statement};

use super::attempts::insert_attempts;
use super::health::{EndpointNews, note_attempts};
use super::queues::{Queue, advance};
use super::streams;
use crate::announcements::Trouble;
use crate::domain::{Attempt, last_status};

/// What a sender did with a delivery it had claimed.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub delivery: WebhookDeliveryId,
    pub business_id: BusinessId,
    pub endpoint: EndpointId,
    /// The order that the event is of.
    pub order: Option<OrderId>,
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
    /// The receiver asked to be left alone so long.
    pub asked_for: Option<Duration>,
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

/// What became of an outcome.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub ours: bool,
    /// Others that waited behind a delivery of the same batch are due now.
    pub freed: bool,
    /// To be told after the commit; the first of a batch has all of it.
    pub news: Vec<EndpointNews>,
}

/// Tells for each outcome whether the delivery was still ours to write: not when its lease had run out and another
/// sender took it, or when this very outcome was written before. And which endpoints were disabled by it.
///
/// `jitter` gives numbers between -1 and 1.
pub(crate) async fn record(
    conn: &mut AsyncPgConnection,
    outcomes: &[Outcome],
    now: DateTime<Utc>,
    jitter: impl Fn() -> f64 + Send,
) -> Result<(Vec<Recorded>, Vec<Trouble>), StoreError> {
    // Sent together, so that the server is waited for once.
    let (erased, written) = try_join!(lock_streams(conn, outcomes), write_states(conn, outcomes))?;
    let ours: Vec<&Outcome> =
        outcomes.iter().filter(|outcome| written.contains(&outcome.delivery.to_string())).collect();
    let freed = freed(ours.iter().copied());
    let ((), freed, ()) = try_join!(
        insert_attempts(conn, &ours, &erased),
        advance(conn, &freed, now),
        note_failures(conn, &ours)
    )?;
    let (disabled, mut news) = note_attempts(conn, &ours, now, jitter).await?;
    let ours = |outcome: &Outcome| written.contains(&outcome.delivery.to_string());
    let recorded = outcomes.iter().map(|outcome| Recorded {
        ours: ours(outcome),
        freed: freed > 0,
        news: std::mem::take(&mut news),
    });
    Ok((recorded.collect(), disabled))
}

/// The delivery's next state and nothing else of an outcome that cannot be written whole: without it, the webhook would be
/// sent again whenever its lease ends, and no attempt would count.
pub(crate) async fn record_state(
    conn: &mut AsyncPgConnection,
    outcome: &Outcome,
    now: DateTime<Utc>,
) -> Result<Recorded, StoreError> {
    let freed = freed([outcome]);
    streams::lock_streams(conn, freed.iter().map(|queue| queue.order)).await?;
    let ours = !write_states(conn, std::slice::from_ref(outcome)).await?.is_empty();
    let freed = if ours { advance(conn, &freed, now).await? } else { 0 };
    Ok(Recorded { ours, freed: freed > 0, news: Vec::new() })
}

/// The queues that lose their heads.
fn freed<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Vec<Queue> {
    let ending = outcomes.into_iter().filter(|outcome| outcome.then.is_end());
    let queue = |outcome: &Outcome| Some(Queue { order: outcome.order_in_turn?, endpoint: outcome.endpoint });
    Vec::from_iter(ending.filter_map(queue).collect::<BTreeSet<_>>())
}

/// Whoever comes behind a head that ends here waits for this lock, or is seen by `advance`; and an erasure waits for it, or its
/// order is among those that are given back: of these no answer is kept.
async fn lock_streams(
    conn: &AsyncPgConnection,
    outcomes: &[Outcome],
) -> Result<BTreeSet<OrderId>, StoreError> {
    let ending = outcomes.iter().filter(|outcome| outcome.then.is_end());
    let ending: BTreeSet<OrderId> = ending.filter_map(|outcome| outcome.order_in_turn).collect();
    let answered =
        outcomes.iter().filter(|outcome| outcome.attempt.as_ref().is_some_and(Attempt::has_answer));
    let answered = answered.filter_map(|outcome| outcome.order);
    let locked = streams::lock_streams(conn, ending.iter().copied().chain(answered)).await?;
    if !ending.iter().all(|order| locked.contains_key(order)) {
        return Err(super::corrupt("an order without a stream"));
    }
    let erased = locked.into_iter().filter(|(_, stream)| stream.erased_at.is_some());
    Ok(erased.map(|(order, _)| order).collect())
}

const WRITE_STATES: &str = r#"
UPDATE deliveries
SET state = outcome.state,
    attempts = deliveries.attempts + outcome.made,
    due_at = outcome.due_at,
    lease_token = NULL,
    lease_until = NULL,
    last_error = CASE WHEN outcome.made = 1 THEN outcome.error ELSE coalesce(outcome.error, deliveries.last_error) END,
    last_status = coalesce(outcome.status, deliveries.last_status),
    completed_at = CASE WHEN outcome.due_at IS NULL THEN outcome.at END
FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) AS outcome (id, business_id, token, state, made, due_at, error, at, status)
WHERE deliveries.id = outcome.id AND deliveries.business_id = outcome.business_id AND deliveries.lease_token = outcome.token
RETURNING deliveries.id
"#;

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = Text)]
    id: String,
}

async fn write_states(
    mut conn: &AsyncPgConnection,
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
    let status =
        |outcome: &Outcome| outcome.attempt.as_ref().map(|attempt| last_status(attempt.response_status));
    let rows: Vec<IdRow> = statement(WRITE_STATES)
        .bind::<Array<Text>, _>(all().map(|outcome| outcome.delivery.to_string()).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(all().map(|outcome| outcome.business_id.to_string()).collect::<Vec<_>>())
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
        .bind::<Array<Nullable<Integer>>, _>(all().map(status).collect::<Vec<_>>())
        .load(&mut conn)
        .await?;
    Ok(rows.into_iter().map(|row| row.id).collect())
}

/// Only heads that failed; whether the endpoint takes other webhooks meanwhile tells an event that it does not take from
/// an endpoint that takes nothing.
const NOTE_FAILURES: &str = r#"
UPDATE deliveries
SET first_failed_at = coalesce(deliveries.first_failed_at, failed.at),
    last_failed_at = failed.at,
    endpoint_was_up = coalesce(health.last_success_at > deliveries.first_failed_at, false)
FROM unnest($1, $2, $3, $4) AS failed (id, business_id, endpoint_id, at)
JOIN endpoint_health AS health ON health.endpoint_id = failed.endpoint_id AND health.business_id = failed.business_id
WHERE deliveries.id = failed.id AND deliveries.business_id = failed.business_id
"#;

async fn note_failures(mut conn: &AsyncPgConnection, outcomes: &[&Outcome]) -> Result<(), StoreError> {
    let failed = |outcome: &&&Outcome| {
        let made = outcome.attempt.as_ref().is_some_and(|attempt| !attempt.succeeded());
        made && !outcome.then.is_end() && outcome.order_in_turn.is_some()
    };
    let failed: Vec<_> = outcomes.iter().filter(failed).collect();
    if failed.is_empty() {
        return Ok(());
    }
    statement(NOTE_FAILURES)
        .bind::<Array<Text>, _>(Vec::from_iter(failed.iter().map(|outcome| outcome.delivery.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(failed.iter().map(|outcome| outcome.business_id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(failed.iter().map(|outcome| outcome.endpoint.to_string())))
        .bind::<Array<Timestamptz>, _>(Vec::from_iter(failed.iter().map(|outcome| outcome.at)))
        .execute(&mut conn)
        .await?;
    Ok(())
}
