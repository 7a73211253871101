//! Publishes the events that writers hand over after their commit, and deletes their rows once they are confirmed. A
//! failed event stays in the table, where the relay finds it.

use std::collections::BTreeMap;
use std::time::Duration;

use messaging::{BrokerError, Outgoing, Publisher};
use metrics::counter;
use postgres::Database;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::handover::{Committed, Handover, LANES};
use crate::rows::{self, BATCH_MAX};

/// Nobody waits for the deletion, and one statement deletes many rows.
const GATHER: Duration = Duration::from_millis(100);
const DELETE_MAX: usize = 1_024;
const PAUSE: Duration = Duration::from_secs(1);

/// Runs until `stop` is cancelled and the lanes are empty.
pub(crate) async fn run(
    handover: &Handover,
    database: &Database,
    publisher: &Publisher,
    stop: &CancellationToken,
) {
    let (confirmed, deletions) = mpsc::channel(LANES);
    let publishing = async {
        let lanes = (0..LANES).map(|lane| {
            let lane = PublishingLane {
                handover,
                publisher: publisher.with_own_channel(),
                confirmed: confirmed.clone(),
            }
            .run(lane, stop);
            Box::pin(lane)
        });
        futures_util::future::join_all(lanes).await;
        drop(confirmed);
    };
    tokio::join!(publishing, delete(handover, database, deletions, stop));
}

struct PublishingLane<'a> {
    handover: &'a Handover,
    publisher: Publisher,
    confirmed: mpsc::Sender<Vec<i64>>,
}

impl PublishingLane<'_> {
    async fn run(self, lane: usize, stop: &CancellationToken) {
        let mut queue = tokio::select! {
            queue = self.handover.lane(lane).lock() => queue,
            () = stop.cancelled() => return,
        };
        loop {
            let mut batch = Vec::new();
            tokio::select! {
                biased;
                _ = queue.recv_many(&mut batch, BATCH_MAX) => {}
                () = stop.cancelled() => return,
            }
            let confirmed = self.publish(batch).await;
            if !confirmed.is_empty() && self.confirmed.send(confirmed).await.is_err() {
                return;
            }
        }
    }

    /// Returns the rows of the confirmed events.
    async fn publish(&self, batch: Vec<Committed>) -> Vec<i64> {
        let (ids, messages): (Vec<i64>, Vec<Outgoing>) =
            batch.into_iter().map(|event| (event.id, event.message)).unzip();
        let not_taken = match self.publisher.publish(&messages).await {
            Ok(()) => Vec::new(),
            Err(BrokerError::NotTaken(places)) => places,
            Err(error) => {
                tracing::debug!(%error, events = ids.len(), "publishing failed; the events stay in the outbox");
                self.handover.leave_in_table(&ids);
                return Vec::new();
            }
        };
        let is_taken = |place: &usize| not_taken.binary_search(place).is_err();
        let places = 0..ids.len();
        count(places.clone().filter(is_taken).map(|place| &messages[place]));
        if !not_taken.is_empty() {
            let event = |place: &usize| (messages[*place].routing_key.clone(), ids[*place]);
            self.handover.leave_not_taken(not_taken.iter().map(event).collect());
        }
        places.filter(is_taken).map(|place| ids[place]).collect()
    }
}

/// Deletes confirmed rows. A row that comes back after a crash of PostgreSQL is published again, as after any crash
/// before the deletion.
async fn delete(
    handover: &Handover,
    database: &Database,
    mut confirmed: mpsc::Receiver<Vec<i64>>,
    stop: &CancellationToken,
) {
    while let Some(mut ids) = confirmed.recv().await {
        let until = Instant::now() + GATHER;
        while ids.len() < DELETE_MAX {
            match timeout_at(until, confirmed.recv()).await {
                Ok(Some(more)) => ids.extend(more),
                _ => break,
            }
        }
        loop {
            let deleted =
                database.transaction_lost_in_a_crash(async |conn| rows::delete(conn, &ids).await).await;
            let Err(error) = deleted else { break };
            if stop.is_cancelled() {
                tracing::warn!(%error, events = ids.len(), "deleting published events failed; they will be published again");
                return;
            }
            tracing::debug!(%error, "deleting published events failed; retrying");
            tokio::select! {
                () = sleep(PAUSE) => {}
                () = stop.cancelled() => {}
            }
        }
        handover.release(&ids);
    }
}

/// Counts published events by routing key.
pub(crate) fn count<'a>(published: impl IntoIterator<Item = &'a Outgoing>) {
    let mut of_each: BTreeMap<&str, u64> = BTreeMap::new();
    for message in published {
        *of_each.entry(&message.routing_key).or_default() += 1;
    }
    for (event, messages) in of_each {
        counter!("outbox_published_total", "event" => event.to_owned()).increment(messages);
    }
}
