//! SIGKILL of the dispatcher, the database and the broker in the middle of 5,000 events: losses, duplicates, and the
//! time of recovery.

use std::time::Duration;

use anyhow::ensure;
use demo::eventually;
use domain::Mode;
use local_stack::{Part, Service, say};
use waybill_tests::figure::{Figure, Target, Unit};

use super::events::{by_sequence, mixed, places};
use super::{Bench, Endpoint, Row, now_micros, seconds};

const EVENTS: usize = 5_000;
/// The number of arrivals before the kill.
const BEFORE: usize = 2_000;
const RESTART_MAX: Duration = Duration::from_secs(30);

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let parts = [Part::Service(Service::WebhookDispatcher), Part::Postgres, Part::RabbitMq];
    let mut rows = Vec::new();
    for (round, part) in parts.into_iter().enumerate() {
        let endpoint =
            bench.endpoint(bench.new_business(), Mode::Test, &format!("/after/5/kill{round}")).await?;
        rows.push(kill(bench, part, &endpoint).await?);
        bench.stack.wait_ready().await?;
        bench.delete(&[endpoint]).await?;
    }
    Ok(rows)
}

async fn kill(bench: &Bench, part: Part, endpoint: &Endpoint) -> anyhow::Result<Row> {
    say(&format!("{EVENTS} events, and {} is killed", part.name()));
    let order = |_| bench.source.order(endpoint.business, endpoint.mode, &endpoint.path);
    let (orders, lengths) = mixed(EVENTS, order);
    let events = by_sequence(&orders, &lengths);
    let killing = async {
        ensure!(
            bench.hooks.reaches(BEFORE, super::PATIENCE).await?,
            "too few webhooks arrive before the kill"
        );
        let before = bench.hooks.count().await?;
        bench.stack.kill(part).await?;
        eventually("the part to restart", RESTART_MAX, || async { Ok(bench.stack.pid(part).map(drop)) })
            .await?;
        let restarted = now_micros();
        bench.stack.ready(part).await?;
        Ok((before, restarted, now_micros()))
    };
    let (published, killed) = tokio::join!(bench.source.publish(&events), killing);
    published?;
    let (before, restarted, ready) = killed?;
    bench.hooks.reaches(events.len(), super::PATIENCE).await?;
    // A duplicate may arrive after the last missing one.
    bench.stored(endpoint, events.len()).await?;
    let arrivals = bench.hooks.arrivals().await?;
    let after: Vec<i64> = arrivals.iter().map(|arrival| arrival.at).filter(|at| *at > restarted).collect();
    let first = after.iter().min().map_or(0.0, |at| seconds(at - restarted));
    let last = after.iter().max().map_or(0.0, |at| seconds(at - restarted));
    let (received, _) = bench.received(&places(&events)).await?;
    let what = format!("kill -9 of {} in the middle of {EVENTS}", part.name());
    let lost = Figure::new(format!("{what}: lost"), received.missing as f64, Unit::Count)
        .target(Target::AtMost(0.0));
    let resumed = Figure::new(format!("{what}: from its restart to the last webhook"), last, Unit::Seconds)
        .compared_with("it is ready itself", seconds(ready - restarted))
        .target(Target::AtMost(5.0))
        .note(format!("killed after {before} webhooks; the first one after {first:.1} s"));
    Ok(Row::of([lost, resumed]).received(received))
}
