//! The comparison: pgbench makes the same commits in tables of the same shape.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use domain::Paise;
use local_stack::{Service, Stack};
use tokio::process::Command;

/// The services' own connections have the same settings (`crates/postgres`, `connect.rs`).
const PLANNER: &str = "-c enable_seqscan=off -c jit=off";

/// A script in a database. `:run` differs from run to run, and `:n` is a client's counter, from 0.
pub(crate) struct Baseline {
    url: String,
    script: PathBuf,
    variables: Vec<String>,
}

/// Shared by all scripts, because several may write to the same tables.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// The options of [`Baseline::new`].
pub(crate) struct Script<'a> {
    pub(crate) name: &'a str,
    pub(crate) sql: &'a str,
    pub(crate) variables: &'a [(&'a str, u64)],
}

impl Baseline {
    pub(crate) fn new(stack: &Stack, url: &str, script: &Script<'_>) -> anyhow::Result<Self> {
        let path = stack.directory().join(format!("{}.sql", script.name));
        std::fs::write(&path, script.sql)?;
        let variables = script.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Ok(Self { url: url.to_owned(), script: path, variables })
    }

    /// Transactions per second, and the average time of one.
    pub(crate) async fn run(&self, clients: usize, time: Duration) -> anyhow::Result<(f64, Duration)> {
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let mut command = Command::new(local_stack::postgres_program("pgbench")?);
        command
            .env("PGOPTIONS", PLANNER)
            .args(["--no-vacuum", "--protocol=prepared", "--jobs=2", "--define=n=0"])
            .arg(format!("--define=run={run}"))
            .args(self.variables.iter().map(|variable| format!("--define={variable}")))
            .arg(format!("--client={clients}"))
            .arg(format!("--time={}", time.as_secs()))
            .arg("--file")
            .arg(&self.script)
            .arg(&self.url);
        let output = command.output().await?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "pgbench: {}", String::from_utf8_lossy(&output.stderr));
        let figure = |name: &str| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(name));
            let word = line.and_then(|rest| rest.trim_start_matches([' ', '=']).split(' ').next());
            word.and_then(|word| word.parse::<f64>().ok()).with_context(|| format!("no {name} in {text}"))
        };
        let average = Duration::from_secs_f64(figure("latency average")? / 1_000.0);
        Ok((figure("tps")?, average))
    }
}

/// Creates a service's tables, with their constraints and indexes, in another database.
pub(crate) async fn copy_tables(stack: &Stack, service: Service, url: &str) -> anyhow::Result<()> {
    let dump = Command::new(local_stack::postgres_program("pg_dump")?)
        .args(["--schema-only", "--no-owner", "--no-privileges", stack.database_url(service)])
        .output()
        .await?;
    ensure!(dump.status.success(), "pg_dump: {}", String::from_utf8_lossy(&dump.stderr));
    // Meta-commands such as `\restrict` are for psql, not for the server.
    let lines = std::str::from_utf8(&dump.stdout)?.lines().filter(|line| !line.starts_with('\\'));
    local_stack::query(url, &lines.collect::<Vec<_>>().join("\n")).await?;
    Ok(())
}

/// Drops all triggers except those of foreign keys: a plain table has constraints and indexes.
pub(crate) async fn drop_triggers(url: &str) -> anyhow::Result<()> {
    let sql = "SELECT format('DROP TRIGGER %I ON %s;', tgname, tgrelid::regclass) FROM pg_trigger WHERE NOT tgisinternal";
    let drops = local_stack::query(url, sql).await?;
    local_stack::query(url, &drops).await?;
    Ok(())
}

/// Wallets with the ids `biz_00…01` and up, which contain enough for all debits.
pub(crate) async fn fill_wallets(url: &str, table: &str, wallets: u32) -> anyhow::Result<()> {
    let fill = format!(
        "INSERT INTO {table} (business_id, balance_paise, entry_count, created_at)
         SELECT 'biz_' || lpad(n::text, 26, '0'), {}, 0, now() FROM generate_series(1, {wallets}) AS n",
        Paise::REQUEST_MAX.get()
    );
    local_stack::query(url, &fill).await?;
    // Not in the same message, which would be a transaction.
    local_stack::query(url, &format!("VACUUM ANALYZE {table}")).await?;
    Ok(())
}

/// A value that a service wrote, as an SQL literal: pgbench's rows then compress like ours.
pub(crate) async fn literal(stack: &Stack, service: Service, value: &str) -> anyhow::Result<String> {
    let text = stack.query(service, &format!("SELECT quote_literal(({value}))")).await?;
    ensure!(text.starts_with(['\'', 'E', ' ']), "no row to take the value from: {value}");
    Ok(text.trim().to_owned())
}
