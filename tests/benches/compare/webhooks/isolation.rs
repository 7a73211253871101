//! The effect of hanging endpoints on others.

use std::time::Duration;

use domain::Mode;
use local_stack::say;
use waybill_tests::figure::{Figure, Target, Unit, percentile};

use super::events::places;
use super::received::Received;
use super::{Bench, Endpoint, Row, steady};

/// Of each kind.
const ENDPOINTS: usize = 10;
const PER_SECOND: u32 = 100;
const TIME: Duration = Duration::from_secs(20);
const HEALTHY: &str = "/healthy/";

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let healthy = endpoints(bench, HEALTHY).await?;
    // A second, so that connections are open.
    steady::run(bench, &healthy, (PER_SECOND, Duration::from_secs(1)), HEALTHY).await?;
    let mut received = Received::default();
    bench.hooks.forget().await?;
    let alone = measure(bench, &healthy, PER_SECOND, &mut received).await?;
    let hung = endpoints(bench, "/after/15000/").await?;
    say(&format!("{PER_SECOND} a second to {ENDPOINTS} endpoints that answer after 15 s"));
    let both: Vec<_> =
        healthy.iter().zip(&hung).flat_map(|(one, other)| [one.clone(), other.clone()]).collect();
    let with_others = measure(bench, &both, 2 * PER_SECOND, &mut received).await?;
    bench.delete(&hung).await?;
    bench.delete(&healthy).await?;
    Ok(vec![compared(
        &format!("{PER_SECOND}/s to healthy endpoints next to {PER_SECOND}/s to hung ones"),
        alone,
        with_others,
        received,
    )])
}

/// Two sides of latencies as one row.
pub(super) fn compared(
    what: &str,
    mut alone: Vec<f64>,
    mut with_others: Vec<f64>,
    received: Received,
) -> Row {
    alone.sort_unstable_by(f64::total_cmp);
    with_others.sort_unstable_by(f64::total_cmp);
    let [p50, p99] = [0.5, 0.99].map(|part| (percentile(&alone, part), percentile(&with_others, part)));
    let figure = Figure::new(format!("{what}: 99th percentile"), p99.1, Unit::Millis)
        .compared_with("healthy ones alone", p99.0)
        .target(Target::RatioAtMost(1.2))
        .note(format!("medians {:.1} ms and alone {:.1} ms", p50.1, p50.0));
    Row::of([figure]).received(received)
}

/// The latencies of the healthy endpoints, whose webhooks must all have arrived.
pub(super) async fn measure(
    bench: &Bench,
    endpoints: &[Endpoint],
    per_second: u32,
    received: &mut Received,
) -> anyhow::Result<Vec<f64>> {
    bench.checkpoint().await?;
    let found = steady::run(bench, endpoints, (per_second, TIME), HEALTHY).await?;
    let healthy: Vec<_> = found
        .orders
        .iter()
        .filter(|order| order.path().starts_with(HEALTHY))
        .map(|order| (order, 1))
        .collect();
    let arrivals = bench.hooks.arrivals().await?;
    let arrivals: Vec<_> = arrivals.into_iter().filter(|arrival| arrival.path.starts_with(HEALTHY)).collect();
    received.add(Received::of(&places(&healthy), &arrivals));
    bench.hooks.forget().await?;
    Ok(found.latencies)
}

/// Of different businesses.
pub(super) async fn endpoints(bench: &Bench, path: &str) -> anyhow::Result<Vec<Endpoint>> {
    let mut endpoints = Vec::new();
    for number in 0..ENDPOINTS {
        endpoints.push(bench.endpoint(bench.new_business(), Mode::Test, &format!("{path}{number}")).await?);
    }
    Ok(endpoints)
}
