//! One bad endpoint or busy business does not delay others.

use std::time::Duration;

use diesel_async::SimpleAsyncConnection;
use domain::{Clock, Mode};
use serde_json::json;
use test_kit::until;

use crate::harness::{Harness, LIFE, TestOrder};
use crate::receiver::{Latch, Receiver, reply};

#[tokio::test]
async fn a_hung_endpoint_delays_nobody_else() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.concurrency = 8;
        settings.webhooks.per_endpoint = 2;
        settings.webhooks.timeout_seconds = 600.0;
    };
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let hung = Receiver::start(|_, _| {
        let mut reply = reply(200);
        reply.after = Duration::from_secs(600);
        reply
    });
    let healthy = Receiver::kind();
    harness.endpoint(&hung).await;
    // Far more than its share waits for the hung one before the healthy one's first event.
    let backlog: Vec<_> = (0..30)
        .map(|_| harness.envelope(&harness.new_order(Mode::Live), 1, domain::EventKind::OrderCreated))
        .collect();
    harness.publish(&backlog).await;
    until("the hung endpoint has its share", async || hung.count() == 2).await;

    harness.create(json!({"url": healthy.url(), "events": ["order.delivered"]})).await;
    let deliveries: Vec<_> = (0..30)
        .map(|_| harness.envelope(&harness.new_order(Mode::Live), 1, domain::EventKind::OrderDelivered))
        .collect();
    harness.publish(&deliveries).await;
    until("the healthy one has all", async || healthy.count() == 30).await;
    assert_eq!(hung.count(), 2, "its first two are still unanswered, and it got no more than its share");
}

/// Accounts and their test orders are free of charge.
#[tokio::test]
async fn free_accounts_that_answer_late_leave_room_for_others() {
    // Half of the slots are for tests. While no attempt ends, each account takes half of the rest: 16, 8, 4, 2.
    const PLACES: usize = 64;
    const ACCOUNTS: usize = 4;
    const ENDPOINTS: usize = 5;
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.concurrency = PLACES;
        settings.webhooks.per_endpoint = PLACES;
        settings.webhooks.timeout_seconds = 600.0;
    };
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let latch = Latch::closed();
    let held = latch.clone();
    let late = Receiver::start(move |_, _| {
        let mut reply = reply(200);
        reply.held = Some(held.clone());
        reply
    });
    let order = |business, mode| TestOrder { business, ..harness.new_order(mode) };
    let created = |order: &TestOrder| harness.envelope(order, 1, LIFE[0]);
    let mut backlog = Vec::new();
    for _ in 0..ACCOUNTS {
        let account = harness.new_business();
        for _ in 0..ENDPOINTS {
            let created = harness.hooks.create(account, &json!({"url": late.url()})).await;
            created.expect("an endpoint");
        }
        backlog.extend((0..8).map(|_| created(&order(account, Mode::Test))));
    }
    harness.publish(&backlog).await;
    let all = i64::try_from(ACCOUNTS * ENDPOINTS * 8).unwrap();
    until("all of theirs waits", async || harness.count("deliveries").await == all).await;
    until("some of it is sent", async || late.count() >= ACCOUNTS).await;

    let (live, test) = (Receiver::kind(), Receiver::kind());
    for (receiver, mode) in [(&live, Mode::Live), (&test, Mode::Test)] {
        let business = harness.new_business();
        harness.hooks.create(business, &json!({"url": receiver.url()})).await.expect("an endpoint");
        harness.publish(&Vec::from_iter((0..20).map(|_| created(&order(business, mode))))).await;
    }
    until("live events and others' tests arrive", async || (live.count(), test.count()) == (20, 20)).await;
    assert!(late.count() < PLACES / 2, "{} of {PLACES} places are held", late.count());
    latch.open();
    until("nothing is lost", async || late.count() == backlog.len() * ENDPOINTS).await;
}

