//! Test orders through the whole of order-api, compared with the same inserts and commit.

use local_stack::{Service, Stack, say};
use waybill_tests::figure::{Section, Target as Aim};

use crate::compare::{CLIENTS_MOST, Comparison, warm_up};
use crate::order;
use crate::pgbench::{self, Baseline, Script};
use crate::tally::Tally;

const STORED: &str = "SELECT count(*) FROM orders";

pub(crate) async fn run(stack: &Stack) -> anyhow::Result<Section> {
    let (_, key) = order::sign_up(stack, "bench").await?;
    let target = &order::target(stack, &key)?;
    warm_up(stack, target).await?;
    let baseline = &baseline(stack).await?;
    let mut figures = Vec::new();
    for (name, clients, aim) in [
        ("the whole stack", 1, None),
        ("the whole stack", CLIENTS_MOST, None),
        ("order-api and its relay", CLIENTS_MOST, Some(Aim::AtLeast(1.0))),
    ] {
        if aim.is_some() {
            // All parts share the machine's few cores: only order-api, its relay and their dependencies remain.
            say("Stopping the services that only consume order-api's events");
            for listening in [Service::WebhookDispatcher, Service::PortalApi, Service::Wallet] {
                stack.stop(listening).await?;
            }
        }
        let stored = Tally::begin(stack, Service::OrderApi, STORED).await?;
        let comparison = Comparison { stack, baseline, target, unit: "test order", name, clients };
        figures.extend(comparison.run(aim, async |calls| stored.has_grown_by(calls).await).await?);
    }
    Ok(Section::new("Test orders", figures))
}

/// A database with the same tables, next to order-api's. There is an order to copy the details from.
pub(crate) async fn baseline(stack: &Stack) -> anyhow::Result<Baseline> {
    let url = stack.create_database("bench_orders").await?;
    pgbench::copy_tables(stack, Service::OrderApi, &url).await?;
    let sql = order::fill_in(stack, include_str!("baseline.sql")).await?;
    Baseline::new(stack, &url, &Script { name: "bench_orders", sql: &sql, variables: &[] })
}
