//! The effect of free accounts with many slow endpoints on other businesses, with live orders and with test orders.

use std::time::Duration;

use demo::eventually;
use domain::Mode;
use local_stack::say;

use super::events::{Order, by_sequence};
use super::received::Received;
use super::{Bench, Endpoint, PATIENCE, Row, isolation, steady};

/// The most that a business may have.
const ENDPOINTS: usize = 20;
/// Of all accounts together; each event goes to every endpoint of its account.
const ORDERS: usize = 120;
/// Slow, but within the timeout: a success.
const LATE: &str = "/after/9000/";
const ACCOUNTS: [usize; 2] = [1, 4];
const HEALTHY: usize = 10;
const PER_SECOND: u32 = 100;
/// Without and with them, in turns, so that other load on the machine affects both.
const ROUNDS: usize = 2;

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let healthy = healthy(bench).await?;
    // A second, so that connections are open.
    steady::run(bench, &healthy, (PER_SECOND, Duration::from_secs(1)), "/healthy/").await?;
    let mut rows = Vec::new();
    for accounts in ACCOUNTS {
        let (mut alone, mut with_others) = (Vec::new(), Vec::new());
        let mut received = Received::default();
        for _ in 0..ROUNDS {
            bench.hooks.forget().await?;
            alone.extend(isolation::measure(bench, &healthy, PER_SECOND, &mut received).await?);
            say(&format!(
                "{ORDERS} test orders of {accounts} accounts with {ENDPOINTS} endpoints each, answered after 9 s"
            ));
            let late = late(bench, accounts).await?;
            with_others.extend(isolation::measure(bench, &healthy, PER_SECOND, &mut received).await?);
            bench.delete(&late).await?;
            eventually("deliveries of deleted endpoints to be discarded", PATIENCE, || async {
                Ok((bench.pending(&late).await? == 0).then_some(()))
            })
            .await?;
        }
        let what = format!(
            "{PER_SECOND}/s to others next to {} endpoints of free accounts that answer after 9 s (accounts: {accounts})",
            accounts * ENDPOINTS
        );
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

/// The endpoints of new accounts, which have more to send than a measurement takes.
async fn late(bench: &Bench, accounts: usize) -> anyhow::Result<Vec<Endpoint>> {
    let mut endpoints = Vec::new();
    let mut orders: Vec<Order> = Vec::new();
    for account in 0..accounts {
        let business = bench.new_business();
        for number in 0..ENDPOINTS {
            let path = format!("{LATE}{account}/{number}");
            endpoints.push(bench.endpoint(business, Mode::Test, &path).await?);
        }
        orders.extend((0..ORDERS / accounts).map(|_| bench.source.order(business, Mode::Test, LATE)));
    }
    bench.source.publish(&by_sequence(&orders, &vec![1; orders.len()])).await?;
    Ok(endpoints)
}