/// A business whose tests use all their slots still gets its live events.
#[tokio::test]
async fn a_live_event_passes_waiting_tests() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.concurrency = 8;
        settings.webhooks.timeout_seconds = 600.0;
    };
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let latch = Latch::closed();
    let held = latch.clone();
    let receiver = Receiver::start(move |received, _| {
        let mut reply = reply(200);
        reply.held = (received.header("service-mode") == "test").then(|| held.clone());
        reply
    });
    harness.endpoint(&receiver).await;
    let created = |mode| harness.envelope(&harness.new_order(mode), 1, LIFE[0]);
    harness.publish(&Vec::from_iter((0..6).map(|_| created(Mode::Test)))).await;
    until("its tests have their share", async || receiver.count() == 2).await;
    until("the others wait", async || harness.count("deliveries").await == 6).await;
    let live = created(Mode::Live);
    harness.publish(std::slice::from_ref(&live)).await;
    until("the live one arrives", async || {
        receiver.received().iter().any(|one| one.id() == live.id.to_string())
    })
    .await;
    assert_eq!(receiver.count(), 3);
    latch.open();
    until("all arrive", async || receiver.count() == 7).await;
}

/// Two instances share the work, and nothing is sent twice.
#[tokio::test]
async fn two_instances_share_the_work() {
    let harness = Harness::start().await;
    let second = webhook_dispatcher_like(&harness);
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    let mut references = Vec::new();
    let mut envelopes = Vec::new();
    for _ in 0..40 {
        let order = harness.new_order(Mode::Live);
        for (sequence, kind) in (1..=4).zip(crate::harness::LIFE) {
            envelopes.push(harness.envelope(&order, sequence, kind));
        }
        references.push(order.reference);
    }
    for chunk in envelopes.chunks(40) {
        harness.publish(chunk).await;
    }
    until("all arrive", async || receiver.count() >= 160).await;
    for reference in references {
        assert_eq!(receiver.sequences(&reference), [1, 2, 3, 4]);
    }
    assert_eq!(receiver.count(), 160);
    second.abort();
}

fn webhook_dispatcher_like(harness: &Harness) -> tokio::task::JoinHandle<anyhow::Result<()>> {
    crate::harness::run(&harness.settings, &harness.clock, &harness.entropy).1
}

/// For example, an erasure locks an order.
#[tokio::test]
async fn a_live_event_does_not_wait_for_a_locked_test_order() {
    let harness = Harness::start().await;
    let receiver = Receiver::start(|_, _| {
        let mut reply = reply(200);
        // Too slow for webhooks that leave before they are stored.
        reply.after = Duration::from_millis(150);
        reply
    });
    harness.endpoint(&receiver).await;
    let test = harness.new_order(Mode::Test);
    harness.publish_created(&test).await;
    let succeeded = "deliveries WHERE state = 'succeeded'";
    until("it is stored", async || harness.count(succeeded).await == 1).await;
    let mut conn = harness.connection().await;
    let lock = format!("BEGIN; SELECT FROM order_streams WHERE order_id = '{}' FOR UPDATE", test.id);
    conn.batch_execute(&lock).await.expect("a lock");
    // A statement that gives up is repeated, with another start.
    let waiting = "SELECT coalesce(min(pid || ' ' || query_start), '') FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
    harness.publish(&[harness.envelope(&test, 2, LIFE[1])]).await;
    let mut live = 0;
    loop {
        until("it waits for the lock", async || !harness.text(waiting).await.is_empty()).await;
        let first = harness.text(waiting).await;
        harness.publish_created(&harness.new_order(Mode::Live)).await;
        live += 1;
        until("the live one arrives", async || receiver.count() == live + 1).await;
        if harness.text(waiting).await == first {
            break;
        }
        // On a busy machine, the statement may have given up meanwhile.
        assert!(live < 5, "live ones wait until the lock is given up");
    }
    conn.batch_execute("ROLLBACK").await.expect("no lock");
    until("the test order's event arrives", async || receiver.count() == live + 2).await;
}
