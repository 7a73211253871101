//! Records the outcomes of a batch of deliveries in one transaction: states, attempts, queues, and the health of
//! endpoints. Serves all businesses.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Double, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Clock, EndpointId, Mode, OrderId, WebhookDeliveryId};
use futures_util::try_join;
use postgres::{StoreError, statement};

use super::attempts::insert_attempts;
use super::deliveries::attempt_again;
use super::fan_out::Success;
use super::health::{HealthChange, record_health};
use super::queues::{LockedQueues, Queue};
use super::streams::Stream;
use crate::domain::{Attempt, EndpointAnnouncement, last_status};

/// The result of a claimed delivery.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub delivery: WebhookDeliveryId,
    pub business_id: BusinessId,
    pub endpoint: EndpointId,
    pub mode: Mode,
    /// The order of the event.
    pub order: Option<OrderId>,
    /// Set if the delivery is part of its order's queue.
    pub queue_order: Option<OrderId>,
    pub token: i64,
    pub number: i32,
    /// None if nothing was sent.
    pub attempt: Option<Attempt>,
    pub next: NextState,
    pub at: DateTime<Utc>,
    /// A connection test.
    pub is_test: bool,
    /// Set if the endpoint must not be called again.
    pub disable_reason: Option<&'static str>,
    /// The pause that the receiver requested.
    pub requested_pause: Option<Duration>,
}

impl Outcome {
    pub(crate) fn success(&self) -> Option<Success> {
        let attempt = self.attempt.as_ref().filter(|_| self.next == NextState::Succeeded)?;
        Some(Success { last_status: last_status(attempt.response_status) })
    }

    /// When the endpoint gets its next webhook. `has_advanced`: queues of the batch lost their heads.
    fn makes_due(&self, has_advanced: bool) -> Option<Duration> {
        self.next.retry_after().or((has_advanced && self.queue_order.is_some()).then_some(Duration::ZERO))
    }
}

/// The next state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextState {
    Succeeded,
    /// No attempt is left.
    Failed,
    /// The endpoint no longer subscribes to the event.
    Discarded,
    /// The time until the next attempt.
    Retry(Duration),
}

impl NextState {
    fn state(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Discarded => "discarded",
            Self::Retry(_) => "pending",
        }
    }

    fn retry_after(self) -> Option<Duration> {
        match self {
            Self::Retry(delay) => Some(delay),
            _ => None,
        }
    }

    fn is_end(self) -> bool {
        self.retry_after().is_none()
    }
}

/// The result of recording an outcome.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// False if the lease had expired and another process took over, or if this outcome was already recorded.
    pub is_ours: bool,
    /// When the endpoint gets its next webhook because of this outcome: the retry, or the next one of the queue.
    pub due_in: Option<Duration>,
    /// Deliveries of the endpoint in both modes are due.
    pub are_others_due: bool,
    /// To be reported after the commit. The first outcome of a batch has the changes of all.
    pub health_changes: Vec<HealthChange>,
}

impl Recorded {
    /// To be called after the commit.
    pub(crate) fn report(&self) {
        self.health_changes.iter().for_each(HealthChange::report);
    }
}

/// Relates the clock of this process to that of the database.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub database_now: DateTime<Utc>,
    /// By how much the clock of this process is ahead.
    ahead: TimeDelta,
}

impl Times {
    /// When that was, by the database's clock.
    pub(super) fn of_database(self, at: DateTime<Utc>) -> DateTime<Utc> {
        at - self.ahead
    }
}

/// Deliveries that the transaction has inserted before it records outcomes.
#[derive(Default)]
pub(crate) struct Inserted {
    /// Inserted in their final states.
    pub succeeded: HashSet<WebhookDeliveryId>,
    /// Others wait behind some of them.
    pub has_waiting: bool,
    /// Of their orders, locked or inserted before.
    pub streams: BTreeMap<OrderId, Stream>,
}

