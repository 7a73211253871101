//! One comparison: pgbench, then Waybill, so that other load on the machine affects both. Each round repeats it.

use std::sync::Arc;
use std::time::Duration;

use demo::eventually;
use local_stack::{Service, Stack, say};
use tokio::time::Instant;

use crate::cpu::Cpu;
use crate::load::{self, Measured, Target};
use crate::pgbench::Baseline;
use crate::report::{Cost, Row};

/// The duration of each side's measurement.
const MEASURED: Duration = Duration::from_secs(5);
const WARM_UP: Duration = Duration::from_secs(3);
const WARM_UP_CLIENTS: usize = 16;
/// The time limit for emptying an outbox.
const DRAIN: Duration = Duration::from_secs(300);

/// The two sides of a comparison.
pub(crate) struct Comparison<'a> {
    pub(crate) stack: &'a Stack,
    pub(crate) baseline: &'a Baseline,
    pub(crate) target: &'a Arc<Target>,
    /// The label in the table; unique on the same stack.
    pub(crate) name: String,
    pub(crate) clients: usize,
}

impl Comparison<'_> {
    /// `check` gets the number of answered calls, and fails when the databases disagree.
    pub(crate) async fn run(&self, check: impl AsyncFn(usize) -> anyhow::Result<()>) -> anyhow::Result<Row> {
        let Self { stack, baseline, target, name, clients } = self;
        say(&format!("{name}, {clients} clients: pgbench, then Waybill"));
        let before = Cpu::of(stack);
        let theirs = baseline.run(*clients, MEASURED).await?;
        let done = theirs.per_second * MEASURED.as_secs_f64();
        let theirs_cost = Cost { cpu: Cpu::of(stack).since(&before), done };

        let before = Cpu::of(stack);
        let calls = format!("{}-{clients}", name.replace([' ', ','], "-"));
        let ours = load::run(target, &calls, *clients, MEASURED).await?;
        let drain = drained(stack).await?;
        let ours_cost = Cost { cpu: Cpu::of(stack).since(&before), done: ours.calls() as f64 };
        check(ours.calls()).await?;
        Ok(Row { name: name.clone(), clients: *clients, theirs, theirs_cost, ours, drain, ours_cost })
    }
}

/// Warms everything up.
pub(crate) async fn warm_up(stack: &Stack, target: &Arc<Target>) -> anyhow::Result<Measured> {
    say("Warming up");
    let measured = load::run(target, "warm", WARM_UP_CLIENTS, WARM_UP).await?;
    drained(stack).await?;
    // Autovacuum does this to new rows within a minute. Until then the planner knows nothing of the tables.
    for service in [Service::OrderApi, Service::Wallet] {
        stack.query(service, "ANALYZE").await?;
    }
    Ok(measured)
}

/// The time until the outboxes of orders are empty.
pub(crate) async fn drained(stack: &Stack) -> anyhow::Result<Duration> {
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
