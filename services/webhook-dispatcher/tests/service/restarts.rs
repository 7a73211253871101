//! Nothing is lost when the service goes away in the middle.

use std::collections::BTreeSet;
use std::time::Duration;

use diesel_async::RunQueryDsl;
use domain::{Clock, Mode};
use test_kit::until;

use crate::harness::{Harness, LIFE};
use crate::receiver::{Receiver, reply};

#[tokio::test]
async fn a_crash_in_the_middle_loses_nothing_and_keeps_the_order() {
    let mut harness = Harness::start().await;
    let receiver = Receiver::start(|_, _| {
        let mut reply = reply(200);
        reply.after = Duration::from_millis(5);
        reply
    });
    harness.endpoint(&receiver).await;
    let orders: Vec<_> = (0..30).map(|_| harness.new_order(Mode::Live)).collect();
    let envelopes: Vec<_> = (1..)
        .zip(LIFE)
        .flat_map(|(sequence, kind)| orders.iter().map(move |order| (order, sequence, kind)))
        .map(|(order, sequence, kind)| harness.envelope(order, sequence, kind))
        .collect();
    for (round, chunk) in envelopes.chunks(60).enumerate() {
        harness.publish(chunk).await;
        let seen = receiver.count();
        until("the work has begun", async || receiver.count() > seen || receiver.count() >= 60 * round).await;
        harness.crash_and_restart().await;
    }
    let arrived = || receiver.received().iter().map(|one| one.id()).collect::<BTreeSet<_>>().len();
    until("all events arrive", async || arrived() == envelopes.len()).await;
    for order in &orders {
        let mut sequences = receiver.sequences(&order.reference);
        // What was under way in a crash may come twice, but nothing overtakes it.
        sequences.dedup();
        assert_eq!(sequences, (1..=8).collect::<Vec<_>>(), "{}", order.reference);
    }
}

#[tokio::test]
async fn events_wait_in_the_broker_while_the_service_is_away() {
    let mut harness = Harness::start().await;
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    let before = harness.new_order(Mode::Live);
    harness.publish_created(&before).await;
    until("the first arrives", async || receiver.count() == 1).await;
    harness.crash().await;
    let order = harness.new_order(Mode::Test);
    for (sequence, kind) in (1..=3).zip(LIFE) {
        harness.publish(&[harness.envelope(&order, sequence, kind)]).await;
    }
    assert_eq!(receiver.count(), 1);
    // A test order's events and a live order's come by different bindings of one queue.
    let (internal, running) = crate::harness::run(&harness.settings, &harness.clock, &harness.entropy);
    until("all arrive", async || receiver.sequences(&order.reference) == [1, 2, 3]).await;
    drop(internal);
    running.abort();
}

/// A sender that was thought dead comes back: what it has to say is not heard any more.
#[tokio::test]
async fn an_outcome_is_written_by_whoever_holds_the_lease() {
    let harness = Harness::start().await;
    let receiver = Receiver::start(|_, before| {
        let mut reply = reply(if before == 0 { 500 } else { 200 });
        reply.after = Duration::from_millis(if before == 0 { 1_500 } else { 0 });
        reply
    });
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("the first attempt is under way", async || receiver.count() == 1).await;
    // Another sender takes the delivery over, and gives it back.
    let mut conn = harness.connection().await;
    let taken = diesel::sql_query(
        "UPDATE deliveries SET lease_token = lease_token + 1, lease_until = now() + interval '2 s'",
    );
    assert_eq!(taken.execute(&mut conn).await.unwrap(), 1);
    until("it is sent again", async || receiver.count() == 2).await;
    until("that attempt counts", async || harness.succeeded(&endpoint).await).await;
    let delivery = harness.deliveries(&endpoint).await.remove(0);
    assert_eq!(delivery.attempts, 1, "the first attempt's outcome was refused");
    let statuses: Vec<_> =
        harness.details(&delivery).await.attempt_log.iter().map(|one| one.response_status).collect();
    assert_eq!(statuses, [Some(200)]);
}

/// An attempt that takes longer than a lease runs is not taken over while its sender lives.
#[tokio::test]
async fn a_slow_answer_is_waited_for_and_not_asked_for_twice() {
    let harness =
        Harness::start_with(|settings| settings.webhooks.timeout_seconds = 20.0, Clock::system()).await;
    let (_, second) = crate::harness::run(&harness.settings, &harness.clock, &harness.entropy);
    let receiver = Receiver::start(|_, _| {
        let mut reply = reply(200);
        reply.after = Duration::from_secs(9);
        reply
    });
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it succeeds", async || harness.succeeded(&endpoint).await).await;
    assert_eq!(receiver.count(), 1);
    second.abort();
}