/// Also returns the announcements of endpoints that these outcomes disabled. `clock` is that of the outcomes' times. `jitter` returns numbers between -1 and 1.
pub(crate) async fn record(
    conn: &AsyncPgConnection,
    (outcomes, inserted): (&[Outcome], &Inserted),
    clock: &Clock,
    jitter: impl Fn() -> f64 + Send,
) -> Result<(Vec<Recorded>, Vec<EndpointAnnouncement>), StoreError> {
    let Inserted { succeeded, has_waiting, streams } = inserted;
    let to_write = Vec::from_iter(outcomes.iter().filter(|outcome| !succeeded.contains(&outcome.delivery)));
    let now = clock.now();
    // Pipelined: one round trip. Both clocks are read before it waits for locks.
    let (database_now, mut locked, Written { mut ids, requested }) =
        try_join!(super::now(conn), lock_queues(conn, &to_write), write_states(conn, &to_write))?;
    let times = Times { database_now, ahead: now - database_now };
    attempt_again(conn, &requested, database_now).await?;
    ids.extend(succeeded);
    locked.insert(streams.iter().map(|(order, stream)| (*order, *stream)));
    let ours = Vec::from_iter(outcomes.iter().filter(|outcome| ids.contains(&outcome.delivery)));
    // What succeeded when it was inserted has only inserted deliveries behind it.
    let may_advance = |outcome: &&Outcome| *has_waiting || !succeeded.contains(&outcome.delivery);
    let ended = queues_of_ended(ours.iter().copied().filter(may_advance));
    let erased = locked.erased();
    let ((), advanced, ()) = try_join!(
        insert_attempts(conn, &ours, &erased),
        locked.advance(conn, &ended, database_now),
        record_head_failures(conn, &ours, times)
    )?;
    let (disabled, mut health_changes) = record_health(conn, &ours, times, jitter).await?;
    let is_ours = |outcome: &Outcome| ids.contains(&outcome.delivery);
    // The end of an outage makes other deliveries due. A request makes its own delivery due.
    let recovered: HashSet<String> = health_changes.iter().filter_map(HealthChange::recovered).collect();
    let recorded = outcomes.iter().map(|outcome| Recorded {
        is_ours: is_ours(outcome),
        due_in: outcome.makes_due(advanced > 0),
        are_others_due: recovered.contains(&outcome.endpoint.to_string())
            || requested.contains(&outcome.delivery.to_string()),
        health_changes: std::mem::take(&mut health_changes),
    });
    Ok((recorded.collect(), disabled))
}

/// Records only the next state of a delivery whose outcome cannot be stored in full. Otherwise the webhook would be
/// repeated whenever its lease expires, without counting attempts.
pub(crate) async fn record_state(
    conn: &mut AsyncPgConnection,
    outcome: &Outcome,
) -> Result<Recorded, StoreError> {
    let now = super::now(conn).await?;
    let ended = queues_of_ended([outcome]);
    let locked = LockedQueues::lock(conn, ended.iter().map(|queue| queue.order)).await?;
    let Written { ids, requested } = write_states(conn, &[outcome]).await?;
    attempt_again(conn, &requested, now).await?;
    let is_ours = !ids.is_empty();
    let advanced = if is_ours { locked.advance(conn, &ended, now).await? } else { 0 };
    let due_in = if requested.is_empty() { outcome.makes_due(advanced > 0) } else { Some(Duration::ZERO) };
    Ok(Recorded { is_ours, due_in, are_others_due: false, health_changes: Vec::new() })
}

/// The queues that lose their heads.
fn queues_of_ended<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Vec<Queue> {
    let ending = outcomes.into_iter().filter(|outcome| outcome.next.is_end());
    let queue = |outcome: &Outcome| Some(Queue { order: outcome.queue_order?, endpoint: outcome.endpoint });
    Vec::from_iter(ending.filter_map(queue).collect::<BTreeSet<_>>())
}

/// A delivery that joins a queue whose head ends here either waits for this lock or is seen when the queue advances. An
/// erasure either waits for it or is seen here: responses to events of erased orders are not stored.
async fn lock_queues(conn: &AsyncPgConnection, outcomes: &[&Outcome]) -> Result<LockedQueues, StoreError> {
    let ending = outcomes.iter().filter(|outcome| outcome.next.is_end());
    let ending: BTreeSet<OrderId> = ending.filter_map(|outcome| outcome.queue_order).collect();
    let responded =
        outcomes.iter().filter(|outcome| outcome.attempt.as_ref().is_some_and(Attempt::has_response));
    let responded = responded.filter_map(|outcome| outcome.order);
    let locked = LockedQueues::lock(conn, ending.iter().copied().chain(responded)).await?;
    if !ending.iter().all(|order| locked.streams().contains_key(order)) {
        return Err(super::corrupt("an order has no stream"));
    }
    Ok(locked)
}

const WRITE_STATES: &str = r#"
UPDATE deliveries
SET state = outcome.state,
    attempts = deliveries.attempts + outcome.made,
    due_at = statement_timestamp() + make_interval(secs => outcome.retry_after),
    lease_token = NULL,
    lease_until = NULL,
    last_error = CASE WHEN outcome.made = 1 THEN outcome.error ELSE coalesce(outcome.error, deliveries.last_error) END,
    last_status = coalesce(outcome.status, deliveries.last_status),
    completed_at = CASE WHEN outcome.retry_after IS NULL THEN statement_timestamp() END
