//! The effect of businesses with many slow endpoints on other businesses, with live orders and with test orders.

use std::collections::HashMap;
use std::time::Duration;

use domain::Mode;
use local_stack::{Stack, say};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use waybill_tests::figure::{Figure, Section, Target, Unit, percentile};

use super::events::{Order, by_sequence, keys};
use super::hooks::Arrival;
use super::pace::Pace;
use super::received::Received;
use super::{Bench, Endpoint, now_micros};

/// The businesses that cause the trouble.
struct Slow {
    what: &'static str,
    mode: Mode,
    businesses: usize,
    /// Of each business.
    endpoints: usize,
    /// Of each business; each event goes to every endpoint of its business.
    orders: usize,
    path: &'static str,
}

/// Answers after 9 s are successes, answers after 15 s are not.
const SLOW: [Slow; 2] = [
    Slow {
        what: "20 endpoints of a free account that answer after 9 s",
        mode: Mode::Test,
        businesses: 1,
        endpoints: 20,
        orders: 120,
        path: "/after/9000/",
    },
    Slow {
        what: "500 hanging endpoints of 25 businesses",
        mode: Mode::Live,
        businesses: 25,
        endpoints: 20,
        orders: 60,
        path: "/after/15000/",
    },
];
const HEALTHY: &str = "/healthy/";
const HEALTHY_ENDPOINTS: usize = 10;
const PER_SECOND: u32 = 100;
const TIME: Duration = Duration::from_secs(15);
const WARM_UP: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(200);
const RATIO_MOST: f64 = 1.2;

pub(crate) async fn run(stack: &Stack) -> anyhow::Result<Section> {
    let bench = &Bench::start(stack).await?;
    let healthy = healthy(bench).await?;
    // So that connections are open.
    measure(bench, &healthy, WARM_UP).await?;
    let mut figures = Vec::new();
    for slow in SLOW {
        let (alone, _) = measure(bench, &healthy, TIME).await?;
        say(&format!("Orders of {}", slow.what));
        let endpoints = slow.begin(bench).await?;
        // The burst itself is work; its effect afterwards is measured.
        bench.accepted(&endpoints, slow.businesses * slow.orders * slow.endpoints * 9 / 10).await?;
        let (next_to_slow, received) = measure(bench, &healthy, TIME).await?;
        bench.delete(&endpoints).await?;
        let [p50, p99] = [0.5, 0.99].map(|part| [&alone, &next_to_slow].map(|times| percentile(times, part)));
        let what = format!("{PER_SECOND}/s to others next to {}: 99th percentile", slow.what);
        let figure = Figure::new(what, p99[1], Unit::Millis)
            .compared_with("healthy ones alone", p99[0])
            .target(Target::AtMost(RATIO_MOST))
            .note(format!("medians {:.1} ms and alone {:.1} ms", p50[1], p50[0]))
            .note(received.text());
        figures.push(figure);
    }
    Ok(Section::new("Isolation", figures))
}

/// Publishes events one after the other, to the healthy endpoints in turn. Returns their latencies in milliseconds,
/// sorted, when all have arrived.
async fn measure(
    bench: &Bench<'_>,
    healthy: &[Endpoint],
    time: Duration,
) -> anyhow::Result<(Vec<f64>, Received)> {
    bench.checkpoint().await?;
    bench.hooks.forget().await?;
    let mut pace = Pace::new(PER_SECOND);
    let (mut orders, mut published) = (Vec::new(), HashMap::new());
    let mut publishing = JoinSet::new();
    for number in 0..pace.count(time) as usize {
        pace.next().await;
        let Endpoint { business, mode, path, .. } = &healthy[number % healthy.len()];
        let order = bench.source.order(*business, *mode, path);
        published.insert(order.bare_id(), now_micros());
        orders.push(order.clone());
        let source = bench.source.clone();
        publishing.spawn(async move { source.publish(&[(&order, 1)]).await });
    }
    publishing.join_all().await.into_iter().collect::<anyhow::Result<()>>()?;
    let arrivals = arrivals(bench, orders.len()).await?;
    let latency = |arrival: &Arrival| Some((arrival.at - published.get(&arrival.order)?) as f64 / 1_000.0);
    let mut latencies: Vec<_> = arrivals.iter().filter_map(latency).collect();
    latencies.sort_unstable_by(f64::total_cmp);
    let events: Vec<_> = orders.iter().map(|order| (order, 1)).collect();
    Ok((latencies, Received::of(&keys(&events), &arrivals)?))
}

/// Those at healthy endpoints, once there are this many or after `PATIENCE`.
async fn arrivals(bench: &Bench<'_>, count: usize) -> anyhow::Result<Vec<Arrival>> {
    let give_up = Instant::now() + super::PATIENCE;
    loop {
        let mut arrivals = bench.hooks.arrivals().await?;
        arrivals.retain(|arrival| arrival.path.starts_with(HEALTHY));
        if arrivals.len() >= count || Instant::now() > give_up {
            return Ok(arrivals);
        }
        sleep(POLL).await;
    }
}

/// Of different businesses, one half with live orders.
async fn healthy(bench: &Bench<'_>) -> anyhow::Result<Vec<Endpoint>> {
    let mut endpoints = Vec::new();
    for number in 0..HEALTHY_ENDPOINTS {
        let mode = if number % 2 == 0 { Mode::Test } else { Mode::Live };
        endpoints.push(bench.endpoint(bench.new_business(), mode, &format!("{HEALTHY}{number}")).await?);
    }
    Ok(endpoints)
}

impl Slow {
    /// New endpoints, which have more to send than a measurement takes.
    async fn begin(&self, bench: &Bench<'_>) -> anyhow::Result<Vec<Endpoint>> {
        let mut endpoints = Vec::new();
        let mut orders: Vec<Order> = Vec::new();
        for account in 0..self.businesses {
            let business = bench.new_business();
            for number in 0..self.endpoints {
                let path = format!("{}{account}/{number}", self.path);
                endpoints.push(bench.endpoint(business, self.mode, &path).await?);
            }
            orders.extend((0..self.orders).map(|_| bench.source.order(business, self.mode, self.path)));
        }
        bench.source.publish(&by_sequence(&orders, &vec![1; orders.len()])).await?;
        Ok(endpoints)
    }
}
