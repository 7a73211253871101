//! Retention: attempts are dropped by daily partition; completed deliveries, events without deliveries, and streams of
//! old orders are deleted in batches. Serves all businesses.

use chrono::{DateTime, NaiveDate, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Date, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use domain::{EventId, OrderId, WebhookDeliveryId};
use postgres::{StoreError, statement};

use super::corrupt;

/// The advisory lock of this work: the bytes of "retain".
const LOCK: i64 = 0x72_65_74_61_69_6e;

/// Returns false if another instance holds the lock. Held until the transaction ends.
pub(crate) async fn try_lock_retention(conn: &mut AsyncPgConnection) -> Result<bool, StoreError> {
    postgres::try_lock(conn, LOCK).await
}

/// A partition of the attempts.
pub(crate) struct Partition {
    pub name: String,
    /// The day after its last one.
    pub until: DateTime<Utc>,
}

impl Partition {
    pub(crate) fn covers(&self, day: NaiveDate) -> bool {
        self.name == partition_name(day)
    }
}

/// All but the default partition.
const PARTITIONS: &str = r"
    SELECT child.relname::text AS name,
        substring(pg_get_expr(child.relpartbound, child.oid) FROM 'TO \(''([^'']+)''\)')::timestamptz AS until
    FROM pg_inherits JOIN pg_class AS child ON child.oid = pg_inherits.inhrelid
    WHERE pg_inherits.inhparent = 'attempts'::regclass AND child.relname <> 'attempts_default'
    ORDER BY until";

#[derive(QueryableByName)]
struct PartitionRow {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Timestamptz)]
    until: DateTime<Utc>,
}

/// Oldest first.
pub(crate) async fn partitions(conn: &mut AsyncPgConnection) -> Result<Vec<Partition>, StoreError> {
    let rows: Vec<PartitionRow> = statement(PARTITIONS).load(conn).await?;
    Ok(rows.into_iter().map(|row| Partition { name: row.name, until: row.until }).collect())
}

/// While the statement waits for its lock, it blocks writers of attempts. So it gives up soon.
const SHORT_LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '500ms'";

/// Creates the partition of a day, with the day's attempts from the default partition. Only the last step blocks
/// others.
pub(crate) async fn add_partition(conn: &mut AsyncPgConnection, day: NaiveDate) -> Result<(), StoreError> {
    let next = day.succ_opt().ok_or_else(|| corrupt("the day has no successor"))?;
    let (name, day, next) = (partition_name(day), day.to_string(), next.to_string());
    let range = format!("started_at >= '{day} 00:00+00' AND started_at < '{next} 00:00+00'");
    let sql = format!(
        "{SHORT_LOCK_TIMEOUT};
        CREATE TABLE {name} (LIKE attempts INCLUDING ALL, CHECK ({range}));
        WITH moved AS (DELETE FROM attempts_default WHERE {range} RETURNING *) INSERT INTO {name} SELECT * FROM moved;
        ALTER TABLE attempts ATTACH PARTITION {name} FOR VALUES FROM ('{day} 00:00+00') TO ('{next} 00:00+00')"
    );
    Ok(conn.batch_execute(&sql).await?)
}

fn partition_name(day: NaiveDate) -> String {
    format!("attempts_{}", day.format("%Y%m%d"))
}

pub(crate) async fn drop_partition(
    conn: &mut AsyncPgConnection,
    partition: &Partition,
) -> Result<(), StoreError> {
    // The name comes from the catalogue.
    let sql = format!("{SHORT_LOCK_TIMEOUT}; DROP TABLE \"{}\"", partition.name.replace('"', "\"\""));
    Ok(conn.batch_execute(&sql).await?)
}

const WITHOUT_DAY: &str = "
    SELECT count(*) AS count, min((started_at AT TIME ZONE 'UTC')::date) AS day
    FROM (SELECT started_at FROM attempts_default ORDER BY started_at LIMIT 10000) AS strays";

#[derive(QueryableByName)]
struct StrayRow {
    #[diesel(sql_type = BigInt)]
    count: i64,
    #[diesel(sql_type = Nullable<Date>)]
    day: Option<NaiveDate>,
}

/// The number of attempts in the default partition, at most 10,000, and the first day without a partition.
pub(crate) async fn attempts_in_default_partition(
    conn: &mut AsyncPgConnection,
) -> Result<(i64, Option<NaiveDate>), StoreError> {
    let row: StrayRow = statement(WITHOUT_DAY).get_result(conn).await?;
    Ok((row.count, row.day))
}

const DROP_STRAYS: &str = "DELETE FROM attempts_default WHERE started_at < $1";

/// Deletes attempts of expired days.
pub(crate) async fn delete_expired_in_default_partition(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
) -> Result<usize, StoreError> {
    Ok(statement(DROP_STRAYS).bind::<Timestamptz, _>(before).execute(conn).await?)
}

/// The end of a batch, and the number of deleted rows.
#[derive(QueryableByName)]
struct PortionRow {
    #[diesel(sql_type = Nullable<Text>)]
    last: Option<String>,
    #[diesel(sql_type = BigInt)]
    pruned: i64,
}

