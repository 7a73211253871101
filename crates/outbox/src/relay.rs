//! Carries the outbox to the broker. A row is gone only after the broker has confirmed its message, so that nothing
//! is lost; a crash in between sends it again, and consumers drop it by its id.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::Clock;
use messaging::{BrokerError, Outgoing, Publisher};
use metrics::counter;
use postgres::{Database, StoreError, statement};
use telemetry::TraceContext;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{Doorbell, housekeeping};

/// Messages in one transaction and one round of confirms.
const BATCH_MAX: usize = 256;
/// How often the relay looks without being rung.
const POLL: Duration = Duration::from_millis(250);
/// How often some of the events that no queue takes are tried again.
const TRY_PASSED: Duration = Duration::from_secs(1);
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// One per instance of a service; several share the work.
pub struct Relay {
    database: Database,
    publisher: Publisher,
    doorbell: Doorbell,
    clock: Clock,
    poll: Duration,
}

/// Why a batch stays in the outbox.
#[derive(Debug, thiserror::Error)]
enum RelayError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Broker(#[from] BrokerError),
}

impl From<diesel::result::Error> for RelayError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Relay {
    pub fn new(database: Database, publisher: Publisher, doorbell: Doorbell, clock: Clock) -> Self {
        Self { database, publisher, doorbell, clock, poll: POLL }
    }

    /// How often it looks without being rung, instead of four times a second.
    #[must_use]
    pub fn polling_every(self, poll: Duration) -> Self {
        Self { poll, ..self }
    }

    /// Publishes what is in the outbox, until `stop` is cancelled; then finishes the batch in hand and returns.
    /// Also reports the outbox's length and age, and forgets inbox rows older than a week.
    pub async fn run(self, stop: CancellationToken) {
        tokio::join!(self.carry(&stop), housekeeping::run(&self.database, &self.clock, &stop));
    }

