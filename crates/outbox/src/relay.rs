//! Carries the outbox to the broker. A row is gone only after the broker has confirmed its message, so that nothing
//! is lost; a crash in between sends it again, and consumers drop it by its id.

use std::collections::BTreeMap;
use std::time::Duration;

use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::Clock;
use messaging::{BrokerError, Outgoing, Publisher};
use metrics::counter;
use postgres::{Database, StoreError, statement};
use telemetry::TraceContext;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{Doorbell, housekeeping};

/// Messages in one transaction and one round of confirms.
const BATCH_MAX: usize = 256;
/// How often the relay looks without being rung.
const POLL: Duration = Duration::from_millis(250);
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
        while !stop.is_cancelled() {
            // Waited for outside of any transaction.
            tokio::select! {
                connected = self.publisher.connected() => if connected.is_err() { return },
                () = stop.cancelled() => return,
            }
            match self.carry_batch().await {
                Ok(carried) => {
                    pause = PAUSE_MIN;
                    if std::mem::take(&mut told) {
                        tracing::info!("the outbox is carried to the broker again");
                    }
                    if carried < BATCH_MAX {
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

    /// Publishes the oldest rows that no other relay holds. They leave the table when the broker has them; if we fail in
    /// between they are still there. The commit need not be on disk: a row that comes back is sent again, as after any
    /// crash in this place.
    async fn carry_batch(&self) -> Result<usize, RelayError> {
        let carried = self
            .database
            .transaction_lost_in_a_crash(async |conn| {
                let messages = take(conn).await?;
                if !messages.is_empty() {
                    self.publisher.publish(&messages).await?;
                }
                Ok::<_, RelayError>(messages)
            })
            .await?;
        count(&carried);
        Ok(carried.len())
    }
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
    WHERE id = ANY (ARRAY(SELECT id FROM outbox_messages ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING id, event_id, routing_key, body, traceparent, tracestate";

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
}

impl Row {
    fn into_message(self) -> Outgoing {
        let tracestate = self.tracestate;
        Outgoing {
            routing_key: self.routing_key,
            message_id: self.event_id,
            body: self.body.into_bytes(),
            trace: self.traceparent.map(|traceparent| TraceContext { traceparent, tracestate }),
        }
    }
}

/// In the order in which they were written.
async fn take(conn: &mut AsyncPgConnection) -> Result<Vec<Outgoing>, StoreError> {
    let mut rows: Vec<Row> = statement(TAKE).bind::<BigInt, _>(BATCH_MAX as i64).load(conn).await?;
    rows.sort_unstable_by_key(|row| row.id);
    Ok(rows.into_iter().map(Row::into_message).collect())
}
