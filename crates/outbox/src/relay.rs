//! Publishes the outbox. A row is deleted only after the broker has confirmed its message, so nothing is lost. A crash
//! in between publishes it again, and consumers drop the duplicate by its id.
//!
//! Each commit of this process wakes the relay. It also looks for rows of other processes that are left behind.

use std::collections::BTreeMap;
use std::time::Duration;

use messaging::{BrokerError, Outgoing, Publisher};
use metrics::counter;
use postgres::StoreError;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::floor::{Floor, FloorWatch};
use crate::rows::{BATCH_MAX, Position, Selection};
use crate::stuck::{ScanPage, Stuck};
use crate::{Unit, housekeeping, rows};

/// The number of rows that one scan may skip while no queue takes some kinds of events.
const SCAN_ROWS_MAX: i64 = 20_000;
/// The interval of looking for rows that another process left behind.
const POLL: Duration = Duration::from_secs(4);
/// The interval while some events are stuck.
const POLL_STUCK: Duration = Duration::from_millis(250);
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// Each instance of a service has one relay. The relays share the work.
pub struct Relay {
    unit: Unit,
    publisher: Publisher,
}

/// Why a batch stays in the outbox.
#[derive(Debug, thiserror::Error)]
enum RelayError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Broker(#[from] BrokerError),
}

/// Why the relay looks at the table.
#[derive(Clone, Copy)]
enum Look {
    /// The rows are new: consumers may act before they have stored the event.
    AfterCommit,
    /// Another process, or a failed look, left the rows behind: they may have been published.
    ForOthers,
}

/// What the relay knows about the table.
struct Table<'a> {
    floor: &'a Floor,
    floor_watch: FloorWatch,
    /// When the floor may rise.
    watch_at: Instant,
    stuck: Stuck,
}

impl<'a> Table<'a> {
    fn new(floor: &'a Floor, now: Instant) -> Self {
        Self { floor, floor_watch: FloorWatch::new(now), watch_at: now, stuck: Stuck::default() }
    }
}

/// Failed looks in a row.
struct Failing {
    is_failing: bool,
    pause: Duration,
}

impl Default for Failing {
    fn default() -> Self {
        Self { is_failing: false, pause: PAUSE_MIN }
    }
}

impl Failing {
    /// Returns the pause before the next look.
    fn next(&mut self, error: &RelayError) -> Duration {
        if std::mem::replace(&mut self.is_failing, true) {
            tracing::debug!(%error, "outbox publishing still fails");
        } else {
            tracing::warn!(%error, "outbox publishing failed; retrying");
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(PAUSE_MAX);
        pause
    }

    fn end(&mut self) {
        if std::mem::take(self).is_failing {
            tracing::info!("outbox publishing resumed");
        }
    }
}

impl Relay {
    pub fn new(unit: &Unit, publisher: Publisher) -> Self {
        Self { unit: unit.clone(), publisher }
    }

    /// Publishes the outbox until `stop` is cancelled, then finishes the batch in progress. Also reports the outbox's
    /// length and age, and removes inbox rows older than a week.
    pub async fn run(self, stop: CancellationToken) {
        let floor = Floor::default();
        tokio::join!(self.publish(&floor, &stop), housekeeping::run(&self.unit, &floor, &stop));
    }

    async fn publish(&self, floor: &Floor, stop: &CancellationToken) {
        let mut table = Table::new(floor, Instant::now());
        let mut failing = Failing::default();
        // Rows of the first look may have been published before this process started.
        let mut look = Look::ForOthers;
        loop {
            // Waits outside of any transaction.
            tokio::select! {
                biased;
                connected = self.publisher.connected() => if connected.is_err() { return },
                () = stop.cancelled() => return,
            }
            let next = match self.look(&mut table, look).await {
                Ok(next) => {
                    failing.end();
                    next
                }
                Err(error) => failing.next(&error),
            };
            look = tokio::select! {
                biased;
                // Also before a stop.
                () = self.unit.outbox.committed(), if !failing.is_failing => Look::AfterCommit,
                () = stop.cancelled() => return,
                () = sleep(next) => if next.is_zero() { look } else { Look::ForOthers },
            };
        }
    }

    /// Publishes a batch. Returns when to look again.
    async fn look(&self, table: &mut Table<'_>, look: Look) -> Result<Duration, RelayError> {
        self.watch_floor(table).await?;
        let has_more = self.publish_batches(table, look).await?;
        Ok(match table.stuck.is_empty() {
            _ if has_more => Duration::ZERO,
            true => POLL,
            false => POLL_STUCK,
        })
    }

