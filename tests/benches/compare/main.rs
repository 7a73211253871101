//! `make bench`: Waybill compared with pgbench making the same commits on the same server in the same run. Each bench
//! runs several rounds. Machines differ and are noisy; compare the ratio over time, and the processor time per piece of
//! work.

mod compare;
mod cpu;
mod debits;
mod footprint;
mod live_orders;
mod load;
mod order;
mod orders;
mod pgbench;
mod table;
mod tally;
mod webhooks;

use std::str::FromStr;

use anyhow::{Context, ensure};
use local_stack::{Service, Stack, StackOptions, say};
use tokio::time::Instant;
use waybill_tests::figure::Section;

/// The benches. Each round of each has its own stack.
const BENCHES: [&str; 6] = ["footprint", "orders", "debits", "live-orders", "webhooks", "isolation"];

/// Rounds, if not chosen, and at least so many for the page. The median of three is not affected by one disturbed round.
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
    ensure!(
        only.as_ref().is_none_or(|only| BENCHES.contains(&only.as_str())),
        "--only is one of {}",
        BENCHES.join(", ")
    );
    for bench in BENCHES.into_iter().filter(|bench| only.as_ref().is_none_or(|only| only == bench)) {
        let mut section: Option<Section> = None;
        for round in 1..=rounds {
            say(&format!("\n{bench}: round {round} of {rounds}"));
            let begun = Instant::now();
            let found = measure(bench).await.with_context(|| bench.to_owned())?;
            say(&format!("{bench}: round {round} took {:.0} s", begun.elapsed().as_secs_f64()));
            match &mut section {
                Some(section) => section.join(found),
                None => section = Some(found),
            }
        }
        table::write(&section.context("no round")?, rounds)?;
    }
    Ok(())
}

/// One round.
async fn measure(bench: &str) -> anyhow::Result<Section> {
    let stack = start_stack().await?;
    let section = match bench {
        "footprint" => footprint::run(&stack).await?,
        "orders" => orders::run(&stack).await?,
        "debits" => debits::run(&stack).await?,
        "live-orders" => live_orders::run(&stack).await?,
        "webhooks" => webhooks::run(&stack).await?,
        _ => webhooks::isolation::run(&stack).await?,
    };
    stack.shut_down().await?;
    Ok(section)
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