    async fn carry(&self, stop: &CancellationToken) {
        let mut pause = PAUSE_MIN;
        let mut told = false;
        let mut passed = Passed::default();
        while !stop.is_cancelled() {
            // Waited for outside of any transaction.
            tokio::select! {
                connected = self.publisher.connected() => if connected.is_err() { return },
                () = stop.cancelled() => return,
            }
            match self.carry_batches(&mut passed).await {
                Ok(has_more) => {
                    pause = PAUSE_MIN;
                    if std::mem::take(&mut told) {
                        tracing::info!("the outbox is carried to the broker again");
                    }
                    if !has_more {
                        self.wait_for_work(stop).await;
                    }
                }
                Err(error) => {
                    if std::mem::replace(&mut told, true) {
                        tracing::debug!(%error, "the outbox still waits");
                    } else {
                        tracing::warn!(%error, "the outbox cannot be carried to the broker; trying on");
                    }
                    tokio::select! {
                        () = sleep(pause) => {}
                        () = stop.cancelled() => return,
                    }
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }

    async fn wait_for_work(&self, stop: &CancellationToken) {
        tokio::select! {
            () = self.doorbell.rung() => {}
            () = sleep(self.poll) => {}
            () = stop.cancelled() => {}
        }
    }

    /// Publishes what comes after the events that no queue takes, and now and then some of those. Whether there may be more.
    async fn carry_batches(&self, passed: &mut Passed) -> Result<bool, RelayError> {
        if passed.is_due() {
            let tried = self.carry_batch((passed.tried, passed.until)).await?;
            passed.tried_again(&tried);
        }
        let new = self.carry_batch((passed.until, i64::MAX)).await?;
        passed.pass(&new);
        Ok(new.taken == BATCH_MAX || passed.is_due())
    }

    /// Publishes the oldest rows of a span that no other relay holds. They leave the table when the broker has them; if we
    /// fail in between they are still there. The commit need not be on disk: a row that comes back is sent again, as after
    /// any crash in this place.
    async fn carry_batch(&self, span: (i64, i64)) -> Result<Batch, RelayError> {
        let (carried, batch) = self
            .database
            .transaction_lost_in_a_crash(async |conn| {
                let (places, messages) = take(conn, span).await?;
                let mut batch =
                    Batch { taken: places.len(), last: places.last().map(|place| place.id), put_back: 0 };
                if messages.is_empty() {
                    return Ok((messages, batch));
                }
                let returned = match self.publisher.publish(&messages).await {
                    Ok(()) => return Ok((messages, batch)),
                    Err(BrokerError::Unroutable(returned)) => returned,
                    Err(error) => return Err(error.into()),
                };
                batch.put_back = returned.len();
                let (kept, carried) = split(places, messages, &returned);
                put_back(conn, &kept).await?;
                Ok::<_, RelayError>((carried, batch))
            })
            .await?;
        count(&carried);
        Ok(batch)
    }
}

/// What became of a batch.
struct Batch {
    taken: usize,
    /// The id of its last row.
    last: Option<i64>,
    /// Rows that no queue takes. They stay where they were.
    put_back: usize,
}

/// The events that no queue takes: the others pass them by, and a batch of them at a time is tried again.
struct Passed {
    /// Rows up to this one were tried. 0 while nothing is passed by.
    until: i64,
    /// Of those, the ones up to this one were tried again in this turn.
    tried: i64,
    /// Whether any row of this turn was put back.
    is_needed: bool,
    try_at: Instant,
}

impl Default for Passed {
    fn default() -> Self {
        Self { until: 0, tried: 0, is_needed: false, try_at: Instant::now() }
    }
}

impl Passed {
    fn is_due(&self) -> bool {
        self.until > 0 && Instant::now() >= self.try_at
    }

    fn pass(&mut self, new: &Batch) {
        let (Some(last), 1..) = (new.last, new.put_back) else { return };
        if self.until == 0 {
            tracing::error!("no queue takes some events; they stay in the outbox, and the others go on");
        }
        (self.until, self.is_needed) = (last, true);
        self.try_at = Instant::now() + TRY_PASSED;
    }

    fn tried_again(&mut self, batch: &Batch) {
        self.is_needed |= batch.put_back > 0;
        match batch.last {
            Some(last) if batch.taken == BATCH_MAX => self.tried = last,
            // The end of a turn. Rows of a turn that other relays hold come back in their turns.
            _ if self.is_needed => (self.tried, self.is_needed) = (0, false),
            _ => {
                *self = Self::default();
                tracing::info!("queues take all events again");
            }
        }
        // What is taken again goes on at once.
        if batch.put_back > 0 || batch.taken == 0 {
            self.try_at = Instant::now() + TRY_PASSED;
        }
    }
}

/// Into what no queue takes and what the broker has.
fn split(
    places: Vec<Place>,
    messages: Vec<Outgoing>,
    returned: &[usize],
) -> (Vec<(Place, Outgoing)>, Vec<Outgoing>) {
    let (mut kept, mut carried) = (Vec::new(), Vec::new());
    for (index, (place, message)) in places.into_iter().zip(messages).enumerate() {
        if returned.contains(&index) {
            kept.push((place, message));
        } else {
            carried.push(message);
        }
    }
    (kept, carried)
}

/// By routing key, of which there are few: what happened in this service, and how often.
fn count(carried: &[Outgoing]) {
    let mut of_each: BTreeMap<&str, u64> = BTreeMap::new();
    for message in carried {
        *of_each.entry(&message.routing_key).or_default() += 1;
    }
    for (event, messages) in of_each {
        counter!("outbox_published_total", "event" => event.to_owned()).increment(messages);
    }
}

const TAKE: &str = "
    DELETE FROM outbox_messages
    WHERE id = ANY (ARRAY(
        SELECT id FROM outbox_messages WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED))
    RETURNING id, event_id, routing_key, body, traceparent, tracestate, created_at";

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    event_id: String,
    #[diesel(sql_type = Text)]
    routing_key: String,
    #[diesel(sql_type = Text)]
    body: String,
    #[diesel(sql_type = Nullable<Text>)]
    traceparent: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    tracestate: Option<String>,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
}

/// Where a message stood in the outbox.
struct Place {
    id: i64,
    created_at: DateTime<Utc>,
}

impl Row {
    fn split(self) -> (Place, Outgoing) {
        let tracestate = self.tracestate;
        let message = Outgoing {
            routing_key: self.routing_key,
            message_id: self.event_id,
            body: self.body.into_bytes(),
            trace: self.traceparent.map(|traceparent| TraceContext { traceparent, tracestate }),
        };
        (Place { id: self.id, created_at: self.created_at }, message)
    }
}

/// In the order in which they were written.
async fn take(
    conn: &mut AsyncPgConnection,
    (after, until): (i64, i64),
) -> Result<(Vec<Place>, Vec<Outgoing>), StoreError> {
    let mut rows: Vec<Row> = statement(TAKE)
        .bind::<BigInt, _>(after)
        .bind::<BigInt, _>(until)
        .bind::<BigInt, _>(BATCH_MAX as i64)
        .load(conn)
        .await?;
    rows.sort_unstable_by_key(|row| row.id);
    Ok(rows.into_iter().map(Row::split).unzip())
}

const PUT_BACK: &str = "
    INSERT INTO outbox_messages (id, event_id, routing_key, body, traceparent, tracestate, created_at)
    OVERRIDING SYSTEM VALUE
    SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)";

/// Each to its own place.
async fn put_back(conn: &mut AsyncPgConnection, kept: &[(Place, Outgoing)]) -> Result<(), StoreError> {
    let (places, messages) =
        (|| kept.iter().map(|(place, _)| place), || kept.iter().map(|(_, message)| message));
    let traces = || messages().map(|message| message.trace.as_ref());
    let bodies: Vec<_> = messages().map(|message| String::from_utf8_lossy(&message.body)).collect();
    statement(PUT_BACK)
        .bind::<Array<BigInt>, _>(Vec::from_iter(places().map(|place| place.id)))
        .bind::<Array<Text>, _>(Vec::from_iter(messages().map(|message| message.message_id.as_str())))
        .bind::<Array<Text>, _>(Vec::from_iter(messages().map(|message| message.routing_key.as_str())))
        .bind::<Array<Text>, _>(Vec::from_iter(bodies.iter().map(AsRef::as_ref)))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(
            traces().map(|trace| trace.map(|trace| trace.traceparent.as_str())),
        ))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(
            traces().map(|trace| trace.and_then(|trace| trace.tracestate.as_deref())),
        ))
        .bind::<Array<Timestamptz>, _>(Vec::from_iter(places().map(|place| place.created_at)))
        .execute(conn)
        .await?;
    Ok(())
}
