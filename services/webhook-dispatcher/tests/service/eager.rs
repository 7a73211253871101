//! Webhooks that are sent before they are stored.

use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use domain::Mode;
use serde_json::json;
use test_kit::until;

use crate::harness::{Harness, LIFE, client};
use crate::process::{command, start};
use crate::receiver::Receiver;

/// Until it ends, events can be looked up and not stored.
struct Blockade(AsyncPgConnection);

impl Blockade {
    async fn start(harness: &Harness) -> Self {
        let mut conn = harness.connection().await;
        conn.batch_execute("BEGIN; LOCK TABLE events IN EXCLUSIVE MODE").await.expect("a lock");
        Self(conn)
    }

    async fn end(mut self) {
        self.0.batch_execute("ROLLBACK").await.expect("the end of the lock");
    }
}

#[tokio::test]
async fn an_event_is_sent_before_it_is_stored_and_then_stored_with_its_outcome() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let blockade = Blockade::start(&harness).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it arrives", async || receiver.count() == 1).await;
    assert_eq!(harness.count("deliveries").await, 0);
    blockade.end().await;
    until("it is stored", async || harness.succeeded(&endpoint).await).await;
    let delivery = harness.deliveries(&endpoint).await.remove(0);
    assert_eq!((delivery.attempts, delivery.last_response_status), (1, Some(200)));
    assert_eq!(harness.details(&delivery).await.attempt_log.len(), 1);
    assert_eq!(receiver.count(), 1);
}

#[tokio::test]
async fn an_event_that_may_be_a_repetition_is_stored_before_it_is_sent() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    let [repeated, new] = [(); 2].map(|()| harness.new_order(Mode::Live));
    let blockade = Blockade::start(&harness).await;
    harness.publish_again(&[harness.envelope(&repeated, 1, LIFE[0])]).await;
    harness.publish_created(&new).await;
    until("the new one arrives", async || receiver.sequences(&new.reference) == [1]).await;
    assert!(receiver.sequences(&repeated.reference).is_empty());
    blockade.end().await;
    until("the other arrives", async || receiver.sequences(&repeated.reference) == [1]).await;
}

#[tokio::test]
async fn the_next_event_of_an_order_leaves_after_the_outcome_of_the_one_before_is_stored() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let [order, other] = [(); 2].map(|()| harness.new_order(Mode::Live));
    let blockade = Blockade::start(&harness).await;
    let events: Vec<_> = (1..=3).zip(LIFE).map(|(nth, kind)| harness.envelope(&order, nth, kind)).collect();
    harness.publish(&events).await;
    until("the first arrives", async || receiver.sequences(&order.reference) == [1]).await;
    harness.publish_created(&other).await;
    until("another order does not wait", async || receiver.sequences(&other.reference) == [1]).await;
    assert_eq!(receiver.sequences(&order.reference), [1]);
    blockade.end().await;
    until("all arrive", async || receiver.sequences(&order.reference) == [1, 2, 3]).await;
    until("all are stored", async || harness.count("deliveries WHERE state = 'succeeded'").await == 4).await;
    assert_eq!(harness.deliveries(&endpoint).await.len(), 4);
}

/// The process is killed between the webhook and the transaction.
#[tokio::test]
async fn a_sent_event_that_was_not_stored_is_sent_again() {
    let mut harness = Harness::start().await;
    harness.crash().await;
    let receiver = Receiver::kind();
    let (mut program, internal, _) = start(&mut command(&harness, "serve"));
    let hooks = client(&internal, &harness.settings.internal.token);
    hooks.create(harness.business, &json!({ "url": receiver.url() })).await.expect("an endpoint");
    let order = harness.new_order(Mode::Live);
    let blockade = Blockade::start(&harness).await;
    harness.publish_created(&order).await;
    until("it arrives", async || receiver.count() == 1).await;
    program.kill();
    blockade.end().await;
    let _program = start(&mut command(&harness, "serve"));
    until("it arrives again", async || receiver.sequences(&order.reference) == [1, 1]).await;
    harness.publish(&[harness.envelope(&order, 2, LIFE[1])]).await;
    until("the next one follows", async || receiver.sequences(&order.reference) == [1, 1, 2]).await;
    let ids: Vec<_> = receiver.received().iter().map(|received| received.id()).collect();
    assert_eq!(ids[0], ids[1], "receivers recognise the repetition");
}

/// A failed attempt is stored with its retry, and the next event of the order waits for that.
#[tokio::test]
async fn a_failed_event_is_retried() {
    let harness = Harness::start().await;
    let receiver = Receiver::start(|_, before| crate::receiver::reply(if before == 0 { 500 } else { 200 }));
    let endpoint = harness.endpoint(&receiver).await;
    let order = harness.new_order(Mode::Live);
    let blockade = Blockade::start(&harness).await;
    let events: Vec<_> = (1..=2).zip(LIFE).map(|(nth, kind)| harness.envelope(&order, nth, kind)).collect();
    harness.publish(&events).await;
    until("it fails", async || receiver.count() == 1).await;
    blockade.end().await;
    until("both arrive", async || receiver.sequences(&order.reference) == [1, 1, 2]).await;
    until("all is stored", async || harness.count("deliveries WHERE state = 'succeeded'").await == 2).await;
    let first = harness.deliveries(&endpoint).await.into_iter().find(|one| one.attempts == 2);
    assert_eq!(harness.details(&first.expect("two attempts")).await.attempt_log.len(), 2);
}
