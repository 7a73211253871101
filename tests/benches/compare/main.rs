//! `make bench`: Waybill compared with pgbench making the same commits on the same server in the same run. Machines
//! differ and are noisy; compare the ratio over time, and the processor time per piece of work.

mod compare;
mod costs;
mod cpu;
mod debits;
mod figure;
mod footprint;
mod live_orders;
mod load;
mod order;
mod orders;
mod pgbench;
mod report;
mod table;
mod tally;
mod webhooks;

use anyhow::{Context, ensure};
use local_stack::{Service, Stack, StackOptions, say};

/// The benches, each on its own stack.
const BENCHES: [&str; 6] = ["footprint", "costs", "orders", "debits", "live-orders", "webhooks"];

/// A group of webhooks that takes an hour, and so runs only by its name.
const GROWN: &str = "grown";

fn main() -> anyhow::Result<()> {
    // This program is also the receiver of webhooks, as a separate process, so that its cost is counted separately.
    if std::env::args().any(|argument| argument == "--receiver") {
        return webhooks::serve_receiver();
    }
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> anyhow::Result<()> {
    let only = argument("--only");
    // `webhooks-drain` is one group of `webhooks`.
    let group = only.as_deref().and_then(|only| only.strip_prefix("webhooks-"));
    let known = only.as_ref().is_none_or(|only| BENCHES.contains(&only.as_str()));
    let known = known || group.is_some_and(|group| group == GROWN || webhooks::GROUPS.contains(&group));
    ensure!(
        known,
        "--only is one of {}, or webhooks- and one of {}, {GROWN}",
        BENCHES.join(", "),
        webhooks::GROUPS.join(", ")
    );
    if group == Some(GROWN) {
        return webhooks::run_grown(argument("--deliveries").map(|text| text.parse()).transpose()?).await;
    }
    let grown = argument("--orders").map(|text| text.parse()).transpose()?;
    for bench in BENCHES {
        let of_group = bench == "webhooks" && group.is_some();
        if !of_group && only.as_ref().is_some_and(|only| only != bench) {
            continue;
        }
        let section = match bench {
            "footprint" => footprint::run().await,
            "orders" => orders::run(grown).await,
            "debits" => debits::run().await,
            "live-orders" => live_orders::run().await,
            "webhooks" => webhooks::run(group).await,
            _ => costs::run().await,
        };
        let section = section.with_context(|| bench.to_owned())?;
        // A single group is not a section.
        if of_group { table::show(&section) } else { table::write(&section)? }
    }
    Ok(())
}

/// The word after `name`.
fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

/// A stack of release builds. fsync is on: a benchmark without durable commits would show nothing.
async fn start_stack() -> anyhow::Result<Stack> {
    say("Starting a stack of release builds");
    let directory = Stack::test_directory()?;
    let unlimited = "1000000";
    Stack::start_for_test(StackOptions::new(&directory).variable(
        Service::OrderApi,
        "WAYBILL_LIMITS__REQUESTS_PER_SECOND",
        unlimited,
    ))
    .await
}
