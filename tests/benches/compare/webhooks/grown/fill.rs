//! A month's deliveries, inserted directly into the database: copies of a real delivery with increasing ids, of orders
//! with four events each.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use local_stack::{Service, say};
use tokio::process::Command;
use tokio::time::timeout;

use super::super::events::by_sequence;
use super::super::{Bench, Endpoint};
use super::ENDPOINTS_EACH;

/// The number of deliveries per transaction.
const STEP: u64 = 100_000;
/// The size limit, because other processes use this machine's disk.
const BYTES_MAX: u64 = 20 * 1024 * 1024 * 1024;
const VACUUM_MAX: Duration = Duration::from_secs(30 * 60);
/// Spread over this many days, less than the retention time.
const DAYS: u64 = 28;

const TABLES: &str = "
    CREATE SCHEMA IF NOT EXISTS bench;
    CREATE TABLE IF NOT EXISTS bench.endpoints (number INTEGER PRIMARY KEY, id TEXT NOT NULL, business_id TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS bench.filled (
        deliveries BIGINT NOT NULL, began_at TIMESTAMPTZ NOT NULL, event_id TEXT NOT NULL,
        delivery_id TEXT NOT NULL
    )";

/// Events `{first}` to `{last}` with their rows. `jsonb_populate_record` copies a row and changes the named columns, so
/// that later columns are copied too.
const FILL: &str = "
    BEGIN;
    SET LOCAL synchronous_commit = off;
    CREATE TEMPORARY TABLE made ON COMMIT DROP AS
    SELECT n,
        'evt_00' || lpad(upper(to_hex(n)), 24, '0') AS event_id,
        -- Of the time of the sample, so that retention does not look at the stream of each.
        'ord_' || substr(filled.delivery_id, 5, 10) || lpad(upper(to_hex(n / 4)), 16, '0') AS order_id,
        n % 4 + 1 AS sequence,
        (ARRAY['order.created', 'driver.assigned', 'order.picked_up', 'order.out_for_delivery'])[n % 4 + 1] AS kind,
        filled.began_at - interval '1 hour' - ({days} * (1 - n::float8 / {all})) * interval '1 day' AS at
    FROM generate_series({first}::bigint, {last}::bigint) AS n, bench.filled;
    INSERT INTO order_streams (order_id, business_id, next_sequence)
    SELECT order_id, business_id, 5 FROM made JOIN bench.endpoints ON number = (n / 4 % {businesses}) * {each}
    WHERE sequence = 1;
    INSERT INTO events
    SELECT copy.* FROM bench.filled
    JOIN events AS sample ON sample.event_id = filled.event_id
    CROSS JOIN made
    JOIN bench.endpoints ON number = (n / 4 % {businesses}) * {each}
    CROSS JOIN LATERAL jsonb_populate_record(sample, jsonb_build_object(
        'event_id', made.event_id, 'business_id', endpoints.business_id, 'order_id', made.order_id,
        'sequence', made.sequence, 'kind', made.kind, 'occurred_at', made.at)) AS copy;
    CREATE TEMPORARY TABLE sent ON COMMIT DROP AS
    SELECT made.*, 'whd_00' || lpad(upper(to_hex(n * {each} + k)), 24, '0') AS delivery_id, endpoints.id AS endpoint_id,
        endpoints.business_id, hashint8(n * {each} + k) % 100 = 0 AS failed
    FROM made CROSS JOIN generate_series(0, {each} - 1) AS k
    JOIN bench.endpoints ON number = (n / 4 % {businesses}) * {each} + k;
    INSERT INTO deliveries
    SELECT copy.* FROM bench.filled
    JOIN deliveries AS sample ON sample.id = filled.delivery_id
    CROSS JOIN sent
    CROSS JOIN LATERAL jsonb_populate_record(sample, jsonb_build_object(
        'id', sent.delivery_id, 'event_id', sent.event_id, 'endpoint_id', sent.endpoint_id,
        'business_id', sent.business_id, 'order_id', sent.order_id, 'sequence', sent.sequence, 'kind', sent.kind,
        'state', CASE WHEN failed THEN 'failed' ELSE 'succeeded' END,
        'last_status', CASE WHEN failed THEN 500 ELSE 200 END,
        'last_error', CASE WHEN failed THEN 'it answered 500: your endpoint met an error of its own; see its log' END,
        'created_at', sent.at, 'completed_at', sent.at)) AS copy;
    INSERT INTO attempts
    SELECT copy.* FROM bench.filled
    JOIN attempts AS sample ON sample.delivery_id = filled.delivery_id
    CROSS JOIN sent
    CROSS JOIN LATERAL jsonb_populate_record(sample, jsonb_build_object(
        'delivery_id', sent.delivery_id, 'business_id', sent.business_id, 'started_at', sent.at,
        'succeeded', NOT failed, 'response_status', CASE WHEN failed THEN 500 ELSE 200 END,
        'error', CASE WHEN failed THEN 'it answered 500: your endpoint met an error of its own; see its log' END)) AS copy;
    UPDATE bench.filled SET deliveries = ({last} + 1) * {each};
    COMMIT;";

/// Past days, as if the dispatcher had run: everything before its retention time is one partition.
const DAYS_THAT_PASSED: &str = "
    DO $$
    DECLARE
        today DATE := (now() AT TIME ZONE 'UTC')::date;
        ahead DATE;
        day DATE;
    BEGIN
        SELECT min(to_date(right(relname, 8), 'YYYYMMDD')) INTO ahead FROM pg_inherits
        JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'attempts'::regclass AND relname ~ '^attempts_[0-9]{8}$';
        ALTER TABLE attempts DETACH PARTITION attempts_default;
        FOR day IN SELECT generate_series(today - {days} - 1, ahead - 1, interval '1 day')::date LOOP
            EXECUTE format('CREATE TABLE %I PARTITION OF attempts FOR VALUES FROM (%L) TO (%L)',
                'attempts_' || to_char(day, 'YYYYMMDD'), day::timestamp AT TIME ZONE 'UTC',
                (day + 1)::timestamp AT TIME ZONE 'UTC');
        END LOOP;
        INSERT INTO attempts SELECT * FROM attempts_default;
        TRUNCATE attempts_default;
        ALTER TABLE attempts ATTACH PARTITION attempts_default DEFAULT;
    END $$";

/// Fills until there are this many deliveries.
pub(super) async fn fill(bench: &Bench, endpoints: &[Endpoint], wanted: u64) -> anyhow::Result<()> {
    prepare(bench, endpoints).await?;
    let begun = Instant::now();
    let from = filled(bench).await?;
    let bytes_before = bytes(bench).await?;
    let mut done = from;
    while done < wanted {
        let last = (done + STEP).min(wanted) / ENDPOINTS_EACH as u64 - 1;
        let sql = FILL
            .replace("{first}", &(done / ENDPOINTS_EACH as u64).to_string())
            .replace("{last}", &last.to_string())
            .replace("{all}", &(super::DELIVERIES / ENDPOINTS_EACH as u64).to_string())
            .replace("{days}", &DAYS.to_string())
            .replace("{businesses}", &super::BUSINESSES.to_string())
            .replace("{each}", &ENDPOINTS_EACH.to_string());
        bench.stack.query(Service::WebhookDispatcher, &sql).await?;
        done = filled(bench).await?;
        let bytes = bytes(bench).await?;
        let each = bytes.saturating_sub(bytes_before) / (done - from);
        let whole = bytes + each * (wanted - done);
        ensure!(whole < BYTES_MAX, "{wanted} deliveries would take {} GB", whole / 1_000_000_000);
        let rate = (done - from) as f64 / begun.elapsed().as_secs_f64();
        say(&format!("{done} of {wanted} deliveries, {rate:.0}/s, {} MB", bytes / 1_000_000));
    }
    vacuum(bench).await
}

/// As the server does in time, so that the next measurement does not include it.
async fn vacuum(bench: &Bench) -> anyhow::Result<()> {
    let mut command = Command::new(local_stack::postgres_program("vacuumdb")?);
    command.args(["--analyze", "--quiet"]).kill_on_drop(true);
    for table in ["order_streams", "events", "deliveries", "attempts"] {
        command.args(["--table", table]);
    }
    command.arg(bench.stack.database_url(Service::WebhookDispatcher));
    let status = timeout(VACUUM_MAX, command.status()).await.context("vacuumdb takes too long")??;
    ensure!(status.success(), "vacuumdb: {status}");
    Ok(())
}

/// The numbers of the endpoints, and a delivery to copy.
async fn prepare(bench: &Bench, endpoints: &[Endpoint]) -> anyhow::Result<()> {
    query(bench, TABLES).await?;
    if query(bench, "SELECT count(*) FROM bench.filled").await? == "1" {
        return Ok(());
    }
    let rows = endpoints.iter().enumerate();
    let rows: Vec<_> = rows
        .map(|(number, endpoint)| format!("({number}, '{}', '{}')", endpoint.id, endpoint.business))
        .collect();
    query(bench, &DAYS_THAT_PASSED.replace("{days}", &DAYS.to_string())).await?;
    let insert = "INSERT INTO bench.endpoints VALUES";
    query(bench, &format!("DELETE FROM bench.endpoints; {insert} {}", rows.join(", "))).await?;
    let first = endpoints.first().context("an endpoint")?;
    let order = [bench.source.order(first.business, first.mode, &first.path)];
    bench.source.publish(&by_sequence(&order, &[1])).await?;
    bench.hooks.reaches(ENDPOINTS_EACH, super::super::PATIENCE).await?;
    bench.stored(first, 1).await?;
    bench.hooks.forget().await?;
    let sample = format!(
        "INSERT INTO bench.filled (deliveries, began_at, event_id, delivery_id)
         SELECT 0, now(), event_id, id FROM deliveries WHERE endpoint_id = '{}' AND state = 'succeeded' LIMIT 1",
        first.id
    );
    query(bench, &sample).await?;
    ensure!(query(bench, "SELECT count(*) FROM bench.filled").await? == "1", "no delivery to copy");
    Ok(())
}

/// Of the whole database.
async fn bytes(bench: &Bench) -> anyhow::Result<u64> {
    Ok(query(bench, "SELECT pg_database_size(current_database())").await?.parse()?)
}

async fn filled(bench: &Bench) -> anyhow::Result<u64> {
    Ok(query(bench, "SELECT deliveries FROM bench.filled").await?.parse()?)
}

/// The size of the tables with their indexes.
pub(super) async fn sizes(bench: &Bench) -> anyhow::Result<String> {
    let sql = "SELECT string_agg(relname || ' ' || pg_size_pretty(bytes), ', ' ORDER BY bytes DESC) FROM (
        SELECT coalesce(parent.relname, leaf.relname) AS relname, sum(pg_total_relation_size(leaf.oid)) AS bytes
        FROM pg_class AS leaf
        LEFT JOIN pg_inherits ON inhrelid = leaf.oid
        LEFT JOIN pg_class AS parent ON parent.oid = inhparent
        WHERE leaf.relkind = 'r' AND leaf.relnamespace = 'public'::regnamespace
        GROUP BY 1 HAVING sum(pg_total_relation_size(leaf.oid)) > 10000000) AS tables";
    query(bench, sql).await
}

async fn query(bench: &Bench, sql: &str) -> anyhow::Result<String> {
    bench.stack.query(Service::WebhookDispatcher, sql).await
}
