//! Carries the outbox to the broker. A row is gone only after the broker has confirmed its message, so that nothing
//! is lost; a crash in between sends it again, and consumers drop it by its id.

use std::collections::BTreeMap;
use std::time::Duration;

use messaging::{BrokerError, Outgoing, Publisher};
use metrics::counter;
use postgres::StoreError;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::rows::{BATCH_MAX, Place, Wanted};
use crate::stuck::{Look, Stuck};
use crate::{Unit, housekeeping, rows};

/// While no queue takes some kinds of events, one look passes by this many rows at most.
const LOOK_MAX: i64 = 20_000;
/// How often the relay looks without being rung.
const POLL: Duration = Duration::from_millis(250);
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// One per instance of a service; several share the work.
pub struct Relay {
    unit: Unit,
    publisher: Publisher,
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

impl Relay {
    pub fn new(unit: &Unit, publisher: Publisher) -> Self {
        Self { unit: unit.clone(), publisher, poll: POLL }
    }

    /// How often it looks without being rung, instead of four times a second.
    #[must_use]
    pub fn polling_every(self, poll: Duration) -> Self {
        Self { poll, ..self }
    }

    /// Publishes what is in the outbox, until `stop` is cancelled; then finishes the batch in hand and returns.
    /// Also reports the outbox's length and age, and forgets inbox rows older than a week.
    pub async fn run(self, stop: CancellationToken) {
        tokio::join!(self.carry(&stop), housekeeping::run(&self.unit.database, &self.unit.clock, &stop));
    }

    async fn carry(&self, stop: &CancellationToken) {
        let mut pause = PAUSE_MIN;
        let mut told = false;
        let mut stuck = Stuck::default();
        while !stop.is_cancelled() {
            // Waited for outside of any transaction.
            tokio::select! {
                connected = self.publisher.connected() => if connected.is_err() { return },
                () = stop.cancelled() => return,
            }
            match self.carry_batches(&mut stuck).await {
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
            () = self.unit.outbox.notified() => {}
            () = sleep(self.poll) => {}
            () = stop.cancelled() => {}
        }
    }

    /// Publishes the oldest events, except those of kinds that no queue takes. Whether there may be more.
    async fn carry_batches(&self, stuck: &mut Stuck) -> Result<bool, RelayError> {
        if stuck.is_due() {
            self.try_stuck(stuck).await?;
            let swept = stuck.swept;
            let look = self.look(stuck, swept).await?;
            stuck.swept(&look);
        }
        let floor = stuck.floor;
        let look = self.look(stuck, floor).await?;
        stuck.looked(&look);
        Ok(look.is_cut_short)
    }

    /// Tries one event of each kind that no queue took.
    async fn try_stuck(&self, stuck: &mut Stuck) -> Result<(), RelayError> {
        let ids = stuck.samples();
        self.carry_batch(Wanted::These(&ids)).await?;
        let stay = self.unit.database.read(async |conn| rows::which_stay(conn, &ids).await).await?;
        stuck.tried(&stay);
        Ok(())
    }

    /// Publishes what may go of the rows after an id. While some kinds are stuck, it looks at so many rows only.
    async fn look(&self, stuck: &mut Stuck, after: i64) -> Result<Look, RelayError> {
        let edge = if stuck.is_empty() {
            None
        } else {
            let edge = self.unit.database.read(async |conn| rows::edge(conn, after, LOOK_MAX).await).await?;
            let Some(last) = edge.last else {
                return Ok(Look { until: after, is_cut_short: false, carried: 0 });
            };
            Some((last, edge.rows == LOOK_MAX))
        };
        let until = edge.map_or(i64::MAX, |(last, _)| last);
        let batch = self.carry_batch(Wanted::Span { after, until, except: stuck.keys() }).await?;
        stuck.remember(&batch.returned);
        let (until, is_cut_short) = match batch.last {
            Some(last) if batch.taken == BATCH_MAX => (last, true),
            _ => edge.unwrap_or((after, false)),
        };
        Ok(Look { until, is_cut_short, carried: batch.taken - batch.returned.len() })
    }

    /// Publishes rows that no other relay holds. They leave the table when the broker has them; if we fail in between they
    /// are still there, and those that no queue takes go back to their places. The commit need not be on disk: a row that
    /// comes back is sent again, as after any crash in this place.
    async fn carry_batch(&self, wanted: Wanted<'_>) -> Result<Batch, RelayError> {
        let (carried, batch) = self
            .unit
            .database
            .transaction_lost_in_a_crash(async |conn| {
                let (places, messages) = rows::take(conn, &wanted).await?;
                let mut batch = Batch {
                    taken: places.len(),
                    last: places.last().map(|place| place.id),
                    returned: Vec::new(),
                };
                if messages.is_empty() {
                    return Ok((messages, batch));
                }
                let returned = match self.publisher.publish(&messages).await {
                    Ok(()) => return Ok((messages, batch)),
                    Err(BrokerError::Unroutable(returned)) => returned,
                    Err(error) => return Err(error.into()),
                };
                let (kept, carried) = split(places, messages, &returned);
                rows::put_back(conn, &kept).await?;
                batch.returned =
                    kept.into_iter().map(|(place, message)| (message.routing_key, place.id)).collect();
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
    /// The routing keys and ids of the rows that no queue takes.
    returned: Vec<(String, i64)>,
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
