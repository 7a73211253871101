//! One bad endpoint delays nobody else.

use std::time::Duration;

use domain::{Clock, Mode};
use serde_json::json;
use test_kit::until;

use crate::harness::Harness;
use crate::receiver::{Receiver, reply};

#[tokio::test]
async fn a_hung_endpoint_delays_nobody_else() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.concurrency = 4;
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
