//! An order's events arrive in sequence, in whatever order the broker delivers them.

use domain::{EventId, EventKind, Mode};
use events::{Body, Envelope, WalletLowBalance};
use serde_json::json;
use test_kit::until;

use crate::harness::{Harness, LIFE};
use crate::receiver::{Receiver, reply};

#[tokio::test]
async fn an_early_event_waits_for_the_missing_one() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    let order = harness.new_order(Mode::Live);
    let second = harness.envelope(&order, 2, EventKind::DriverAssigned);
    harness.publish(&[second]).await;

    // Another order's event overtakes it, so it was not merely slow.
    let other = harness.new_order(Mode::Live);
    harness.publish_created(&other).await;
    until("the other order's event arrives", async || !receiver.sequences(&other.reference).is_empty()).await;
    assert!(receiver.sequences(&order.reference).is_empty());

    harness.publish_created(&order).await;
    until("both arrive", async || receiver.sequences(&order.reference) == [1, 2]).await;
}

#[tokio::test]
async fn a_failing_head_delays_its_own_order_alone_and_lets_it_go_on_at_last() {
    let harness = Harness::start().await;
    let poison = harness.new_order(Mode::Live);
    let reference = poison.reference.clone();
    let receiver = Receiver::start(move |received, _| {
        let poisonous = received.reference() == reference && received.sequence() == 2;
        reply(if poisonous { 500 } else { 200 })
    });
    let endpoint = harness.endpoint(&receiver).await;
    for (sequence, kind) in (1..=3).zip(LIFE) {
        harness.publish(&[harness.envelope(&poison, sequence, kind)]).await;
    }
    let healthy = harness.new_order(Mode::Live);
    for (sequence, kind) in (1..=3).zip(LIFE) {
        harness.publish(&[harness.envelope(&healthy, sequence, kind)]).await;
    }
    until("the healthy order is through", async || receiver.sequences(&healthy.reference) == [1, 2, 3]).await;
    until("the other goes on at last", async || receiver.sequences(&poison.reference).last() == Some(&3))
        .await;
    // One attempt and six retries of the second, and only then the third.
    assert_eq!(receiver.sequences(&poison.reference), [1, 2, 2, 2, 2, 2, 2, 2, 3]);

    let log = harness.deliveries(&endpoint).await;
    let failed =
        log.iter().find(|one| one.event_id.to_string() == receiver_id(&receiver, &poison.reference, 2));
    let failed = failed.expect("the poisonous delivery is logged");
    assert_eq!(failed.status.to_string(), "failed");
    assert_eq!(failed.attempts, 7);
    assert_eq!(failed.next_attempt_at, None);
    assert!(failed.last_error.as_deref().unwrap().contains("500"));
}

fn receiver_id(receiver: &Receiver, reference: &str, sequence: i64) -> String {
    let all = receiver.received();
    let found = all.iter().find(|one| one.reference() == reference && one.sequence() == sequence);
    found.expect("it arrived").id()
}

#[tokio::test]
async fn subscriptions_and_modes_select_the_events() {
    let harness = Harness::start().await;
    let (usual, picky, live_only) = (Receiver::kind(), Receiver::kind(), Receiver::kind());
    harness.endpoint(&usual).await;
    let events = ["order.delivered", "order.returned", "wallet.low_balance"];
    harness.create(json!({"url": picky.url(), "events": events})).await;
    harness.create(json!({"url": live_only.url(), "modes": ["live"]})).await;

    let (live, test) = (harness.new_order(Mode::Live), harness.new_order(Mode::Test));
    harness.publish_created(&live).await;
    harness.publish_created(&test).await;
    harness.publish(&[harness.envelope(&live, 2, EventKind::DriverUnassigned)]).await;
    harness.publish(&[harness.envelope(&live, 3, EventKind::OrderReturned)]).await;
    harness.publish(&[harness.envelope(&live, 4, EventKind::OrderDelivered)]).await;
    let low = Envelope {
        id: EventId::generate(&harness.clock, &harness.entropy),
        business_id: harness.business,
        occurred_at: harness.clock.now(),
        body: Body::WalletLowBalance(WalletLowBalance {
            balance_paise: domain::Paise::new(10),
            threshold_paise: domain::Paise::new(100),
        }),
    };
    harness.publish(std::slice::from_ref(&low)).await;

    until("all are told", async || usual.count() == 3 && picky.count() == 3 && live_only.count() == 2).await;
    // Events without a subscription leave no gap in the queue.
    assert_eq!(usual.sequences(&live.reference), [1, 4]);
    assert_eq!(usual.sequences(&test.reference), [1]);
    assert_eq!(live_only.sequences(&live.reference), [1, 4]);
    assert_eq!(picky.sequences(&live.reference), [3, 4]);
    let low_balance = picky.received().into_iter().find(|one| one.id() == low.id.to_string()).unwrap().json();
    assert_eq!(low_balance["order"], json!(null));
    assert_eq!(low_balance["data"], json!({"balancePaise": 10, "thresholdPaise": 100}));
}

#[tokio::test]
async fn an_unsubscribed_event_in_the_middle_of_a_queue_is_discarded() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    harness.patch(&endpoint, json!({"status": "paused"})).await;
    let order = harness.new_order(Mode::Live);
    for (sequence, kind) in (1..=4).zip(LIFE) {
        harness.publish(&[harness.envelope(&order, sequence, kind)]).await;
    }
    until("all are queued", async || harness.deliveries(&endpoint).await.len() == 4).await;
    let wanted = ["driver.assigned", "order.out_for_delivery"];
    harness.patch(&endpoint, json!({"events": wanted, "status": "active"})).await;
    until("the wanted ones arrive", async || receiver.sequences(&order.reference) == [2, 4]).await;
    until("the others are called off", async || {
        let log = harness.deliveries(&endpoint).await;
        log.iter().filter(|one| one.status.to_string() == "discarded").count() == 2
    })
    .await;
}
