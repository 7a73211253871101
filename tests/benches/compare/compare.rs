//! One comparison: pgbench and Waybill in turns, so that other load on the machine affects both.

use std::sync::Arc;
use std::time::Duration;

use demo::eventually;
use local_stack::{Service, Stack, say};
use tokio::time::Instant;

use crate::cpu::Cpu;
use crate::load::{self, Measured, Target};
use crate::pgbench::Baseline;
use crate::report::Row;

/// Rounds of each side.
const ROUNDS: u32 = 2;
/// The duration of each side's measurement in a round.
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
    /// `check` gets the number of answered calls after each round, and fails when the databases disagree.
    pub(crate) async fn run(&self, check: impl AsyncFn(usize) -> anyhow::Result<()>) -> anyhow::Result<Row> {
        let Self { stack, baseline, target, name, clients } = self;
        say(&format!("{name}, {clients} clients: pgbench and Waybill in turns"));
        let mut row = Row::new(name.clone(), *clients);
        for round in 0..ROUNDS {
            let before = Cpu::of(stack);
            let pgbench = baseline.run(*clients, MEASURED).await?;
            let done = pgbench.per_second * MEASURED.as_secs_f64();
            row.theirs.push(pgbench);
            row.theirs_cost.add(Cpu::of(stack).since(&before), done);

            let before = Cpu::of(stack);
            let calls = format!("{}-{clients}-{round}", name.replace([' ', ','], "-"));
            let measured = load::run(target, &calls, *clients, MEASURED).await?;
            row.drains.push(drained(stack).await?);
            row.ours_cost.add(Cpu::of(stack).since(&before), measured.calls() as f64);
            check(measured.calls()).await?;
            row.ours.add(measured);
        }
        Ok(row)
    }
}

/// Warms everything up.
pub(crate) async fn warm_up(stack: &Stack, target: &Arc<Target>) -> anyhow::Result<Measured> {
    say("Warming up");
    let measured = load::run(target, "warm", WARM_UP_CLIENTS, WARM_UP).await?;
    drained(stack).await?;
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