FROM unnest($1, $2, $3, $4, $5, $6, $7, $8) AS outcome (id, business_id, token, state, made, retry_after, error, status)
WHERE deliveries.id = outcome.id AND deliveries.business_id = outcome.business_id AND deliveries.lease_token = outcome.token
RETURNING deliveries.id, coalesce(
    requested_by = 'redelivery' OR (requested_by = 'recovery' AND deliveries.state <> 'succeeded'), false) AS requested
"#;

#[derive(QueryableByName)]
struct WrittenRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Bool)]
    requested: bool,
}

/// The deliveries whose outcomes were ours to write.
#[derive(Default)]
struct Written {
    ids: HashSet<WebhookDeliveryId>,
    /// Those whose owner requested another attempt meanwhile.
    requested: Vec<String>,
}

/// Sorted, so that it cannot deadlock with a request for the same deliveries.
async fn write_states(mut conn: &AsyncPgConnection, outcomes: &[&Outcome]) -> Result<Written, StoreError> {
    if outcomes.is_empty() {
        return Ok(Written::default());
    }
    let mut outcomes = outcomes.to_vec();
    outcomes.sort_unstable_by_key(|outcome| outcome.delivery);
    let all = || outcomes.iter().copied();
    let error = |outcome: &Outcome| match (&outcome.attempt, outcome.next) {
        (Some(attempt), _) => attempt.error.clone(),
        (None, NextState::Discarded) => {
            Some("not sent: the endpoint no longer subscribes to such events".to_owned())
        }
        (None, _) => None,
    };
    let status =
        |outcome: &Outcome| outcome.attempt.as_ref().map(|attempt| last_status(attempt.response_status));
    let rows: Vec<WrittenRow> = statement(WRITE_STATES)
        .bind::<Array<Text>, _>(all().map(|outcome| outcome.delivery.to_string()).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(all().map(|outcome| outcome.business_id.to_string()).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(all().map(|outcome| outcome.token).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(all().map(|outcome| outcome.next.state()).collect::<Vec<_>>())
        .bind::<Array<Integer>, _>(
            all().map(|outcome| i32::from(outcome.attempt.is_some())).collect::<Vec<_>>(),
        )
        .bind::<Array<Nullable<Double>>, _>(
            all().map(|outcome| Some(outcome.next.retry_after()?.as_secs_f64())).collect::<Vec<_>>(),
        )
        .bind::<Array<Nullable<Text>>, _>(all().map(error).collect::<Vec<_>>())
        .bind::<Array<Nullable<Integer>>, _>(all().map(status).collect::<Vec<_>>())
        .load(&mut conn)
        .await?;
    Ok(Written {
        ids: rows.iter().map(|row| row.id.parse().map_err(super::corrupt)).collect::<Result<_, _>>()?,
        requested: rows.into_iter().filter(|row| row.requested).map(|row| row.id).collect(),
    })
}

/// For failed heads of queues. `endpoint_was_up` separates an event that the endpoint refuses from an endpoint that is
/// down.
const RECORD_HEAD_FAILURES: &str = r#"
UPDATE deliveries
SET first_failed_at = coalesce(deliveries.first_failed_at, failed.at),
    last_failed_at = failed.at,
    endpoint_was_up = coalesce(health.last_success_at > deliveries.first_failed_at, false)
FROM unnest($1, $2, $3, $4) AS failed (id, business_id, endpoint_id, at)
JOIN endpoint_health AS health ON health.endpoint_id = failed.endpoint_id AND health.business_id = failed.business_id
WHERE deliveries.id = failed.id AND deliveries.business_id = failed.business_id
"#;

async fn record_head_failures(
    mut conn: &AsyncPgConnection,
    outcomes: &[&Outcome],
    times: Times,
) -> Result<(), StoreError> {
    let failed = |outcome: &&&Outcome| {
        let made = outcome.attempt.as_ref().is_some_and(|attempt| !attempt.succeeded());
        made && !outcome.next.is_end() && outcome.queue_order.is_some()
    };
    let failed: Vec<_> = outcomes.iter().filter(failed).collect();
    if failed.is_empty() {
        return Ok(());
    }
    statement(RECORD_HEAD_FAILURES)
        .bind::<Array<Text>, _>(Vec::from_iter(failed.iter().map(|outcome| outcome.delivery.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(failed.iter().map(|outcome| outcome.business_id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(failed.iter().map(|outcome| outcome.endpoint.to_string())))
        .bind::<Array<Timestamptz>, _>(Vec::from_iter(
            failed.iter().map(|outcome| times.of_database(outcome.at)),
        ))
        .execute(&mut conn)
        .await?;
    Ok(())
}
