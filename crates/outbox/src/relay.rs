//! Publishes the outbox. A row is deleted only after the broker has confirmed its message, so nothing is lost. A crash
//! in between publishes it again, and consumers drop the duplicate by its id.
//!
//! Usually the lanes publish the events that the writers hand over in memory, and the relay only looks for rows that
//! are left behind, for instance by a killed process. After a failure, the relay publishes all events from the table in
//! their order, until it has caught up.

use std::time::Duration;

use messaging::{BrokerError, Outgoing, Publisher};
use postgres::StoreError;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::floor::FloorWatch;
use crate::handover::Handover;
use crate::rows::{BATCH_MAX, Ends, Position, Selection};
use crate::stuck::{ScanPage, Stuck};
use crate::{Unit, housekeeping, lanes, rows};

/// The number of rows that one scan may skip while no queue takes some kinds of events.
const SCAN_ROWS_MAX: i64 = 20_000;
/// The interval of looking for rows that are left behind. A row that is still there at the next look is left behind, so
/// an event of a killed process is published after two intervals at most.
const POLL: Duration = Duration::from_secs(4);
/// The interval of the first two looks, so that a restarted service soon publishes what it left behind.
const POLL_AT_START: Duration = Duration::from_millis(500);
/// The poll interval without notifications while the relay reads all events from the table.
const POLL_TABLE: Duration = Duration::from_millis(250);
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

/// What the relay knows about the table.
struct Table {
    looks: u64,
    /// The last row at the latest look.
    newest: Option<i64>,
    floor: FloorWatch,
    stuck: Stuck,
}

impl Table {
    fn new(now: Instant) -> Self {
        Self { looks: 0, newest: None, floor: FloorWatch::new(now), stuck: Stuck::default() }
    }
}

impl Relay {
    pub fn new(unit: &Unit, publisher: Publisher) -> Self {
        Self { unit: unit.clone(), publisher }
    }

    /// Publishes the outbox until `stop` is cancelled, then finishes the batches in progress. Also reports the outbox's
    /// length and age, and removes inbox rows older than a week.
    pub async fn run(self, stop: CancellationToken) {
        self.handover().resume();
        tokio::join!(
            lanes::run(self.handover(), &self.unit.database, &self.publisher, &stop),
            self.watch_table(&stop),
            housekeeping::run(&self.unit, &stop)
        );
    }

    fn handover(&self) -> &Handover {
        &self.unit.outbox.0
    }

    async fn watch_table(&self, stop: &CancellationToken) {
        let mut pause = PAUSE_MIN;
        let mut is_failing = false;
        let mut table = Table::new(Instant::now());
        while !stop.is_cancelled() {
            // Waits outside of any transaction.
            tokio::select! {
                connected = self.publisher.connected() => if connected.is_err() { return },
                () = stop.cancelled() => return,
            }
            match self.look(&mut table).await {
                Ok(next) => {
                    pause = PAUSE_MIN;
                    if std::mem::take(&mut is_failing) {
                        tracing::info!("outbox publishing resumed");
                    }
                    tokio::select! {
                        () = self.handover().missed() => {}
                        () = sleep(next) => {}
                        () = stop.cancelled() => {}
                    }
                }
                Err(error) => {
                    if std::mem::replace(&mut is_failing, true) {
                        tracing::debug!(%error, "outbox publishing still fails");
                    } else {
                        tracing::warn!(%error, "outbox publishing failed; retrying");
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

    /// Publishes what is left behind, or everything after a failure. Returns when to look again.
    async fn look(&self, table: &mut Table) -> Result<Duration, RelayError> {
        let handover = self.handover();
        table.stuck.remember(&handover.take_not_taken());
        let begin = table.floor.next_look(&handover.floor, Instant::now());
        let ends = self.unit.database.read(async |conn| rows::ends(conn, begin).await).await?;
        table.floor.found(&handover.floor, &ends, Instant::now());
        if handover.is_direct() && !self.publish_left_behind(table, &ends).await? {
            table.looks += 1;
            return Ok(if table.looks == 1 { POLL_AT_START } else { POLL });
        }
        handover.suspend();
        let has_more = self.publish_batches(&mut table.stuck).await?;
        if has_more {
            return Ok(Duration::ZERO);
        }
        // While events are stuck, all are published from the table: later ones of their kind must not overtake them.
        Ok(match table.stuck.is_empty() {
            false => POLL_TABLE,
            true if handover.resume() => POLL,
            true => Duration::ZERO,
        })
    }

    /// Publishes the rows that were there at the latest look. Returns whether there may be more.
    async fn publish_left_behind(&self, table: &mut Table, ends: &Ends) -> Result<bool, RelayError> {
        let (Some(oldest), Some(until)) = (ends.oldest, std::mem::replace(&mut table.newest, ends.newest))
        else {
            return Ok(false);
        };
        if oldest > until {
            return Ok(false);
        }
        let (after, held) = (self.handover().floor.get(), self.handover().held_ids());
        let batch = self.publish_batch(Selection::Span { after, until, except: Vec::new(), held }).await?;
        table.stuck.remember(&batch.returned);
        Ok(batch.taken == BATCH_MAX || !table.stuck.is_empty())
    }

    /// Publishes the oldest events, except the kinds that no queue takes. Returns whether there may be more.
    async fn publish_batches(&self, stuck: &mut Stuck) -> Result<bool, RelayError> {
        if stuck.is_due() {
            self.retry_stuck(stuck).await?;
            let swept = stuck.swept;
            let page = self.scan(stuck, swept).await?;
            stuck.swept(&page);
        }
        let floor = stuck.floor;
        let page = self.scan(stuck, floor).await?;
        stuck.scanned(&page);
        Ok(page.is_cut_short)
    }

    /// Retries one event of each kind that no queue took.
    async fn retry_stuck(&self, stuck: &mut Stuck) -> Result<(), RelayError> {
        let ids = stuck.samples();
        self.publish_batch(Selection::These(&ids)).await?;
        let stay = self.unit.database.read(async |conn| rows::which_stay(conn, &ids).await).await?;
        stuck.tried(&stay);
        Ok(())
    }

    /// Publishes eligible rows after an id. While some kinds are stuck, the number of scanned rows is limited.
    async fn scan(&self, stuck: &mut Stuck, after: i64) -> Result<ScanPage, RelayError> {
        let after = after.max(self.handover().floor.get());
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
        let batch = self
            .publish_batch(Selection::Span {
                after,
                until,
                except: stuck.keys(),
                held: self.handover().held_ids(),
            })
            .await?;
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
    async fn publish_batch(&self, wanted: Selection<'_>) -> Result<Batch, RelayError> {
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
                let returned = match self.publisher.publish_again(&messages).await {
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
        lanes::count(&published);
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
