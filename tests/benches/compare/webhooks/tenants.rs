//! The effect of free accounts with many slow endpoints on other businesses, with live orders and with test orders.

use std::time::Duration;

use domain::Mode;
use local_stack::say;

use super::events::{Order, by_sequence};
use super::received::Received;
use super::{Bench, Endpoint, Row, isolation, steady};

/// The tenants that cause the trouble.
struct Slow {
    what: &'static str,
    mode: Mode,
    accounts: usize,
    /// Of each account.
    endpoints: usize,
    /// Of each account; each event goes to every endpoint of its account.
    orders: usize,
    path: &'static str,
}

/// Answers after 9 s are successes, answers after 15 s are not.
const SLOW: [Slow; 4] = [
    Slow {
        what: "20 endpoints of a free account that answer after 9 s",
        mode: Mode::Test,
        accounts: 1,
        endpoints: 20,
        orders: 120,
        path: "/after/9000/",
    },
    Slow {
        what: "80 endpoints of four free accounts that answer after 9 s",
        mode: Mode::Test,
        accounts: 4,
        endpoints: 20,
        orders: 30,
        path: "/after/9000/",
    },
    Slow {
        what: "64 hanging endpoints of 8 businesses",
        mode: Mode::Live,
        accounts: 8,
        endpoints: 8,
        orders: 60,
        path: "/after/15000/",
    },
    Slow {
        what: "500 hanging endpoints of 25 businesses",
        mode: Mode::Live,
        accounts: 25,
        endpoints: 20,
        orders: 60,
        path: "/after/15000/",
    },
];
const HEALTHY: usize = 10;
const PER_SECOND: u32 = 100;

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let healthy = healthy(bench).await?;
    // A second, so that connections are open.
    steady::run(bench, &healthy, (PER_SECOND, Duration::from_secs(1)), "/healthy/").await?;
    let mut rows = Vec::new();
    for slow in SLOW {
        let mut received = Received::default();
        bench.hooks.forget().await?;
        let alone = isolation::measure(bench, &healthy, PER_SECOND, &mut received).await?;
        say(&format!("Orders of {}", slow.what));
        let endpoints = slow.begin(bench).await?;
        // The burst itself is work; its effect afterwards is measured.
        bench.accepted(&endpoints, slow.accounts * slow.orders * slow.endpoints * 9 / 10).await?;
        let with_others = isolation::measure(bench, &healthy, PER_SECOND, &mut received).await?;
        bench.delete(&endpoints).await?;
        let what = format!("{PER_SECOND}/s to others next to {}", slow.what);
        rows.push(isolation::compared(&what, alone, with_others, received));
    }
    bench.delete(&healthy).await?;
    Ok(rows)
}

/// Of different businesses, one half with live orders.
async fn healthy(bench: &Bench) -> anyhow::Result<Vec<Endpoint>> {
    let mut endpoints = Vec::new();
    for number in 0..HEALTHY {
        let mode = if number % 2 == 0 { Mode::Test } else { Mode::Live };
        let path = format!("/healthy/tenants/{number}");
        endpoints.push(bench.endpoint(bench.new_business(), mode, &path).await?);
    }
    Ok(endpoints)
}

impl Slow {
    /// New endpoints, which have more to send than a measurement takes.
    async fn begin(&self, bench: &Bench) -> anyhow::Result<Vec<Endpoint>> {
        let mut endpoints = Vec::new();
        let mut orders: Vec<Order> = Vec::new();
        for account in 0..self.accounts {
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
