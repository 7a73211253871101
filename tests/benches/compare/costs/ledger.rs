//! The work so far, as PostgreSQL, the services and the kernel count it.

use std::fs;

use anyhow::{Context, ensure};
use local_stack::{Service, Stack};

use crate::cpu::Cpu;
use crate::metrics;

/// One reading. The difference of two readings is a cost.
pub(crate) struct Ledger {
    pub(crate) cpu: Cpu,
    pub(crate) counts: Counts,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) commits: f64,
    /// Rows inserted, updated or deleted.
    pub(crate) rows: f64,
    pub(crate) wal_bytes: f64,
    /// The size of tables and indexes.
    pub(crate) disk_bytes: f64,
    pub(crate) published: f64,
    pub(crate) consumed: f64,
    /// Bytes between all processes of the machine, which use the loopback interface.
    pub(crate) network_bytes: f64,
}

const COUNTS: &str = "SELECT xact_commit, tup_inserted + tup_updated + tup_deleted, pg_database_size(datname)
    FROM pg_stat_database WHERE datname = current_database()";

impl Ledger {
    /// The readings of the five services and their databases.
    pub(crate) async fn of(stack: &Stack) -> anyhow::Result<Self> {
        let urls = Service::ALL.map(|service| stack.database_url(service));
        let mut ledger = Self::of_databases(stack, &urls).await?;
        for service in Service::ALL {
            let text = metrics::of(stack, service).await?;
            ledger.counts.published += metrics::sum(&text, "broker_published_total", "result=\"confirmed\"");
            ledger.counts.consumed += metrics::sum(&text, "messages_consumed_total", "outcome=\"handled\"");
        }
        Ok(ledger)
    }

    pub(crate) async fn of_databases(stack: &Stack, urls: &[&str]) -> anyhow::Result<Self> {
        let mut counts = Counts { network_bytes: loopback()?, ..Counts::default() };
        for url in urls {
            let row = local_stack::query(url, COUNTS).await?;
            let numbers: Vec<f64> = row.split('|').map(str::parse).collect::<Result<_, _>>()?;
            let [commits, rows, disk] = numbers[..] else { anyhow::bail!("three numbers, not {row}") };
            counts.commits += commits;
            counts.rows += rows;
            counts.disk_bytes += disk;
        }
        let url = urls.first().context("a database")?;
        counts.wal_bytes = local_stack::query(url, "SELECT pg_current_wal_lsn() - '0/0'").await?.parse()?;
        Ok(Self { cpu: Cpu::of(stack), counts })
    }

    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            cpu: self.cpu.since(&before.cpu),
            counts: self.counts.with(&before.counts, |now, then| now - then),
        }
    }
}

impl Counts {
    pub(crate) fn with(&self, other: &Self, join: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            commits: join(self.commits, other.commits),
            rows: join(self.rows, other.rows),
            wal_bytes: join(self.wal_bytes, other.wal_bytes),
            disk_bytes: join(self.disk_bytes, other.disk_bytes),
            published: join(self.published, other.published),
            consumed: join(self.consumed, other.consumed),
            network_bytes: join(self.network_bytes, other.network_bytes),
        }
    }
}

fn loopback() -> anyhow::Result<f64> {
    let devices = fs::read_to_string("/proc/net/dev")?;
    let line =
        devices.lines().find_map(|line| line.trim().strip_prefix("lo:")).context("no loopback interface")?;
    let received = line.split_whitespace().next().context("no count")?.parse()?;
    ensure!(received > 0.0, "the loopback interface counts nothing");
    Ok(received)
}
