//! An outbox with very many rows: no look reads the whole table, and new events still arrive. PostgreSQL counts the rows
//! that are read.

use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection};
use domain::Clock;
use events::{Envelope, binding, queues};
use messaging::{Broker, Queue};
use outbox::Outbox;
use postgres::Database;
use test_kit::{until, vhost};

use crate::servers::{
    Events, Recorder, Running, bind, broker, database, waiting, without_a_queue_for_funded,
};

/// The metrics do not count more rows.
const REPORT_MAX: u64 = 10_000;
/// Once a second, the relay retries one row of each kind that no queue takes, and continues its sweep over all rows: two
/// statements read 20,000 rows each. The rest is for the looks in the meantime.
const RETRY_MAX: u64 = 50_000;
/// Rows per insert.
const FILL_MAX: usize = 250_000;

/// Usually the outbox is empty or nearly empty when the server updates its statistics, and the planner relies on that.
#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_is_read_in_small_portions_with_the_statistics_of_a_small_table() {
    // At once, because each waits for retries.
    tokio::join!(read_in_small_portions(0), read_in_small_portions(1));
}

async fn read_in_small_portions(known_rows: usize) {
    let backlog = Backlog::of(200_000, known_rows).await;
    backlog.reports_count_few().await;
    let relay = backlog.starts().await;
    backlog.retries_read_few().await;
    relay.stop().await;
    backlog.close().await;
}

/// Also rows that are deleted, but that a backup's snapshot keeps in the index.
#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_of_2_000_000_rows_is_read_in_small_portions() {
    let backlog = Backlog::of(2_000_000, 0).await;
    backlog.reports_count_few().await;
    let relay = backlog.starts().await;
    backlog.retries_read_few().await;

    let mut backup = AsyncPgConnection::establish(&backlog.url).await.unwrap();
    let snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM outbox_messages LIMIT 1";
    backup.batch_execute(snapshot).await.unwrap();
    let published = "DELETE FROM outbox_messages WHERE id <= (SELECT max(id) - 2000 FROM outbox_messages)";
    local_stack::query(&backlog.url, published).await.unwrap();
    backlog.leaves_deleted_rows_alone(60).await;
    backlog.arrives(5).await;

    bind(&backlog.vhost, Queue::shared(queues::FACTS).name(), binding::WALLET_FUNDED, true).await;
    until("the rest has left", async || waiting(&backlog.url).await == 0).await;
    backlog.leaves_deleted_rows_alone(6).await;
    backlog.arrives(5).await;
    drop(backup);
    relay.stop().await;
    backlog.close().await;
}

/// A table with many rows of a kind that no queue takes.
struct Backlog {
    rows: u64,
    database: Database,
    url: String,
    vhost: String,
    events: Events,
    recorder: Recorder,
    maker: Broker,
    user: Broker,
    listening: Running,
}

impl Backlog {
    /// The statistics are of a table with `known_rows` rows.
    async fn of(rows: u64, known_rows: usize) -> Self {
        let (database, url) = database().await;
        let (events, recorder, vhost) = (Events::new(), Recorder::default(), vhost().await);
        let maker = broker(&vhost);
        let listening = recorder.listen(&maker);
        let user = without_a_queue_for_funded(&database, &vhost, (&maker, &events, &recorder)).await;
        until("the outbox is empty", async || waiting(&url).await == 0).await;
        events.commit(&database, known_rows).await.unwrap();
        let known = "ALTER TABLE outbox_messages SET (autovacuum_enabled = off); ANALYZE outbox_messages";
        local_stack::query(&url, known).await.unwrap();
        fill(&url, &events.funded(), rows).await;
        Self { rows, database, url, vhost, events, recorder, maker, user, listening }
    }

    /// Housekeeping needs no broker.
    async fn reports_count_few(&self) {
        let port = local_stack::free_port().unwrap();
        let nowhere = broker(&format!("amqp://u:p@127.0.0.1:{port}/v"));
        let before = self.reads().await;
        let reporting = Running::relay(&self.database, &nowhere, &Outbox::default(), Clock::system());
        let read = self.read_since(&before, 3).await;
        reporting.stop().await;
        nowhere.close().await;
        assert!(read.rows <= read.scans * REPORT_MAX, "{read:?}");
    }

