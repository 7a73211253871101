//! `make bench`: Waybill compared with pgbench making the same commits on the same server in the same run. Each bench
//! runs several rounds. Machines differ and are noisy; compare the ratio over time, and the processor time per piece of
//! work.

mod compare;
mod costs;
mod cpu;
mod debits;
mod footprint;
mod live_orders;
mod load;
mod metrics;
mod order;
mod orders;
mod pgbench;
mod report;
mod table;
mod tally;
mod webhooks;

use std::str::FromStr;

use anyhow::{Context, ensure};
use local_stack::{Service, Stack, StackOptions, say};
use tokio::time::Instant;
use waybill_tests::figure::Section;

/// The benches. Each round of each has its own stack.
const BENCHES: [&str; 6] = ["footprint", "costs", "orders", "debits", "live-orders", "webhooks"];

/// A group of webhooks that takes an hour, and so runs only by its name.
const GROWN: &str = "grown";

/// Rounds, if not chosen. The median of three is not affected by one disturbed round.
const ROUNDS: u32 = 3;

fn main() -> anyhow::Result<()> {
    // This program is also the receiver of webhooks, as a separate process, so that its cost is counted separately.
    if std::env::args().any(|argument| argument == "--receiver") {
        return webhooks::serve_receiver();
    }
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> anyhow::Result<()> {
    let only: Option<String> = argument("--only")?;
    let rounds = argument("--rounds")?.unwrap_or(ROUNDS);
    ensure!(rounds > 0, "--rounds is at least 1");
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
        return webhooks::run_grown(argument("--deliveries")?, rounds).await;
    }
    let orders = argument("--orders")?;
    for bench in BENCHES {
        let of_group = bench == "webhooks" && group.is_some();
        if !of_group && only.as_ref().is_some_and(|only| only != bench) {
            continue;
        }
        let mut section: Option<Section> = None;
        for round in 1..=rounds {
            say(&format!("\n{bench}: round {round} of {rounds}"));
            let begun = Instant::now();
            let found = measure(bench, group, orders).await.with_context(|| bench.to_owned())?;
            say(&format!("{bench}: round {round} took {:.0} s", begun.elapsed().as_secs_f64()));
            match &mut section {
                Some(section) => section.join(found),
                None => section = Some(found),
            }
        }
        let section = section.context("no round")?;
        // A single group is not a section.
        if of_group { table::show(&section) } else { table::write(&section, rounds)? }
    }
    Ok(())
}

/// One round. With `orders`, test orders are also measured in a table of that size.
async fn measure(bench: &str, group: Option<&str>, orders: Option<u64>) -> anyhow::Result<Section> {
    match bench {
        "footprint" => footprint::run().await,
        "orders" => orders::run(orders).await,
        "debits" => debits::run().await,
        "live-orders" => live_orders::run().await,
        "webhooks" => webhooks::run(group).await,
        _ => costs::run().await,
    }
}

/// The word after `name`.
fn argument<T: FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    name: &str,
) -> anyhow::Result<Option<T>> {
    let word = std::env::args().skip_while(|argument| argument != name).nth(1);
    word.map(|word| word.parse().with_context(|| format!("{name} {word}"))).transpose()
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
