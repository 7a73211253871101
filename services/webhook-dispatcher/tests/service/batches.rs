//! Events are accepted in batches; each event still has its own outcome.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Clock, Mode};
use events::Envelope;
use test_kit::until;

use crate::harness::{Harness, LIFE, TestOrder, run};
use crate::receiver::{Receiver, reply};

fn lives(harness: &Harness, orders: &[TestOrder]) -> Vec<Envelope> {
    let of_order =
        |order| (1..).zip(LIFE).map(move |(sequence, kind)| harness.envelope(order, sequence, kind));
    orders.iter().flat_map(of_order).collect()
}

fn shuffle(harness: &Harness, envelopes: &mut [Envelope]) {
    for index in (1..envelopes.len()).rev() {
        envelopes.swap(index, harness.entropy.below(u32::try_from(index).unwrap() + 1) as usize);
    }
}

/// PostgreSQL texts cannot contain NUL, so this event cannot be stored.
#[tokio::test]
async fn a_poisonous_event_fails_alone() {
    let mut harness = Harness::start().await;
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    let orders: Vec<_> = (0..20).map(|_| harness.new_order(Mode::Live)).collect();
    let mut envelopes = lives(&harness, &orders);
    let mut poisonous = harness.new_order(Mode::Live);
    poisonous.reference = "a\0b".into();
    envelopes.insert(70, harness.envelope(&poisonous, 1, LIFE[0]));
    // Another business claims an order that is ours.
    let mut foreign = harness.envelope(&orders[0], 9, LIFE[7]);
    foreign.business_id = harness.new_business();
    envelopes.push(foreign);
    // Published before the service starts, so that they arrive together.
    harness.crash().await;
    harness.publish(&envelopes).await;
    harness.restart();
    let arrived = |order: &TestOrder| receiver.sequences(&order.reference).len() == 8;
    until("the others arrive", async || orders.iter().all(arrived)).await;
    until("both go to the dead letters", async || harness.dead_letters().await == 2).await;
    for order in &orders {
        assert_eq!(receiver.sequences(&order.reference), (1..=8).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn too_many_early_events_are_refused_and_those_held_back_are_kept() {
    let mut harness = Harness::start().await;
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    let order = harness.new_order(Mode::Live);
    let kind = LIFE[1];
    let early: Vec<_> = (2..=211).map(|sequence| harness.envelope(&order, sequence, kind)).collect();
    harness.crash().await;
    harness.publish(&early).await;
    harness.restart();
    until("ten go to the dead letters", async || harness.dead_letters().await == 10).await;
    until("the others wait", async || harness.count("held_back_events").await == 200).await;
    harness.publish_created(&order).await;
    let queued = async || harness.count("deliveries").await;
    until("those that waited behind it are queued", async || queued().await > 1).await;
    assert_eq!(harness.count("held_back_events").await, 200 - (queued().await - 1));
}

#[tokio::test]
async fn an_event_that_comes_twice_in_a_batch_counts_once() {
    let mut harness = Harness::start().await;
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    let orders: Vec<_> = (0..10).map(|_| harness.new_order(Mode::Live)).collect();
    let envelopes = lives(&harness, &orders);
    harness.crash().await;
    for envelope in &envelopes {
        harness.publish(std::slice::from_ref(envelope)).await;
        harness.publish_again(std::slice::from_ref(envelope)).await;
    }
    let last = harness.new_order(Mode::Live);
    harness.publish_created(&last).await;
    harness.restart();
    until("the last arrives", async || receiver.sequences(&last.reference) == [1]).await;
    until("all arrive", async || receiver.count() > envelopes.len()).await;
    until("all are stored", async || harness.count("deliveries").await >= 81).await;
    assert_eq!(harness.count("deliveries").await, 81);
    assert_eq!(harness.count("deliveries WHERE attempts > 1").await, 0);
    for order in &orders {
        assert_eq!(receiver.sequences(&order.reference), (1..=8).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn two_instances_share_shuffled_and_repeated_events() {
    let mut harness = Harness::start().await;
    let receivers =
        [Receiver::kind(), Receiver::start(|_, before| reply(if before % 9 == 4 { 500 } else { 200 }))];
    for receiver in &receivers {
        harness.endpoint(receiver).await;
    }
    let orders: Vec<_> = (0..60).map(|_| harness.new_order(Mode::Live)).collect();
    let once = lives(&harness, &orders);
    let mut envelopes = once.clone();
    shuffle(&harness, &mut envelopes);
    harness.crash().await;
    harness.publish(&envelopes).await;
    shuffle(&harness, &mut envelopes);
    harness.publish_again(&envelopes).await;
    harness.restart();
    let (_, second) = run(&harness.settings, &Clock::system(), &harness.entropy);
    let arrived =
        |receiver: &Receiver| receiver.received().iter().map(|one| one.id()).collect::<BTreeSet<_>>().len();
    until("all arrive", async || receivers.iter().all(|receiver| arrived(receiver) == once.len())).await;
    for order in &orders {
        for receiver in &receivers {
            let mut sequences = receiver.sequences(&order.reference);
            sequences.dedup();
            assert_eq!(sequences, (1..=8).collect::<Vec<_>>(), "{}", order.reference);
        }
    }
    assert_eq!(harness.count("deliveries").await, 960);
    assert_eq!(harness.count("events").await, 480);
    assert_eq!(harness.count("held_back_events").await, 0);
    assert_eq!(harness.count("order_streams WHERE next_sequence = 9").await, 60);
    second.abort();
}

/// The service dies between commit and acknowledgement: the broker delivers the same messages again.
#[tokio::test]
async fn a_repeated_message_after_a_crash_is_harmless() {
    let mut harness = Harness::start().await;
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    let orders: Vec<_> = (0..20).map(|_| harness.new_order(Mode::Live)).collect();
    let envelopes = lives(&harness, &orders);
    harness.publish(&envelopes).await;
    until("all arrive", async || receiver.count() == envelopes.len()).await;
    // Webhooks without a recorded outcome are repeated after the crash.
    let succeeded = "deliveries WHERE state = 'succeeded'";
    until("all are known to have arrived", async || harness.count(succeeded).await == 160).await;
    harness.crash_and_restart().await;
    let mut again = envelopes.clone();
    shuffle(&harness, &mut again);
    let last = harness.new_order(Mode::Live);
    again.push(harness.envelope(&last, 1, LIFE[0]));
    harness.publish(&again).await;
    until("the last arrives", async || receiver.sequences(&last.reference) == [1]).await;
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for received in receiver.received() {
        *times.entry(received.id()).or_default() += 1;
    }
    assert_eq!(times.len(), 161);
    assert!(times.values().all(|times| *times == 1), "{times:?}");
}

/// The log and recoveries sort by id.
#[tokio::test]
async fn the_ids_of_an_order_s_deliveries_rise_with_its_events() {
    let mut harness = Harness::start().await;
    harness.endpoint(&Receiver::kind()).await;
    harness.endpoint(&Receiver::kind()).await;
    let orders: Vec<_> = (0..10).map(|_| harness.new_order(Mode::Live)).collect();
    let mut envelopes = lives(&harness, &orders);
    shuffle(&harness, &mut envelopes);
    harness.crash().await;
    harness.publish(&envelopes).await;
    harness.restart();
    until("all are there", async || harness.count("deliveries").await == 160).await;
    let earlier =
        "(SELECT sequence - lag(sequence) OVER (PARTITION BY endpoint_id, order_id ORDER BY id) AS step
        FROM deliveries) AS steps WHERE step <> 1";
    assert_eq!(harness.count(earlier).await, 0);
}
