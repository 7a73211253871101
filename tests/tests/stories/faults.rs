//! A short fault test: one round, another for each commit. `make test-faults` is the long form.

use std::path::Path;
use std::process::Command;

use anyhow::Context;
use waybill_tests::faults::Campaign;

/// The first rounds with random faults and one dispatcher; their steps differ.
const ROUNDS: [u64; 7] = [0, 3, 6, 9, 12, 15, 18];

#[tokio::test(flavor = "multi_thread")]
async fn every_paisa_is_accounted_for_after_any_fault_at_any_step() -> anyhow::Result<()> {
    let seed = seed()?;
    println!("seed {seed}: `test-faults --seed {seed}` repeats this round");
    let campaign = Campaign::start(seed).await?;
    let number = ROUNDS[usize::try_from(seed % 7)?];
    let total = campaign.round(number).await?;
    assert!(total.harms > 0 && total.placed > 0, "{total}: {:?}", total.steps);
    campaign.end().await
}

/// The seed is the start of the commit's id: each commit gets other faults, and a failure can be repeated. Without a
/// git history, as in a source archive, the seed is constant.
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