    /// The relay passes all rows once, and then publishes the events behind them. For two seconds it also looks again at
    /// the last ones that it has passed.
    async fn starts(&self) -> Running {
        let before = self.reads().await;
        let relay = Running::relay(&self.database, &self.user, &self.events.outbox, Clock::system());
        self.arrives(5).await;
        self.are_retried(3).await;
        let read = self.read_since(&before, 1).await;
        assert!(read.rows <= 2 * self.rows + 10 * RETRY_MAX, "{read:?}");
        self.arrives(5).await;
        relay
    }

    /// New events, whose commit wakes the relay.
    async fn arrives(&self, count: usize) {
        let new: Vec<Envelope> = (0..count).map(|_| self.events.first_test_order()).collect();
        let new = self.events.commit_all(&self.database, new).await.unwrap();
        until("the new events have arrived", async || self.recorder.has_all(&new)).await;
    }

    async fn retries_read_few(&self) {
        const RETRIES: u64 = 6;
        let before = self.reads().await;
        self.are_retried(RETRIES).await;
        let read = self.read_since(&before, 1).await;
        // The counters may be a second behind.
        assert!(read.rows <= (RETRIES + 2) * RETRY_MAX, "{read:?}");
    }

    /// Waits until rows were retried so many times. A retried row that was put back has another version.
    async fn are_retried(&self, times: u64) {
        let version = "SELECT xmin FROM outbox_messages ORDER BY id LIMIT 1";
        for _ in 0..times {
            let tried = local_stack::query(&self.url, version).await.unwrap();
            until("a retry", async || local_stack::query(&self.url, version).await.unwrap() != tried).await;
        }
    }

    /// At least in so many scans.
    async fn leaves_deleted_rows_alone(&self, scans: u64) {
        until("no look reads the deleted rows", async || {
            let before = self.reads().await;
            self.read_since(&before, scans).await.rows < self.rows / 4
        })
        .await;
    }

    /// What was read since then, after at least so many scans.
    async fn read_since(&self, before: &Reads, scans: u64) -> Reads {
        test_kit::eventually("scans of the table", async || {
            let now = self.reads().await;
            let since = Reads { scans: now.scans - before.scans, rows: now.rows - before.rows };
            (since.scans >= scans).then_some(since)
        })
        .await
    }

    /// All reads of the table so far.
    async fn reads(&self) -> Reads {
        let sql = "SELECT seq_scan + indexes.scans, seq_tup_read + indexes.rows
            FROM pg_stat_user_tables
            JOIN (SELECT relid, sum(idx_scan) AS scans, sum(idx_tup_read) AS rows FROM pg_stat_user_indexes GROUP BY relid)
                AS indexes USING (relid)
            WHERE relname = 'outbox_messages'";
        let row = local_stack::query(&self.url, sql).await.unwrap();
        let (scans, rows) = row.split_once('|').unwrap();
        Reads { scans: scans.parse().unwrap(), rows: rows.parse().unwrap() }
    }

    async fn close(self) {
        self.listening.stop().await;
        self.user.close().await;
        self.maker.close().await;
    }
}

/// Copies of the event, with other ids.
async fn fill(url: &str, sample: &Envelope, rows: u64) {
    let (id, body) = (sample.id.to_string(), serde_json::to_string(sample).unwrap());
    for first in (1..=rows).step_by(FILL_MAX) {
        let last = rows.min(first + FILL_MAX as u64 - 1);
        let fill = format!(
            "INSERT INTO outbox_messages (event_id, routing_key, body, created_at)
             SELECT copy.id, '{}', replace('{body}', '{id}', copy.id), now()
             FROM (SELECT left('{id}', 14) || lpad(n::text, 16, '0') AS id FROM generate_series({first}, {last}) AS n)
                AS copy",
            sample.routing_key().as_str()
        );
        local_stack::query(url, &fill).await.unwrap();
    }
}

#[derive(Debug)]
struct Reads {
    scans: u64,
    rows: u64,
}
