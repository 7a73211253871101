//! One comparison: pgbench, then Waybill, so that other load on the machine affects both. Each round repeats it.

use std::sync::Arc;
use std::time::Duration;

use demo::eventually;
use local_stack::{Service, Stack, say};
use tokio::time::Instant;
use waybill_tests::figure::{Figure, Target as Aim, Unit};

use crate::cpu::Cpu;
use crate::load::{self, Target};
use crate::pgbench::Baseline;

/// The duration of each side's measurement.
const MEASURED: Duration = Duration::from_secs(5);
const WARM_UP: Duration = Duration::from_secs(3);
const WARM_UP_CLIENTS: usize = 16;
/// The time limit for emptying an outbox.
const DRAIN: Duration = Duration::from_secs(300);

pub(crate) const CLIENTS_MOST: usize = 64;

/// The two sides of a comparison.
pub(crate) struct Comparison<'a> {
    pub(crate) stack: &'a Stack,
    pub(crate) baseline: &'a Baseline,
    pub(crate) target: &'a Arc<Target>,
    /// One piece of work, such as `debit`.
    pub(crate) unit: &'a str,
    /// With the number of clients, unique on the same stack.
    pub(crate) name: &'a str,
    pub(crate) clients: usize,
}

impl Comparison<'_> {
    /// The rate and the processor time. `check` gets the number of answered calls, and fails when the databases disagree.
    pub(crate) async fn run(
        &self,
        aim: Option<Aim>,
        check: impl AsyncFn(usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<[Figure; 2]> {
        let Self { stack, baseline, target, unit, name, clients } = *self;
        let what = format!("{unit}s, {name}, {clients} {}", if clients == 1 { "client" } else { "clients" });
        say(&format!("{what}: pgbench, then Waybill"));
        let theirs = Theirs::measure(stack, baseline, clients, MEASURED).await?;
        let before = Cpu::of(stack);
        let calls = format!("{}-{clients}", name.replace([' ', ','], "-"));
        let ours = load::run(target, &calls, clients, MEASURED).await?;
        let drain = drained(stack).await?;
        let cost = Cost { cpu: Cpu::of(stack).since(&before), done: ours.calls() as f64 };
        check(ours.calls()).await?;
        let rate = Figure::new(&what, ours.per_second(), Unit::PerSecond)
            .compared_with("pgbench, the same commits", theirs.per_second)
            .note(format!("{}; pgbench's average {:.1} ms", ours.text(), millis(theirs.average)))
            .note(format!("outboxes empty after {:.0} ms", millis(drain)));
        Ok([aim.into_iter().fold(rate, Figure::target), cost.figure(&what, &theirs)])
    }
}

/// pgbench's side.
pub(crate) struct Theirs {
    pub(crate) per_second: f64,
    average: Duration,
    cost: Cost,
}

impl Theirs {
    pub(crate) async fn measure(
        stack: &Stack,
        baseline: &Baseline,
        clients: usize,
        time: Duration,
    ) -> anyhow::Result<Self> {
        let before = Cpu::of(stack);
        let (per_second, average) = baseline.run(clients, time).await?;
        let done = per_second * time.as_secs_f64();
        Ok(Self { per_second, average, cost: Cost { cpu: Cpu::of(stack).since(&before), done } })
    }
}

/// Processor time, and the work done in it.
pub(crate) struct Cost {
    pub(crate) cpu: Cpu,
    pub(crate) done: f64,
}

impl Cost {
    pub(crate) fn figure(&self, what: &str, theirs: &Theirs) -> Figure {
        Figure::new(format!("{what}: processor time"), self.per_1000(), Unit::CpuSecondsPer1000)
            .compared_with("pgbench and its PostgreSQL", theirs.cost.per_1000())
            .note(self.cpu.text(self.done))
            .note(self.cpu.others_text())
    }

    /// Seconds, of all parts and callers.
    fn per_1000(&self) -> f64 {
        self.cpu.sum() * 1_000.0 / self.done.max(1.0)
    }
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Warms everything up.
pub(crate) async fn warm_up(stack: &Stack, target: &Arc<Target>) -> anyhow::Result<()> {
    say("Warming up");
    load::run(target, "warm", WARM_UP_CLIENTS, WARM_UP).await?;
    drained(stack).await?;
    // Autovacuum does this to new rows within a minute. Until then the planner knows nothing of the tables.
    for service in [Service::OrderApi, Service::Wallet] {
        stack.query(service, "ANALYZE").await?;
    }
    Ok(())
}

/// The time until the outboxes of orders are empty.
async fn drained(stack: &Stack) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    for service in [Service::OrderApi, Service::Wallet] {
        eventually("the outbox to drain", DRAIN, || async {
            let waiting = stack.query(service, "SELECT count(*) FROM outbox_messages").await?;
            Ok((waiting == "0").then_some(()))
        })
        .await?;
    }
    Ok(begun.elapsed())
}
