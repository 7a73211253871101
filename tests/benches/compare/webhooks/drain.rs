//! The rate of sending queued work: events that queued in the broker while the dispatcher was down, and accepted
//! deliveries of paused endpoints.

use domain::Mode;
use local_stack::{Service, say};
use waybill_tests::figure::{Figure, Target, Unit};

use super::events::{Order, by_sequence, keys, mixed};
use super::{Bench, Endpoint, ORDERS, now_micros, seconds};
use crate::compare::{Cost, Theirs};
use crate::pgbench::Baseline;

const EVENTS: usize = 10_000;
const WARM_UP: usize = 1_000;
/// The number of endpoints, and the targets: ratios to pgbench's orders, from the broker and of accepted events.
const CASES: [(usize, [f64; 2]); 2] = [(1, [1.0, 1.2]), (50, [1.2, 1.2])];

pub(super) async fn run(bench: &Bench<'_>, baseline: &Baseline) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (count, [from_the_broker, accepted]) in CASES {
        let endpoints = endpoints(bench, count).await?;
        warm_up(bench, &endpoints).await?;
        let theirs = bench.pgbench(baseline).await?;
        figures.extend(drain_from_the_broker(bench, &endpoints, &theirs, from_the_broker).await?);
        figures.extend(drain_of_accepted(bench, &endpoints, &theirs, accepted).await?);
        bench.delete(&endpoints).await?;
    }
    Ok(figures)
}

/// Each event goes to one of them: each business has one for its test orders and one for its live orders.
async fn endpoints(bench: &Bench<'_>, count: usize) -> anyhow::Result<Vec<Endpoint>> {
    let mut endpoints = Vec::new();
    let mut business = bench.new_business();
    for number in 0..count {
        let mode = if number % 2 == 0 { Mode::Test } else { Mode::Live };
        endpoints.push(bench.endpoint(business, mode, &format!("/drain/{count}/{number}")).await?);
        if mode == Mode::Live {
            business = bench.new_business();
        }
    }
    Ok(endpoints)
}

fn orders(bench: &Bench<'_>, endpoints: &[Endpoint], events: usize) -> (Vec<Order>, Vec<i64>) {
    mixed(events, |index| {
        let Endpoint { business, mode, path, .. } = &endpoints[index % endpoints.len()];
        bench.source.order(*business, *mode, path)
    })
}

/// Warms up connections and prepared statements.
async fn warm_up(bench: &Bench<'_>, endpoints: &[Endpoint]) -> anyhow::Result<()> {
    let (orders, lengths) = orders(bench, endpoints, WARM_UP);
    let events = by_sequence(&orders, &lengths);
    bench.source.publish(&events).await?;
    bench.received(&keys(&events)).await?;
    bench.settled(endpoints).await
}

async fn drain_from_the_broker(
    bench: &Bench<'_>,
    endpoints: &[Endpoint],
    theirs: &Theirs,
    ratio: f64,
) -> anyhow::Result<[Figure; 2]> {
    say(&format!("{EVENTS} events wait in the broker for {} endpoints", endpoints.len()));
    let (orders, lengths) = orders(bench, endpoints, EVENTS);
    let events = by_sequence(&orders, &lengths);
    bench.stack.stop(Service::WebhookDispatcher).await?;
    bench.source.publish(&events).await?;
    let before = bench.cpu();
    let begun = now_micros();
    bench.stack.bring_up(Service::WebhookDispatcher).await?;
    let (received, span) = bench.received(&keys(&events)).await?;
    bench.settled(endpoints).await?;
    let cost = Cost { cpu: bench.cpu().since(&before), done: events.len() as f64 };
    let what = format!("drain from the broker, {}", counted(endpoints));
    let rate = Figure::new(&what, span.per_second(), Unit::PerSecond)
        .compared_with(ORDERS, theirs.per_second)
        .target(Target::AtLeast(ratio))
        .note(format!("the first {:.1} s after the start", seconds(span.first - begun)))
        .note(received.text());
    Ok([rate, cost.figure(&what, theirs)])
}

async fn drain_of_accepted(
    bench: &Bench<'_>,
    endpoints: &[Endpoint],
    theirs: &Theirs,
    ratio: f64,
) -> anyhow::Result<[Figure; 2]> {
    say(&format!("{EVENTS} accepted events wait for {} paused endpoints", endpoints.len()));
    let (orders, lengths) = orders(bench, endpoints, EVENTS);
    let events = by_sequence(&orders, &lengths);
    bench.set_status(endpoints, "paused").await?;
    let begun = now_micros();
    bench.source.publish(&events).await?;
    bench.accepted(endpoints, events.len()).await?;
    let accepted = events.len() as f64 / seconds(now_micros() - begun);
    let before = bench.cpu();
    bench.set_status(endpoints, "active").await?;
    let (received, span) = bench.received(&keys(&events)).await?;
    bench.settled(endpoints).await?;
    let cost = Cost { cpu: bench.cpu().since(&before), done: events.len() as f64 };
    let what = format!("drain of accepted events, {}", counted(endpoints));
    let rate = Figure::new(&what, span.per_second(), Unit::PerSecond)
        .compared_with(ORDERS, theirs.per_second)
        .target(Target::AtLeast(ratio))
        .note(format!("accepted before at {accepted:.0}/s"))
        .note(received.text());
    Ok([rate, cost.figure(&what, theirs)])
}

fn counted(endpoints: &[Endpoint]) -> String {
    match endpoints {
        [_] => "1 endpoint".to_owned(),
        _ => format!("{} endpoints, each event to one", endpoints.len()),
    }
}
