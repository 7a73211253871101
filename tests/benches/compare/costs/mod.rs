//! The cost of one order, one fleet report and one webhook: processor time, commits, rows, bytes and broker messages of
//! all parts. `proto-docs/SCALE.md` uses these figures.

mod ledger;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use demo::clients::PREPAID_DELIVERY;
use demo::eventually;
use domain::Clock;
use local_stack::{Service, Stack, say};
use serde_json::json;
use tokio::time::{Instant, sleep};
use waybill_tests::figure::{Figure, Section, Unit};

use crate::load::{self, Expected, Request, Target};
use crate::webhooks::Bench;
use crate::{compare, footprint, live_orders, order, orders};
use ledger::{Counts, Ledger};

const CLIENTS: usize = 16;
const TIME: Duration = Duration::from_secs(5);
const IDLE: Duration = Duration::from_secs(20);
/// PostgreSQL's processes report their commits and rows within ten seconds of being idle.
const COUNTERS_DELAY: Duration = Duration::from_secs(12);
const RECONCILIATION: Duration = Duration::from_secs(60);

pub(crate) async fn run() -> anyhow::Result<Section> {
    let bench = Bench::start().await?;
    let stack = &bench.stack;
    let live = live_orders::go_live(stack).await?;
    let test = order::target(&stack.order_api_origin(), &orders::test_key(stack, "costs").await?)?;
    let live = order::target(&stack.order_api_origin(), &live)?;
    compare::warm_up(stack, &live).await?;
    let mut book = Book { stack, idle: Counts::default(), figures: Vec::new() };
    book.rest().await?;

    let baseline = orders::baseline(stack, "bench_costs").await?;
    let theirs = book.pgbench(&baseline).await?;
    book.work("test order", Some(&theirs), async || calls(&test, "costs-test").await).await?;
    let url = live_orders::baseline_tables(stack).await?;
    let theirs = book.pgbench(&live_orders::baseline(stack, &url, 1).await?).await?;
    book.work("live order", Some(&theirs), async || calls(&live, "costs-live").await).await?;
    let reports = reports(stack).await?;
    book.work("report of the fleet", None, async || calls(&reports, "costs-report").await).await?;
    book.work("webhook", None, async || bench.deliver().await).await?;
    book.figures.push(footprint::memory("after this work", stack)?);
    let figures = book.figures;
    bench.stack.shut_down().await?;
    Ok(Section::new("Cost of one piece of work", figures))
}

async fn calls(target: &Arc<Target>, name: &str) -> anyhow::Result<usize> {
    Ok(load::run(target, name, CLIENTS, TIME).await?.calls())
}

/// The deliveries of every placed live order: first all are assigned, then all picked up, and so on.
async fn reports(stack: &Stack) -> anyhow::Result<Arc<Target>> {
    let sql = "SELECT id FROM orders WHERE mode = 'live' AND placement = 'placed'";
    let ids: Vec<String> = stack.query(Service::OrderApi, sql).await?.lines().map(str::to_owned).collect();
    let (next, token) = (AtomicUsize::new(0), stack.fleet_token());
    let expected = Expected { status: 200, text: "\"status\"" };
    Target::new(&stack.order_api_origin(), expected, move |name| {
        let turn = next.fetch_add(1, Ordering::Relaxed);
        let event = PREPAID_DELIVERY[(turn / ids.len()).min(PREPAID_DELIVERY.len() - 1)];
        let mut body = json!({ "eventId": name, "event": event, "occurredAt": Clock::system().now() });
        if event == "driver.assigned" {
            body["driver"] =
                json!({ "name": "Ravi Kumar", "phone": "+919800000003", "vehicle": "KA01AB1234" });
        }
        Request {
            call: format!("POST /v1/fleet/orders/{}/events", ids[turn % ids.len()]),
            headers: format!("Authorization: Bearer {token}\r\n"),
            body: body.to_string(),
        }
    })
}

/// The figures, and the idle cost that is subtracted from each.
struct Book<'a> {
    stack: &'a Stack,
    /// Per second.
    idle: Counts,
    figures: Vec<Figure>,
}

/// Per piece of work.
struct Cost {
    cpu: f64,
    counts: Counts,
}

