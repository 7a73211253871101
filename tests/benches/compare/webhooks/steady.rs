//! Work and events at a fixed pace.

use std::collections::HashMap;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::events::Order;
use super::hooks::Arrival;
use super::{Bench, Endpoint};

/// The rate, whatever the state of earlier work.
pub(crate) struct Pace {
    begun: Instant,
    interval: Duration,
    done: u32,
}

impl Pace {
    pub(crate) fn new(per_second: u32) -> Self {
        Self { begun: Instant::now(), interval: Duration::from_secs(1) / per_second, done: 0 }
    }

    /// The amount of work in this time.
    pub(crate) fn count(&self, time: Duration) -> u32 {
        u32::try_from(time.as_nanos() / self.interval.as_nanos().max(1)).unwrap_or(u32::MAX)
    }

    /// Waits for the next start time.
    pub(crate) async fn next(&mut self) {
        sleep_until(self.begun + self.interval * self.done).await;
        self.done += 1;
    }
}

/// Latencies, and what was measured.
pub(crate) struct Steady {
    /// In milliseconds from the publishing of the event, sorted.
    pub(crate) latencies: Vec<f64>,
    /// All published events, including those of unhealthy endpoints.
    pub(crate) orders: Vec<Order>,
}

/// Publishes events one after the other, to the endpoints in turn, `per_second` in all. Returns the latencies of the
/// endpoints whose paths start with `measured`.
pub(crate) async fn run(
    bench: &Bench,
    endpoints: &[Endpoint],
    (per_second, time): (u32, Duration),
    measured: &str,
) -> anyhow::Result<Steady> {
    let mut pace = Pace::new(per_second);
    let mut orders = Vec::new();
    let mut published = HashMap::new();
    let mut publishing = JoinSet::new();
    for number in 0..pace.count(time) as usize {
        pace.next().await;
        let endpoint = &endpoints[number % endpoints.len()];
        let order = bench.source.order(endpoint.business, endpoint.mode, &endpoint.path);
        published.insert(order.bare_id(), super::now_micros());
        orders.push(order.clone());
        let source = bench.source.clone();
        publishing.spawn(async move { source.publish(&[(&order, 1)]).await });
    }
    while let Some(one) = publishing.join_next().await {
        one??;
    }
    let wanted = orders.iter().filter(|order| order.path().starts_with(measured)).count();
    let arrived =
        |arrivals: &[Arrival]| arrivals.iter().filter(|arrival| arrival.path.starts_with(measured)).count();
    let patience = Instant::now() + super::PATIENCE;
    while arrived(&bench.hooks.arrivals().await?) < wanted && Instant::now() < patience {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let arrivals = bench.hooks.arrivals().await?;
    let measured = arrivals.iter().filter(|arrival| arrival.path.starts_with(measured));
    let mut latencies: Vec<_> = measured
        .filter_map(|arrival| Some((arrival.at - published.get(&arrival.order)?) as f64 / 1_000.0))
        .collect();
    latencies.sort_unstable_by(f64::total_cmp);
    Ok(Steady { latencies, orders })
}
