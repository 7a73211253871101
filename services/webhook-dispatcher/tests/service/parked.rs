//! Parked deliveries block later events of their order until the owner decides.

use std::collections::BTreeSet;

use domain::{Clock, Mode};
use internal_api::webhooks::{CreatedEndpoint, DeliveryState};
use serde_json::json;
use test_kit::until;

use crate::harness::{Harness, LIFE, TestOrder};
use crate::receiver::{Receiver, reply};

/// An endpoint that answered 410 once and accepts everything since.
async fn disabled(sweep_seconds: f64) -> (Harness, Receiver, CreatedEndpoint) {
    let adjust =
        |settings: &mut webhook_dispatcher::Settings| settings.webhooks.sweep_seconds = sweep_seconds;
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let receiver = Receiver::start(|_, before| reply(if before == 0 { 410 } else { 200 }));
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it is disabled", async || harness.view(&endpoint).await.trouble.is_some()).await;
    (harness, receiver, endpoint)
}

/// An endpoint that was disabled and works again. Some events of an order are parked, and the next one waits behind
/// them.
async fn with_one_behind(parked: usize) -> (Harness, Receiver, CreatedEndpoint, TestOrder) {
    let (harness, receiver, endpoint) = disabled(0.2).await;
    let order = harness.new_order(Mode::Live);
    let events: Vec<_> =
        (1..).zip(LIFE).map(|(sequence, kind)| harness.envelope(&order, sequence, kind)).collect();
    harness.publish(&events[..parked]).await;
    let all_parked = vec![DeliveryState::Parked; parked];
    until("they are parked", async || of_order(&harness, &endpoint, &order).await == all_parked).await;
    harness.patch(&endpoint, json!({"status": "active"})).await;

    harness.publish(&events[parked..=parked]).await;
    let other = harness.new_order(Mode::Live);
    until("it is there", async || of_order(&harness, &endpoint, &order).await.len() == parked + 1).await;
    harness.publish_created(&other).await;
    until("another order goes on", async || receiver.sequences(&other.reference) == [1]).await;
    assert!(receiver.sequences(&order.reference).is_empty(), "it waits behind parked deliveries");
    (harness, receiver, endpoint, order)
}

async fn of_order(harness: &Harness, endpoint: &CreatedEndpoint, order: &TestOrder) -> Vec<DeliveryState> {
    let log = harness.deliveries(endpoint).await;
    let of_order = log.iter().filter(|one| one.order_reference.as_deref() == Some(&order.reference));
    of_order.map(|one| one.status).collect()
}

#[tokio::test]
async fn replayed_deliveries_come_before_later_ones() {
    let (harness, receiver, endpoint, order) = with_one_behind(3).await;
    let id = endpoint.view.id.to_string();
    harness.hooks.decide_parked(harness.business, &id, "replay").await.expect("accepted");
    until("all arrive", async || receiver.sequences(&order.reference) == [1, 2, 3, 4]).await;
}

#[tokio::test]
async fn discarded_deliveries_block_nothing() {
    let (harness, receiver, endpoint, order) = with_one_behind(2).await;
    let id = endpoint.view.id.to_string();
    harness.hooks.decide_parked(harness.business, &id, "discard").await.expect("accepted");
    until("the next arrives", async || receiver.sequences(&order.reference) == [3]).await;
}

#[tokio::test]
async fn redelivered_deliveries_block_nothing() {
    let (harness, receiver, endpoint, order) = with_one_behind(1).await;
    let log = harness.deliveries(&endpoint).await;
    let parked = |one: &&internal_api::webhooks::DeliveryView| {
        one.status == DeliveryState::Parked && one.order_reference.as_deref() == Some(&order.reference)
    };
    let parked = log.iter().find(parked).expect("it is parked");
    harness.hooks.redeliver(harness.business, &parked.id.to_string()).await.expect("accepted");
    let arrived = || receiver.sequences(&order.reference).into_iter().collect::<BTreeSet<_>>();
    until("both arrive", async || arrived() == BTreeSet::from([1, 2])).await;
}

/// The sweeper may not have run yet.
#[tokio::test]
async fn pending_deliveries_are_parked_at_the_latest_when_the_endpoint_is_enabled() {
    let (harness, receiver, endpoint) = disabled(60.0).await;
    let order = harness.new_order(Mode::Live);
    harness.publish_created(&order).await;
    until("one waits", async || of_order(&harness, &endpoint, &order).await == [DeliveryState::Pending])
        .await;
    harness.patch(&endpoint, json!({"status": "active"})).await;
    assert_eq!(of_order(&harness, &endpoint, &order).await, [DeliveryState::Parked]);
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("what is new goes on", async || receiver.count() == 2).await;
    assert!(receiver.sequences(&order.reference).is_empty(), "its owner has not decided");
}