    async fn watch_floor(&self, table: &mut Table<'_>) -> Result<(), RelayError> {
        let now = Instant::now();
        if now >= table.watch_at {
            table.watch_at = now + POLL;
            let begin = table.floor_watch.next_look(table.floor, now);
            let ends = self.unit.database.read(async |conn| rows::ends(conn, begin).await).await?;
            table.floor_watch.found(table.floor, &ends, Instant::now());
        }
        Ok(())
    }

    /// Publishes the oldest events, except the kinds that no queue takes. Returns whether there may be more.
    async fn publish_batches(&self, table: &mut Table<'_>, look: Look) -> Result<bool, RelayError> {
        let Table { floor, stuck, .. } = table;
        if stuck.is_due() {
            self.retry_stuck(stuck).await?;
            let swept = stuck.swept;
            let page = self.scan(stuck, swept.max(floor.get()), Look::ForOthers).await?;
            stuck.swept(&page);
        }
        let after = stuck.floor.max(floor.get());
        let page = self.scan(stuck, after, look).await?;
        stuck.scanned(&page);
        Ok(page.is_cut_short)
    }

    /// Retries one event of each kind that no queue took.
    async fn retry_stuck(&self, stuck: &mut Stuck) -> Result<(), RelayError> {
        let ids = stuck.samples();
        self.publish_batch(Selection::These(&ids), Look::ForOthers).await?;
        let stay = self.unit.database.read(async |conn| rows::which_stay(conn, &ids).await).await?;
        stuck.tried(&stay);
        Ok(())
    }

    /// Publishes eligible rows after an id. While some kinds are stuck, the number of scanned rows is limited.
    async fn scan(&self, stuck: &mut Stuck, after: i64, look: Look) -> Result<ScanPage, RelayError> {
        let edge = if stuck.is_empty() {
            None
        } else {
            let edge =
                self.unit.database.read(async |conn| rows::edge(conn, after, SCAN_ROWS_MAX).await).await?;
            let Some(last) = edge.last else {
                return Ok(ScanPage { until: after, is_cut_short: false, published: 0 });
            };
            Some((last, edge.rows == SCAN_ROWS_MAX))
        };
        let until = edge.map_or(i64::MAX, |(last, _)| last);
        let batch = self.publish_batch(Selection::Span { after, until, except: stuck.keys() }, look).await?;
        stuck.remember(&batch.returned);
        let (until, is_cut_short) = match batch.last {
            Some(last) if batch.taken == BATCH_MAX => (last, true),
            _ => edge.unwrap_or((after, false)),
        };
        Ok(ScanPage { until, is_cut_short, published: batch.taken - batch.returned.len() })
    }

    /// Publishes rows that no other relay holds. The transaction deletes them, so a failure in between restores them;
    /// rows that no queue takes are inserted again under their old ids. The commit need not reach the disk: a restored
    /// row is published again, as after any crash at this point.
    async fn publish_batch(&self, wanted: Selection<'_>, look: Look) -> Result<Batch, RelayError> {
        let (published, batch) = self
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
                let published = match look {
                    Look::AfterCommit => self.publisher.publish(&messages).await,
                    Look::ForOthers => self.publisher.publish_again(&messages).await,
                };
                let returned = match published {
                    Ok(()) => return Ok((messages, batch)),
                    Err(BrokerError::NotTaken(places)) => places,
                    Err(error) => return Err(error.into()),
                };
                let (kept, published) = split(places, messages, &returned);
                rows::put_back(conn, &kept).await?;
                batch.returned =
                    kept.into_iter().map(|(place, message)| (message.routing_key, place.id)).collect();
                Ok::<_, RelayError>((published, batch))
            })
            .await?;
        count(&published);
        Ok(batch)
    }
}

/// The result of a batch.
struct Batch {
    taken: usize,
    /// The id of its last row.
    last: Option<i64>,
    /// The routing keys and ids of the rows that no queue takes.
    returned: Vec<(String, i64)>,
}

/// Separates the rows that no queue takes from the published ones.
fn split(
    places: Vec<Position>,
    messages: Vec<Outgoing>,
    returned: &[usize],
) -> (Vec<(Position, Outgoing)>, Vec<Outgoing>) {
    let (mut kept, mut published) = (Vec::new(), Vec::new());
    for (index, (place, message)) in places.into_iter().zip(messages).enumerate() {
        if returned.contains(&index) {
            kept.push((place, message));
        } else {
            published.push(message);
        }
    }
    (kept, published)
}

/// Counts published events by routing key.
fn count(published: &[Outgoing]) {
    let mut of_each: BTreeMap<&str, u64> = BTreeMap::new();
    for message in published {
        *of_each.entry(&message.routing_key).or_default() += 1;
    }
    for (event, messages) in of_each {
        counter!("outbox_published_total", "event" => event.to_owned()).increment(messages);
    }
}