impl Book<'_> {
    /// Measures the idle stack.
    async fn rest(&mut self) -> anyhow::Result<()> {
        say("Measuring the idle stack");
        self.first_reconciliation().await?;
        // It analyzes every table of new databases, and its commits count as those of the services.
        self.set_autovacuum("off").await?;
        let used = self.idle_cost().await;
        self.set_autovacuum("on").await?;
        let used = used?;
        let seconds = IDLE.as_secs_f64();
        self.idle = used.counts.with(&Counts::default(), |count, _| count / seconds);
        let mut add = |what: &str, value: f64| {
            self.figures.push(Figure::new(format!("at rest: {what}"), value, Unit::PerSecond))
        };
        add("processor seconds of all parts", used.cpu.of_stack() / seconds);
        add("commits", self.idle.commits);
        add("bytes of WAL", self.idle.wal_bytes);
        add("bytes between the parts", self.idle.network_bytes);
        Ok(())
    }

    async fn idle_cost(&self) -> anyhow::Result<Ledger> {
        sleep(COUNTERS_DELAY).await;
        let before = Ledger::of(self.stack).await?;
        sleep(IDLE).await;
        Ok(Ledger::of(self.stack).await?.since(&before))
    }

    /// It begins seconds after the start of the wallet, and the next one five minutes later.
    async fn first_reconciliation(&self) -> anyhow::Result<()> {
        eventually("the first reconciliation", RECONCILIATION, || async {
            let sql = "SELECT completed_at IS NOT NULL FROM reconciliation_runs";
            Ok((self.stack.query(Service::Wallet, sql).await? == "t").then_some(()))
        })
        .await
    }

    async fn set_autovacuum(&self, on: &str) -> anyhow::Result<()> {
        let url = self.stack.admin_url()?;
        local_stack::query(&url, &format!("ALTER SYSTEM SET autovacuum = {on}")).await?;
        local_stack::query(&url, "SELECT pg_reload_conf()").await?;
        Ok(())
    }

    /// The cost of the same commits alone.
    async fn pgbench(&self, baseline: &crate::pgbench::Baseline) -> anyhow::Result<Cost> {
        let before = Ledger::of_databases(self.stack, &[baseline.url()]).await?;
        let done = baseline.run(CLIENTS, TIME).await?.per_second * TIME.as_secs_f64();
        let used = Ledger::of_databases(self.stack, &[baseline.url()]).await?.since(&before);
        let counts = used.counts.with(&Counts::default(), |count, _| count / done);
        Ok(Cost { cpu: used.cpu.of_stack() / done, counts })
    }

    /// `work` returns the number of pieces done. The counters are up to date when it begins: they were so after the work
    /// before, and other programs report theirs when they end.
    async fn work(
        &mut self,
        unit: &str,
        comparison: Option<&Cost>,
        work: impl AsyncFn() -> anyhow::Result<usize>,
    ) -> anyhow::Result<()> {
        say(&format!("Measuring the cost of a {unit}"));
        let (before, begun) = (Ledger::of(self.stack).await?, Instant::now());
        let done = work().await? as f64;
        compare::drained(self.stack).await?;
        sleep(COUNTERS_DELAY).await;
        let passed = begun.elapsed().as_secs_f64();
        let used = Ledger::of(self.stack).await?.since(&before);
        let counts = used.counts.with(&self.idle, |count, idle| (count - idle * passed) / done);
        let cpu = Figure::new(
            format!("{unit}: processor time of all parts"),
            used.cpu.of_stack() * 1_000.0 / done,
            Unit::CpuSecondsPer1000,
        )
        .note(used.cpu.text(done))
        .note(used.cpu.others_text())
        .note(format!("of {done:.0}"));
        self.figures.push(match comparison {
            Some(theirs) => cpu.compared_with(PGBENCH, theirs.cpu * 1_000.0),
            None => cpu,
        });
        let theirs = comparison.map(|cost| cost.counts);
        let mut add = |what: &str, unit_of: Unit, of: fn(&Counts) -> f64| {
            let figure = Figure::new(format!("{unit}: {what}"), of(&counts), unit_of);
            let theirs = theirs.as_ref().map(of).filter(|theirs| *theirs > 0.0);
            self.figures.push(match theirs {
                Some(theirs) => figure.compared_with(PGBENCH, theirs),
                None => figure,
            });
        };
        add("commits", Unit::Count, |counts| counts.commits);
        add("rows written", Unit::Count, |counts| counts.rows);
        add("WAL", Unit::Bytes, |counts| counts.wal_bytes);
        add("growth of tables and indexes", Unit::Bytes, |counts| counts.disk_bytes);
        add("messages published", Unit::Count, |counts| counts.published);
        add("messages consumed", Unit::Count, |counts| counts.consumed);
        add("between the parts and the caller", Unit::Bytes, |counts| counts.network_bytes);
        Ok(())
    }
}

const PGBENCH: &str = "pgbench, the same commits";
