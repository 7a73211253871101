//! Money under faults, in the short form: two rounds, drawn anew for each commit. `make test-faults` is the long form.

use std::path::Path;
use std::process::Command;

use anyhow::Context;
use waybill_tests::faults::{Campaign, Tally};

const ROUNDS: u64 = 2;

#[tokio::test(flavor = "multi_thread")]
async fn every_paisa_is_accounted_for_whatever_dies_at_whichever_step() -> anyhow::Result<()> {
    let seed = seed()?;
    println!("seed {seed}: `test-faults --seed {seed}` repeats these rounds");
    let campaign = Campaign::start(seed).await?;
    let mut total = Tally::default();
    for number in 0..ROUNDS {
        total.add(&campaign.round(number).await?);
    }
    assert!(total.harms > 0 && total.placed > 0, "{total}: {:?}", total.steps);
    campaign.end().await
}

/// The beginning of the commit's id, so that each commit meets other faults and a failure can be repeated. A tree without
/// history, such as a source archive, always draws the same.
fn seed() -> anyhow::Result<u64> {
    const WITHOUT_HISTORY: u64 = 20_261_121;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let commit = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(folder).output();
    let Some(commit) = commit.ok().filter(|output| output.status.success()) else {
        return Ok(WITHOUT_HISTORY);
    };
    let id = String::from_utf8(commit.stdout)?;
    u64::from_str_radix(id.get(..8).context("a commit's id")?, 16).context("a commit's id is hexadecimal")
}
