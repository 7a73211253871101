//! Outcomes that cannot be stored in full.

use diesel_async::SimpleAsyncConnection;
use domain::{Clock, Mode};
use test_kit::until;

use crate::harness::{Harness, LIFE, retries};
use crate::receiver::{Receiver, reply};

/// Otherwise the webhook would be repeated forever, whenever its lease expires.
#[tokio::test]
async fn an_attempt_that_cannot_be_stored_is_counted() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.retry_seconds = retries("0.1,0.1");
    };
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let (kind, broken) = (Receiver::kind(), Receiver::start(|_, _| reply(500)));
    harness.endpoint(&kind).await;
    let second = harness.endpoint(&broken).await;
    let nothing_fits = "ALTER TABLE attempts ADD CONSTRAINT nothing_fits CHECK (false) NOT VALID";
    harness.connection().await.batch_execute(nothing_fits).await.unwrap();
    let order = harness.new_order(Mode::Live);
    for (sequence, event) in (1..=2).zip(LIFE) {
        harness.publish(&[harness.envelope(&order, sequence, event)]).await;
    }
    let count = async |condition: &str| harness.count(&format!("deliveries WHERE {condition}")).await;
    until("what was received has succeeded", async || {
        count("state = 'succeeded' AND attempts = 1").await == 2
    })
    .await;
    until("what was refused has failed", async || count("state = 'failed' AND attempts = 3").await == 2)
        .await;
    assert_eq!(kind.sequences(&order.reference), [1, 2], "each is sent once, in its turn");
    assert_eq!(broken.sequences(&order.reference), [1, 1, 1, 2, 2, 2]);
    let latest = harness.deliveries(&second).await.remove(0);
    assert!(latest.last_error.is_some_and(|error| error.contains("could not be stored")));
}
