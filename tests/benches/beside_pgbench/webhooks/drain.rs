//! How fast what waits is sent: events that wait in the broker while the dispatcher is away, and deliveries that were accepted
//! for endpoints that were paused.

use domain::Mode;
use local_stack::{Service, say};

use super::events::{Order, by_sequence, mixed, places};
use super::{Bench, Endpoint, Row, now_micros, seconds};

const EVENTS: usize = 20_000;
const ENDPOINTS_MANY: usize = 50;

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (count, target) in
        [(1, "≥ 3,500/s; CPU ≤ 0.45"), (ENDPOINTS_MANY, "≥ 4,000/s; CPU ≤ 0.40 (each event to one)")]
    {
        let endpoints = endpoints(bench, count).await?;
        warm_up(bench, &endpoints).await?;
        rows.push(from_the_broker(bench, &endpoints, target).await?.row);
        rows.push(from_paused_endpoints(bench, &endpoints, target).await?.row);
        bench.delete(&endpoints).await?;
    }
    Ok(rows)
}

/// Each event goes to one of them: each business has one for its test orders and one for its live orders.
pub(super) async fn endpoints(bench: &Bench, count: usize) -> anyhow::Result<Vec<Endpoint>> {
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

fn orders(bench: &Bench, endpoints: &[Endpoint], events: usize) -> (Vec<Order>, Vec<i64>) {
    mixed(events, |index| {
        let Endpoint { business, mode, path, .. } = &endpoints[index % endpoints.len()];
        bench.source.order(*business, *mode, path)
    })
}

/// Once through, so that connections stand and statements are prepared.
pub(super) async fn warm_up(bench: &Bench, endpoints: &[Endpoint]) -> anyhow::Result<()> {
    let (orders, lengths) = orders(bench, endpoints, EVENTS / 20);
    let events = by_sequence(&orders, &lengths);
    bench.source.publish(&events).await?;
    bench.received(&places(&events)).await?;
    bench.settled(endpoints).await
}

/// What one of them found.
pub(super) struct Drained {
    pub(super) row: Row,
    pub(super) per_second: f64,
    /// Where acceptance was measured apart.
    pub(super) accepted_per_second: Option<f64>,
}

pub(super) async fn from_the_broker(
    bench: &Bench,
    endpoints: &[Endpoint],
    target: &'static str,
) -> anyhow::Result<Drained> {
    say(&format!("{EVENTS} events wait in the broker for {} endpoints", endpoints.len()));
    let (orders, lengths) = orders(bench, endpoints, EVENTS);
    let events = by_sequence(&orders, &lengths);
    bench.stack.stop(Service::WebhookDispatcher).await?;
    bench.source.publish(&events).await?;
    let before = bench.cpu();
    let begun = now_micros();
    bench.stack.bring_up(Service::WebhookDispatcher).await?;
    let (received, span) = bench.received(&places(&events)).await?;
    bench.settled(endpoints).await?;
    let cost = bench.cpu().since_restart(&before, Service::WebhookDispatcher);
    let row = Row {
        what: format!("drain from the broker, {} endpoints", endpoints.len()),
        found: format!(
            "{}; the first {:.1} s after the start",
            bench.calibration.beside(span.per_second()),
            seconds(span.first - begun)
        ),
        target,
        cost: Some((cost, events.len())),
        received: Some(received),
    };
    Ok(Drained { row, per_second: span.per_second(), accepted_per_second: None })
}

pub(super) async fn from_paused_endpoints(
    bench: &Bench,
    endpoints: &[Endpoint],
    target: &'static str,
) -> anyhow::Result<Drained> {
    say(&format!("{EVENTS} accepted events wait for {} paused endpoints", endpoints.len()));
    let (orders, lengths) = orders(bench, endpoints, EVENTS);
    let events = by_sequence(&orders, &lengths);
    for endpoint in endpoints {
        bench.set_status(endpoint, "paused").await?;
    }
    let begun = now_micros();
    bench.source.publish(&events).await?;
    bench.accepted(endpoints, events.len()).await?;
    let accepted = events.len() as f64 / seconds(now_micros() - begun);
    let before = bench.cpu();
    for endpoint in endpoints {
        bench.set_status(endpoint, "active").await?;
    }
    let (received, span) = bench.received(&places(&events)).await?;
    bench.settled(endpoints).await?;
    let cost = bench.cpu().since(&before);
    let row = Row {
        what: format!("drain of accepted events, {} endpoints", endpoints.len()),
        found: format!("{}; accepted before at {accepted:.0}/s", bench.calibration.beside(span.per_second())),
        target,
        cost: Some((cost, events.len())),
        received: Some(received),
    };
    Ok(Drained { row, per_second: span.per_second(), accepted_per_second: Some(accepted) })
}
