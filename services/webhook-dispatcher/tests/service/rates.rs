//! Rate limits: those of owners and the operator's, with two instances on one database.

use domain::{Clock, EventKind, Mode};
use internal_api::webhooks::DeliveryState;
use serde_json::json;
use test_kit::{eventually, until};

use crate::harness::{Harness, retries, run};
use crate::receiver::{Receiver, reply};

/// What an owner wants, and the most that the operator sends to an endpoint.
const OWNERS: u32 = 8;
const OPERATORS: u32 = 10;
const ORDERS: usize = 24;
const REPLAYS: usize = 8;

#[tokio::test]
async fn two_instances_share_the_rates_of_first_attempts_retries_and_replays() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.retry_seconds = retries(&["0.2"; 40].join(","));
        settings.webhooks.per_second = OPERATORS;
    };
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let (_, other) = run(&harness.settings, &harness.clock, &harness.entropy);
    let counted = "dispatchers WHERE counts_from < clock_timestamp()";
    until("both instances count", async || harness.count(counted).await == 2).await;

    let receiver = || Receiver::start(|_, before| reply(if before % 4 == 3 { 500 } else { 200 }));
    let (owners, operators) = (receiver(), receiver());
    let endpoints = [
        harness.create(json!({ "url": owners.url(), "maxPerSecond": OWNERS })).await,
        harness.create(json!({ "url": operators.url() })).await,
    ];
    let created = |_| harness.envelope(&harness.new_order(Mode::Live), 1, EventKind::OrderCreated);
    harness.publish(&Vec::from_iter((0..ORDERS).map(created))).await;
    for endpoint in &endpoints {
        let succeeded = eventually("some have succeeded", async || {
            let log = harness.deliveries(endpoint).await;
            let ids = log.into_iter().filter(|one| one.status == DeliveryState::Succeeded).map(|one| one.id);
            let ids = Vec::from_iter(ids.take(REPLAYS));
            (ids.len() == REPLAYS).then_some(ids)
        });
        for id in succeeded.await {
            harness.hooks.redeliver(harness.business, &id.to_string()).await.expect("it is sent again");
        }
    }
    // A quarter of all attempts fails and is repeated.
    let all = (ORDERS + REPLAYS) * 4 / 3;
    until("all have arrived", async || owners.count() >= all && operators.count() >= all).await;
    other.abort();

    // One webhook of each instance at the edge of the interval.
    assert_keeps_to_the_rate(&owners, OWNERS, 2.0);
    assert_keeps_to_the_rate(&operators, OPERATORS, 2.0);
}

/// A second's worth at once.
fn assert_keeps_to_the_rate(receiver: &Receiver, per_second: u32, at_the_edge: f64) {
    let times = Vec::from_iter(receiver.received().iter().map(|one| one.at));
    for (first, since) in times.iter().enumerate() {
        for (count, at) in (1_u32..).zip(&times[first..]) {
            let within = (*at - *since).as_secs_f64();
            let most = f64::from(per_second) * (1.0 + within) + at_the_edge;
            assert!(f64::from(count) <= most, "{count} within {within:.2} s: {times:?}");
        }
    }
}

/// An instance that takes over an endpoint has no tokens at first.
#[tokio::test]
async fn a_rate_holds_while_three_of_five_instances_are_killed() {
    const PER_SECOND: u32 = 10;
    const INSTANCES: i64 = 5;
    const EVENTS: usize = 30;
    let harness = Harness::start().await;
    let other = |_| run(&harness.settings, &harness.clock, &harness.entropy).1;
    let others = Vec::from_iter((1..INSTANCES).map(other));
    let counted = "dispatchers WHERE counts_from < clock_timestamp()";
    until("all instances count", async || harness.count(counted).await == INSTANCES).await;
    // So many that some prefer an instance that is killed.
    let receivers = Vec::from_iter((0..8).map(|_| Receiver::kind()));
    for receiver in &receivers {
        harness.create(json!({ "url": receiver.url(), "maxPerSecond": PER_SECOND })).await;
    }
    let created = |_| harness.envelope(&harness.new_order(Mode::Live), 1, EventKind::OrderCreated);
    harness.publish(&Vec::from_iter((0..EVENTS).map(created))).await;
    let have = |count: usize| receivers.iter().all(|receiver| receiver.count() >= count);
    until("a third has arrived", async || have(EVENTS / 3)).await;
    others[..3].iter().for_each(|killed| killed.abort());
    until("all have arrived", async || have(EVENTS)).await;
    receivers.iter().for_each(|receiver| assert_keeps_to_the_rate(receiver, PER_SECOND, INSTANCES as f64));
    others.iter().for_each(|other| other.abort());
}