/// Along the primary key, whose ids sort by time. Keeps pending and parked deliveries of any age, and recently
/// completed ones.
const PRUNE_DELIVERIES: &str = "
    WITH portion AS (SELECT id, business_id FROM deliveries WHERE id > $1 AND id < $2 ORDER BY id LIMIT $4),
    gone AS (
        DELETE FROM deliveries USING portion
        WHERE deliveries.id = portion.id AND deliveries.business_id = portion.business_id AND deliveries.completed_at < $3
          AND deliveries.state IN ('succeeded', 'failed', 'discarded')
        RETURNING 1)
    SELECT (SELECT max(id) FROM portion) AS last, (SELECT count(*) FROM gone) AS pruned";

/// Scans up to `limit` deliveries after `after`, and deletes those completed before `ended_before`. Returns the last
/// id, or none at the end, and the number of deleted rows.
pub(crate) async fn prune_deliveries(
    conn: &mut AsyncPgConnection,
    after: &str,
    ended_before: DateTime<Utc>,
    limit: i64,
) -> Result<(Option<String>, i64), StoreError> {
    let row: PortionRow = statement(PRUNE_DELIVERIES)
        .bind::<Text, _>(after)
        .bind::<Text, _>(WebhookDeliveryId::first_of(ended_before).to_string())
        .bind::<Timestamptz, _>(ended_before)
        .bind::<BigInt, _>(limit)
        .get_result(conn)
        .await?;
    Ok((row.last, row.pruned))
}

const PRUNE_EVENTS: &str = "
    WITH portion AS (
        SELECT event_id, business_id FROM events WHERE event_id > $1 AND event_id < $2 ORDER BY event_id LIMIT $3),
    gone AS (
        DELETE FROM events USING portion
        WHERE events.event_id = portion.event_id AND events.business_id = portion.business_id
          AND NOT EXISTS (SELECT FROM deliveries WHERE deliveries.event_id = portion.event_id)
        RETURNING 1)
    SELECT (SELECT max(event_id) FROM portion) AS last, (SELECT count(*) FROM gone) AS pruned";

/// As [`prune_deliveries`], for events without deliveries.
pub(crate) async fn prune_events(
    conn: &mut AsyncPgConnection,
    after: &str,
    made_before: DateTime<Utc>,
    limit: i64,
) -> Result<(Option<String>, i64), StoreError> {
    let row: PortionRow = statement(PRUNE_EVENTS)
        .bind::<Text, _>(after)
        .bind::<Text, _>(EventId::first_of(made_before).to_string())
        .bind::<BigInt, _>(limit)
        .get_result(conn)
        .await?;
    Ok((row.last, row.pruned))
}

/// Skips locked streams: writers about an order hold its stream's lock. Locks only streams that may be deleted. `OFFSET
/// 0` forces index lookups, where a plan made for small tables would scan them.
const STREAMS_OVER: &str = "
    WITH portion AS (
        SELECT order_id FROM order_streams WHERE order_id > $1 AND order_id < $2 ORDER BY order_id LIMIT $3),
    over AS (
        SELECT order_id FROM order_streams AS stream
        WHERE order_id = ANY (ARRAY(SELECT order_id FROM portion))
          AND NOT EXISTS (SELECT FROM held_back_events WHERE held_back_events.order_id = stream.order_id OFFSET 0)
          AND NOT EXISTS (SELECT FROM events WHERE events.order_id = stream.order_id OFFSET 0)
        FOR UPDATE OF stream SKIP LOCKED)
    SELECT (SELECT max(order_id) FROM portion) AS last, ARRAY(SELECT order_id FROM over) AS over";

#[derive(QueryableByName)]
struct StreamsRow {
    #[diesel(sql_type = Nullable<Text>)]
    last: Option<String>,
    #[diesel(sql_type = Array<Text>)]
    over: Vec<String>,
}

/// Repeats the conditions: an event may have arrived before the lock.
const PRUNE_STREAMS: &str = "
    DELETE FROM order_streams
    WHERE order_id = ANY ($1)
      AND NOT EXISTS (SELECT FROM held_back_events WHERE held_back_events.order_id = order_streams.order_id OFFSET 0)
      AND NOT EXISTS (SELECT FROM events WHERE events.order_id = order_streams.order_id OFFSET 0)";

/// As [`prune_deliveries`], for streams of old orders without held-back or stored events: a waiting delivery needs its
/// stream. Runs in the caller's transaction.
pub(crate) async fn prune_streams(
    conn: &mut AsyncPgConnection,
    after: &str,
    made_before: DateTime<Utc>,
    limit: i64,
) -> Result<(Option<String>, i64), StoreError> {
    let row: StreamsRow = statement(STREAMS_OVER)
        .bind::<Text, _>(after)
        .bind::<Text, _>(OrderId::first_of(made_before).to_string())
        .bind::<BigInt, _>(limit)
        .get_result(conn)
        .await?;
    if row.over.is_empty() {
        return Ok((row.last, 0));
    }
    let pruned = statement(PRUNE_STREAMS).bind::<Array<Text>, _>(row.over).execute(conn).await?;
    Ok((row.last, i64::try_from(pruned).map_err(corrupt)?))
}
