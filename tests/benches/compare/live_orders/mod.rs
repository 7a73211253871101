//! Live orders of one business, and so of one wallet, end to end, compared with pgbench making the same three commits:
//! on one wallet's row too, and on many wallets without lock contention.

use anyhow::Context;
use domain::Paise;
use local_stack::{Service, Stack};
use reqwest::Method;
use waybill_tests::Business;
use waybill_tests::figure::{Section, Target as Aim};

use crate::compare::{CLIENTS_MOST, Comparison, warm_up};
use crate::order;
use crate::pgbench::{self, Baseline, Script};
use crate::tally::{self, POSTED, Tally};

const WALLETS_MOST: u32 = 1_000;
/// Clients, and the wallets of pgbench's orders.
const CASES: [(usize, u32, Option<Aim>); 3] = [
    (1, 1, None),
    (CLIENTS_MOST, 1, Some(Aim::AtLeast(0.5))),
    (CLIENTS_MOST, WALLETS_MOST, Some(Aim::AtLeast(0.5))),
];
const PLACED: &str = "SELECT count(*) FROM orders WHERE mode = 'live' AND placement = 'placed'";
/// The first top-up, which the go-live list requires.
const TOP_UP_PAISE: i64 = 100_000_000;

pub(crate) async fn run(stack: &Stack) -> anyhow::Result<Section> {
    let target = &order::target(stack, &go_live(stack).await?)?;
    warm_up(stack, target).await?;
    let url = baseline_tables(stack).await?;
    let mut figures = Vec::new();
    for (clients, wallets, aim) in CASES {
        let baseline = &baseline(stack, &url, wallets).await?;
        let placed = Tally::begin(stack, Service::OrderApi, PLACED).await?;
        let posted = Tally::begin(stack, Service::Wallet, POSTED).await?;
        let name = &format!("pgbench on {wallets} {}", if wallets == 1 { "wallet" } else { "wallets" });
        let comparison = Comparison { stack, baseline, target, unit: "live order", name, clients };
        let check = async |calls| {
            placed.has_grown_by(calls).await?;
            posted.has_grown_by(calls).await?;
            tally::ledger_is_consistent(stack).await
        };
        figures.extend(comparison.run(aim, check).await?);
    }
    Ok(Section::new("Live orders", figures))
}

/// A live business with enough money and without webhooks. Returns its Live key.
async fn go_live(stack: &Stack) -> anyhow::Result<String> {
    let mut business = Business::sign_up(stack).await?;
    business.go_live(TOP_UP_PAISE).await?;
    let credit = serde_json::json!({ "amountPaise": Paise::REQUEST_MAX, "reference": "bench" });
    let path = format!("/businesses/{}/wallet/credits", business.portal.business_id);
    business.operator.call(Method::POST, &path, &credit).await?.expect(201)?;
    let endpoint = format!("/webhook-endpoints/{}", business.endpoint_id);
    business.portal.call(Method::DELETE, &endpoint, None).await?;
    business.live_key.clone().context("no live key")
}

/// The URL of a database with wallets and the tables of both services, the wallet's in the schema `money`.
async fn baseline_tables(stack: &Stack) -> anyhow::Result<String> {
    let url = stack.create_database("bench_live_orders").await?;
    pgbench::copy_tables(stack, Service::Wallet, &url).await?;
    local_stack::query(&url, "ALTER SCHEMA public RENAME TO money; CREATE SCHEMA public").await?;
    pgbench::copy_tables(stack, Service::OrderApi, &url).await?;
    pgbench::drop_triggers(&url).await?;
    pgbench::fill_wallets(&url, "money.wallets", WALLETS_MOST).await?;
    Ok(url)
}

async fn baseline(stack: &Stack, url: &str, wallets: u32) -> anyhow::Result<Baseline> {
    let sql = order::fill_in(stack, include_str!("baseline.sql")).await?;
    let name = format!("live_orders_{wallets}");
    let variables = [("wallets", u64::from(wallets))];
    Baseline::new(stack, url, &Script { name: &name, sql: &sql, variables: &variables })
}
