//! Test orders through the whole of order-api, compared with the same inserts and commit.

mod fill;

use std::sync::Arc;

use demo::clients::Portal;
use local_stack::{Service, Stack, say};
use serde_json::json;
use waybill_tests::figure::{Section, Target as Aim};
use waybill_tests::text;

use crate::compare::{Comparison, warm_up};
use crate::load::Target;
use crate::order::target;
use crate::pgbench::{self, Baseline, Script};
use crate::report::Row;
use crate::tally::Tally;

const CLIENTS: [usize; 3] = [1, 16, 64];
const STORED: &str = "SELECT count(*) FROM orders";

/// With `grown`, measures again with that many orders in the table.
pub(crate) async fn run(grown: Option<u64>) -> anyhow::Result<Section> {
    let stack = crate::start_stack().await?;
    let target = target(&stack.order_api_origin(), &test_key(&stack, "bench").await?)?;
    warm_up(&stack, &target).await?;
    let baseline = baseline(&stack, "bench_orders").await?;
    let mut rows = Vec::new();
    for clients in CLIENTS {
        rows.push((compare(&stack, &baseline, &target, "the whole stack", clients).await?, None));
    }
    // All parts share the machine's few cores: only order-api, its relay and their dependencies remain.
    say("Stopping the services that only consume order-api's events");
    for listening in [Service::WebhookDispatcher, Service::PortalApi, Service::Wallet] {
        stack.stop(listening).await?;
    }
    let most = CLIENTS[CLIENTS.len() - 1];
    let alone = compare(&stack, &baseline, &target, "order-api and its relay", most).await?;
    rows.push((alone, Some(Aim::RatioAtLeast(1.0))));
    if let Some(wanted) = grown {
        fill::fill(&stack, wanted).await?;
        rows.push((compare(&stack, &baseline, &target, "the same, grown table", most).await?, None));
    }
    stack.shut_down().await?;
    Ok(Section::new("Test orders", rows.iter().flat_map(|(row, aim)| row.figures("test order", *aim))))
}

async fn compare(
    stack: &Stack,
    baseline: &Baseline,
    target: &Arc<Target>,
    name: &str,
    clients: usize,
) -> anyhow::Result<Row> {
    let stored = Tally::begin(stack, Service::OrderApi, STORED).await?;
    let comparison = Comparison { stack, baseline, target, name: name.to_owned(), clients };
    comparison.run(async |calls| stored.has_grown_by(calls).await).await
}

/// With its own business.
pub(crate) async fn test_key(stack: &Stack, name: &str) -> anyhow::Result<String> {
    let email = format!("{name}@example.com");
    let portal = Portal::sign_up(&stack.portal_api(), name, &email, "a-long-password").await?;
    let key = portal.post("/api-keys", &json!({ "mode": "test", "name": "bench" })).await?.expect(201)?;
    text(&key, "key")
}

/// A database with this name and the same tables, next to order-api's.
pub(crate) async fn baseline(stack: &Stack, name: &str) -> anyhow::Result<Baseline> {
    let url = stack.create_database(name).await?;
    pgbench::copy_tables(stack, Service::OrderApi, &url).await?;
    let sql = crate::order::fill_in(stack, include_str!("baseline.sql")).await?;
    Baseline::new(stack, &url, &Script { name, sql: &sql, variables: &[] })
}
