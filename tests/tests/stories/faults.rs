//! Money under faults, in the short form: each named step of a live order is met once, with whatever the seed draws for it.
//! `make test-faults` is the long form.

use waybill_tests::faults::{Campaign, Tally};

/// Any would do; the same one makes the same draws.
const SEED: u64 = 20_261_121;

#[tokio::test(flavor = "multi_thread")]
async fn every_paisa_is_accounted_for_whatever_dies_at_whichever_step() -> anyhow::Result<()> {
    let campaign = Campaign::start(SEED).await?;
    let mut total = Tally::default();
    for number in 0..campaign.rounds_for_all_steps() {
        total.add(&campaign.round(number).await?);
    }
    assert!(total.kills > 0 && total.placed > 0 && total.refused > 0 && total.refunded > 0, "{total}");
    assert!(total.harms > 3 * total.missed, "{total}: {:?}", total.steps);
    campaign.end().await
}
