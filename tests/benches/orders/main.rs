//! `make bench`: test orders per second through the whole of order-api, beside pgbench doing the same inserts and commit
//! on the same server in the same run. Machines differ and are noisy; the ratio is what is compared over time.

mod baseline;
mod cpu;
mod fill;
mod load;
mod report;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use demo::clients::Portal;
use demo::eventually;
use local_stack::{Service, Stack, StackOptions, say};
use serde_json::json;
use tokio::time::Instant;

use baseline::Baseline;
use cpu::Cpu;
use report::Row;

/// How long each measurement lasts.
const MEASURED: Duration = Duration::from_secs(8);
const CONNECTIONS: [usize; 3] = [1, 16, 64];

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let directory = Stack::test_directory()?;
    say("Starting a stack of release builds");
    // fsync is on: a benchmark of commits that are none would show nothing.
    let options = StackOptions::new(&directory).variable(
        Service::OrderApi,
        "WAYBILL_LIMITS__REQUESTS_PER_SECOND",
        "1000000",
    );
    let stack = Stack::start_for_test(options).await?;
    let key = test_key(&stack).await?;
    let target = Arc::new(load::Target::new(&stack.order_api_origin(), &key)?);

    say("Warming up");
    load::run(Arc::clone(&target), "warm", 16, Duration::from_secs(3)).await?;
    drained(&stack).await?;
    let baseline = Baseline::prepare(&stack).await?;
    let mut rows = Vec::new();
    for connections in CONNECTIONS {
        rows.push(measure(&stack, &baseline, &target, connections, "the whole stack").await?);
    }
    // Everything shares this machine's few cores: what remains is order-api, its relay, and those it cannot do without.
    say("Stopping the services that only listen to what order-api tells");
    for listening in [Service::WebhookDispatcher, Service::PortalApi, Service::Wallet] {
        stack.stop(listening).await?;
    }
    let most = CONNECTIONS[CONNECTIONS.len() - 1];
    rows.push(measure(&stack, &baseline, &target, most, "order-api and its relay").await?);
    if let Some(wanted) = grown() {
        fill::fill(&stack, wanted).await?;
        rows.push(measure(&stack, &baseline, &target, most, "the same, grown table").await?);
    }
    stack.shut_down().await?;
    report::show(&rows);
    Ok(())
}

/// `--orders 5000000`: measures once more with so many orders in the table.
fn grown() -> Option<u64> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--orders");
    arguments.nth(1)?.parse().ok()
}

/// pgbench, then order-api, at as many connections.
async fn measure(
    stack: &Stack,
    baseline: &Baseline,
    target: &Arc<load::Target>,
    connections: usize,
    running: &'static str,
) -> anyhow::Result<Row> {
    say(&format!("{connections} connections: pgbench, then order-api"));
    let orders = stack.query(Service::OrderApi, "SELECT count(*) FROM orders").await?.trim().to_owned();
    let pgbench = baseline.run(connections, MEASURED).await?;
    let before = Cpu::of(stack);
    let name = format!("{}-{connections}", running.replace(' ', "-"));
    let ours = load::run(Arc::clone(target), &name, connections, MEASURED).await?;
    let drain = drained(stack).await?;
    let cpu = Cpu::of(stack).per_order_since(&before, ours.per_second * MEASURED.as_secs_f64());
    Ok(Row { running, connections, orders, pgbench, ours, drain, cpu })
}

async fn test_key(stack: &Stack) -> anyhow::Result<String> {
    let portal =
        Portal::sign_up(&stack.portal_api(), "Bench", "bench@example.com", "a-long-password").await?;
    let key = portal.post("/api-keys", &json!({ "mode": "test", "name": "bench" })).await?.expect(201)?;
    Ok(key["key"].as_str().context("no key")?.to_owned())
}

/// How long the outbox takes to be empty again.
async fn drained(stack: &Stack) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    eventually("the outbox to drain", Duration::from_secs(300), || async {
        let waiting = stack.query(Service::OrderApi, "SELECT count(*) FROM outbox_messages").await?;
        Ok((waiting.trim() == "0").then_some(()))
    })
    .await?;
    Ok(begun.elapsed())
}
