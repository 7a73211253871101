//! The memory that a backlog of 100,000 events for one endpoint needs, and its effect on other endpoints.

use std::time::Duration;

use anyhow::Context;
use domain::Mode;
use local_stack::{Service, say};
use waybill_tests::figure::{Figure, Unit};

use super::events::by_sequence;
use super::received::Received;
use super::{Bench, Row, isolation, now_micros, seconds, steady};
use crate::cpu;

const BACKLOG: usize = 100_000;
const PER_SECOND: u32 = 100;
/// The initial work of a fresh process is over by then.
const REST: Duration = Duration::from_secs(3);

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let healthy = isolation::endpoints(bench, "/healthy/b").await?;
    let used = resident(bench)?;
    bench.stack.restart(Service::WebhookDispatcher).await?;
    tokio::time::sleep(REST).await;
    let idle = resident(bench)?;

    steady::run(bench, &healthy, (PER_SECOND, Duration::from_secs(1)), "/healthy/").await?;
    bench.hooks.forget().await?;
    let mut received = Received::default();
    let alone = isolation::measure(bench, &healthy, PER_SECOND, &mut received).await?;

    say(&format!("{BACKLOG} events for an endpoint that is paused"));
    let endpoint = bench.endpoint(bench.new_business(), Mode::Test, "/backlog").await?;
    bench.set_status(&endpoint, "paused").await?;
    let orders: Vec<_> =
        (0..BACKLOG).map(|_| bench.source.order(endpoint.business, Mode::Test, &endpoint.path)).collect();
    let begun = now_micros();
    bench.source.publish(&by_sequence(&orders, &vec![1; BACKLOG])).await?;
    bench.accepted(std::slice::from_ref(&endpoint), BACKLOG).await?;
    let accepted = BACKLOG as f64 / seconds(now_micros() - begun);
    let waiting = resident(bench)?;
    let asleep = isolation::measure(bench, &healthy, PER_SECOND, &mut received).await?;

    say("Resuming the endpoint");
    bench.set_status(&endpoint, "active").await?;
    let draining = isolation::measure(bench, &healthy, PER_SECOND, &mut received).await?;
    let left = bench.pending(std::slice::from_ref(&endpoint)).await?;
    let drained = resident(bench)?;
    bench.delete(&[endpoint]).await?;
    bench.delete(&healthy).await?;
    let memory = Figure::new(
        format!("resident memory of the dispatcher, {BACKLOG} waiting"),
        waiting,
        Unit::Megabytes,
    )
    .compared_with("idle after its start", idle)
    .note(format!("while it is sent {drained:.1} MB, with {left} left; after the groups before {used:.1} MB"))
    .note(format!("accepted at {accepted:.0}/s"));
    Ok(vec![
        Row::of([memory]),
        isolation::compared("healthy next to a backlog that is paused", alone.clone(), asleep, received),
        isolation::compared("healthy next to a backlog that is being sent", alone, draining, received),
    ])
}

/// In megabytes.
fn resident(bench: &Bench) -> anyhow::Result<f64> {
    cpu::resident(bench.stack.pid(Service::WebhookDispatcher).context("the dispatcher does not run")?)
}
