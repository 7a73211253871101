//! The baseline: pgbench, inserting the same rows into tables of the same shape with one commit each.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, ensure};
use local_stack::{Service, Stack};
use tokio::process::Command;

pub(crate) struct Baseline {
    url: String,
    script: PathBuf,
}

/// What pgbench reports.
pub(crate) struct Pgbench {
    pub(crate) per_second: f64,
    pub(crate) average: Duration,
}

/// The details, the receipt and (cut to its length) the event are the very bytes that order-api wrote for an order, so that
/// both compress alike.
const SCRIPT: &str = r#"\set number random(1, 1000000000000000)
BEGIN;
INSERT INTO orders (id, business_id, mode, placement, attempt, order_reference, idempotency_key, fingerprint,
    tracking_code, order_source, status, cod_status, payment_type, delivery_fee_paise, cod_amount_paise, details, receipt,
    sequence, created_at, updated_at)
VALUES ('ord_' || :client_id || '_' || :number, 'biz_01KZZZZZZZZZZZZZZZZZZZZZZZ', 'test', 'placed', 1,
    'reference-' || :client_id || '-' || :number, 'key-' || :client_id || '-' || :number, decode(repeat('ab', 32), 'hex'),
    'TEST-' || :client_id || :number, 'business_website', 'created', 'pending', 'cod', 4900, 129800,
    {details}, {receipt}, 1, now(), now());
INSERT INTO outbox_messages (event_id, routing_key, body, created_at)
VALUES ('evt_' || :client_id || '_' || :number, 'test.order.created', {event}, now());
COMMIT;
"#;

impl Baseline {
    /// A database beside order-api's with the same tables.
    pub(crate) async fn prepare(stack: &Stack) -> anyhow::Result<Self> {
        let url = stack.create_database("bench_baseline").await?;
        let dump = Command::new(local_stack::postgres_program("pg_dump")?)
            .args(["--schema-only", "--no-owner", "--no-privileges", stack.database_url(Service::OrderApi)])
            .output()
            .await?;
        ensure!(dump.status.success(), "pg_dump: {}", String::from_utf8_lossy(&dump.stderr));
        local_stack::query(&url, std::str::from_utf8(&dump.stdout)?).await?;
        let literal = async |column: &str| {
            let sql = format!("SELECT quote_literal({column}) FROM orders ORDER BY id LIMIT 1");
            let text = stack.query(Service::OrderApi, &sql).await?;
            ensure!(text.starts_with(['\'', 'E', ' ']), "no order to take the rows from");
            Ok::<_, anyhow::Error>(text.trim().to_owned())
        };
        let filled = SCRIPT
            .replace("{details}", &literal("details::text").await?)
            .replace("{receipt}", &literal("receipt::text").await?)
            .replace("{event}", &literal("left(details::text, 640)").await?);
        let script = stack.directory().join("baseline.sql");
        std::fs::write(&script, filled)?;
        Ok(Self { url, script })
    }

    pub(crate) async fn run(&self, connections: usize, time: Duration) -> anyhow::Result<Pgbench> {
        let output = Command::new(local_stack::postgres_program("pgbench")?)
            .args(["--no-vacuum", "--protocol=prepared", "--jobs=2"])
            .arg(format!("--client={connections}"))
            .arg(format!("--time={}", time.as_secs()))
            .arg("--file")
            .arg(&self.script)
            .arg(&self.url)
            .output()
            .await?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "pgbench: {}", String::from_utf8_lossy(&output.stderr));
        let figure = |name: &str| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(name));
            let word = line.and_then(|rest| rest.trim_start_matches([' ', '=']).split(' ').next());
            word.and_then(|word| word.parse::<f64>().ok()).with_context(|| format!("no {name} in {text}"))
        };
        let average = Duration::from_secs_f64(figure("latency average")? / 1_000.0);
        Ok(Pgbench { per_second: figure("tps")?, average })
    }
}
