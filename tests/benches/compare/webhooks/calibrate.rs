//! The limits of the machine: pgbench making the commits of an order, and a bare loop of HTTP calls to the receiver.

use std::time::Duration;

use local_stack::{Stack, say};
use reqwest::Client;
use tokio::task::JoinSet;
use tokio::time::Instant;
use waybill_tests::figure::{Figure, Target, Unit, percentile};

use super::steady::Pace;
use super::{Bench, Row, latency};
use crate::pgbench::Baseline;
use crate::{compare, cpu, order, orders};

const TIME: Duration = Duration::from_secs(3);
const PGBENCH_CLIENTS: usize = 32;
const CONNECTIONS: usize = 32;
/// As long as a webhook's body.
const BODY: &str = r#"{"id":"evt_01KAKPXA3M0000000000000000","event":"order.created","sequence":1,"mode":"test","occurredAt":"2026-01-01T00:00:00.000Z","order":{"id":"ord_01KAKPXA3M0000000000000000","serviceOrderId":"ord_01KAKPXA3M0000000000000000","orderReference":"shop-ord_01KAKPXA3M0000000000000000","trackingCode":"TEST-0000-0000-0000-0","trackingUrl":"https://tracking.example/track/0000-0000-0000","status":"created","codStatus":"pending"},"data":{}}"#;

#[derive(Clone, Copy)]
pub(crate) struct Calibration {
    /// Orders per second.
    pub(crate) pgbench: Option<f64>,
    /// Per second.
    pub(crate) posts: f64,
    /// Processor seconds of the caller, per 1,000.
    pub(crate) post_cost: f64,
    /// The latency of a POST at the pace of the webhooks, in milliseconds: the median and the 99th percentile.
    pub(crate) answered: (f64, f64),
}

impl Calibration {
    /// A rate, compared with the bare caller's to the same receiver.
    pub(crate) fn rate(&self, what: impl Into<String>, per_second: f64) -> Figure {
        let figure = Figure::new(what, per_second, Unit::PerSecond)
            .compared_with("bare POSTs to the same receiver", self.posts);
        let pgbench = self.pgbench.map(|rate| format!("{:.2} of pgbench's orders", per_second / rate));
        pgbench.into_iter().fold(figure, Figure::note)
    }

    /// The rate of a drain, compared with pgbench's orders where they were measured.
    pub(crate) fn drain(&self, what: impl Into<String>, per_second: f64, ratio: f64) -> Figure {
        let Some(pgbench) = self.pgbench else { return self.rate(what, per_second) };
        Figure::new(what, per_second, Unit::PerSecond)
            .compared_with("pgbench's orders", pgbench)
            .target(Target::RatioAtLeast(ratio))
            .note(format!("{:.2} of bare POSTs to the same receiver", per_second / self.posts))
    }

    pub(crate) fn row(&self) -> Row {
        let pgbench = self.pgbench.map(|rate| {
            Figure::new(
                format!("calibration: pgbench, {PGBENCH_CLIENTS} clients, an order's commits"),
                rate,
                Unit::PerSecond,
            )
        });
        let posts = Figure::new(
            format!("calibration: bare POSTs over {CONNECTIONS} connections"),
            self.posts,
            Unit::PerSecond,
        );
        Row::of(pgbench.into_iter().chain([posts]))
    }
}

/// The commits of an order, after a warm-up with orders.
pub(crate) async fn orders(stack: &Stack) -> anyhow::Result<Baseline> {
    // pgbench copies one of our orders, so there must be one.
    let target = order::target(&stack.order_api_origin(), &orders::test_key(stack, "calibration").await?)?;
    compare::warm_up(stack, &target).await?;
    orders::baseline(stack, "bench_calibration").await
}

/// Each group that uses it calibrates directly before its own measurement.
pub(crate) async fn calibrate(bench: &Bench) -> anyhow::Result<Calibration> {
    say("Calibrating");
    let pgbench = match &bench.orders {
        Some(orders) => Some(orders.run(PGBENCH_CLIENTS, TIME).await?.per_second),
        None => None,
    };
    let url = format!("{}/bare", bench.hooks.origin());
    let (posts, post_cost) = bare_posts(&url).await?;
    let answered = paced_posts(&url).await?;
    bench.hooks.forget().await?;
    Ok(Calibration { pgbench, posts, post_cost, answered })
}

/// The dispatcher's HTTP client alone: its rate, and the cost of 1,000 calls.
async fn bare_posts(url: &str) -> anyhow::Result<(f64, f64)> {
    let http = client()?;
    let (begun, before) = (Instant::now(), cpu::own());
    let mut callers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (http, url) = (http.clone(), url.to_owned());
        callers.spawn(async move {
            let mut calls = 0_u32;
            while begun.elapsed() < TIME {
                post(&http, &url).await?;
                calls += 1;
            }
            anyhow::Ok(calls)
        });
    }
    let mut calls = 0;
    while let Some(caller) = callers.join_next().await {
        calls += caller??;
    }
    let calls = f64::from(calls);
    Ok((calls / begun.elapsed().as_secs_f64(), (cpu::own() - before) * 1_000.0 / calls))
}

/// The same calls, started at the pace of the events whose latency is measured.
async fn paced_posts(url: &str) -> anyhow::Result<(f64, f64)> {
    let http = client()?;
    let mut pace = Pace::new(latency::PER_SECOND);
    let mut calls = JoinSet::new();
    for _ in 0..pace.count(TIME) {
        pace.next().await;
        let (http, url) = (http.clone(), url.to_owned());
        calls.spawn(async move {
            let begun = Instant::now();
            post(&http, &url).await?;
            anyhow::Ok(begun.elapsed().as_secs_f64() * 1_000.0)
        });
    }
    let mut millis = Vec::new();
    while let Some(call) = calls.join_next().await {
        millis.push(call??);
    }
    millis.sort_unstable_by(f64::total_cmp);
    Ok((percentile(&millis, 0.5), percentile(&millis, 0.99)))
}

fn client() -> reqwest::Result<Client> {
    Client::builder().no_proxy().tcp_nodelay(true).build()
}

async fn post(http: &Client, url: &str) -> reqwest::Result<()> {
    http.post(url).body(BODY).send().await?.error_for_status()?.bytes().await.map(drop)
}
