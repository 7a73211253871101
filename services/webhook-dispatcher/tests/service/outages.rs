//! Failing endpoints: the circuit breaker, skipping, disabling.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::{Clock, Mode};
use events::Envelope;
use internal_api::webhooks::{CreatedEndpoint, DeliveryState, EndpointStatus};
use serde_json::json;
use test_kit::{refusal, until};

use crate::harness::{DeliveriesQuery, Harness, LIFE, TestOrder, retries, some_day};
use crate::receiver::{Latch, Receiver, reply};
use crate::witness::Witness;

/// Succeeds or fails as the test chooses.
#[derive(Clone, Default)]
struct Switch(Arc<AtomicBool>);

impl Switch {
    fn turn(&self, on: bool) {
        self.0.store(on, Ordering::SeqCst);
    }

    fn receiver(&self) -> Receiver {
        let on = self.0.clone();
        Receiver::start(move |_, _| reply(if on.load(Ordering::SeqCst) { 200 } else { 500 }))
    }
}

async fn harness(adjust: impl FnOnce(&mut webhook_dispatcher::Webhooks)) -> Harness {
    harness_on(Clock::system(), adjust).await
}

async fn harness_on(clock: Clock, adjust: impl FnOnce(&mut webhook_dispatcher::Webhooks)) -> Harness {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.sweep_seconds = 0.2;
        settings.webhooks.retry_seconds = retries(&["0.2"; 40].join(","));
        adjust(&mut settings.webhooks);
    };
    Harness::start_with(adjust, clock).await
}

fn life(harness: &Harness, order: &TestOrder, length: usize) -> Vec<Envelope> {
    let kinds = (1..).zip(LIFE.into_iter().take(length));
    kinds.map(|(sequence, kind)| harness.envelope(order, sequence, kind)).collect()
}

async fn parked(harness: &Harness, endpoint: &CreatedEndpoint) -> i64 {
    harness.view(endpoint).await.parked_deliveries
}

#[tokio::test]
async fn a_failing_endpoint_trips_its_breaker_and_continues_with_each_head() {
    let harness = harness(|_| {}).await;
    let switch = Switch::default();
    let receiver = switch.receiver();
    let endpoint = harness.endpoint(&receiver).await;
    let orders: Vec<_> = (0..30).map(|_| harness.new_order(Mode::Live)).collect();
    for order in &orders {
        harness.publish(&life(&harness, order, 2)).await;
    }
    let resting =
        async || harness.view(&endpoint).await.trouble.is_some_and(|one| one.resting_until.is_some());
    until("it is left alone", resting).await;
    // Attempts in flight at the trip end. Then nothing is sent until the pause is over.
    let tried = receiver.count();
    assert!((10..40).contains(&tried), "{tried} attempts");
    let view = harness.view(&endpoint).await;
    let trouble = view.trouble.expect("trouble");
    assert_eq!(view.status, EndpointStatus::Failing);
    assert!(trouble.disables_at.is_some() && trouble.disabled_at.is_none(), "{trouble:?}");

    switch.turn(true);
    until("all have arrived", async || {
        let log = harness.deliveries(&endpoint).await;
        log.len() == 60 && log.iter().all(|one| one.status == DeliveryState::Succeeded)
    })
    .await;
    assert_eq!(harness.view(&endpoint).await.trouble, None);
    for order in &orders {
        let mut sequences = receiver.sequences(&order.reference);
        sequences.dedup();
        assert_eq!(sequences, [1, 2], "{}", order.reference);
    }
}

#[tokio::test]
async fn an_event_that_is_always_refused_is_skipped_while_others_are_accepted() {
    let harness = harness(|webhooks| webhooks.step_aside_seconds = 1).await;
    let poisoned = harness.new_order(Mode::Live);
    let reference = poisoned.reference.clone();
    let receiver = Receiver::start(move |received, _| {
        let poison = received.reference() == reference && received.sequence() == 2;
        reply(if poison { 422 } else { 200 })
    });
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish(&life(&harness, &poisoned, 4)).await;
    until("later ones pass, while others are taken", async || {
        harness.publish_created(&harness.new_order(Mode::Live)).await;
        receiver.sequences(&poisoned.reference).contains(&4)
    })
    .await;
    let sequences = receiver.sequences(&poisoned.reference);
    let others: Vec<i64> = sequences.iter().copied().filter(|sequence| *sequence != 2).collect();
    assert_eq!(others, [1, 3, 4], "the rest keeps its order");
    let tried = sequences.iter().take_while(|sequence| **sequence != 3).filter(|one| **one == 2).count();
    assert!(tried >= 2, "it was tried more than once before");
    let of_order =
        DeliveriesQuery { order_reference: Some(poisoned.reference), ..DeliveriesQuery::default() };
    let id = endpoint.view.id.to_string();
    let log = harness.hooks.deliveries(harness.business, &id, &of_order.text()).await.expect("a log").data;
    assert_eq!(log.len(), 4, "{log:?}");
    let poison = log.iter().find(|one| one.event == LIFE[1]).expect("the second event");
    assert_eq!(poison.status, DeliveryState::Pending, "it goes on with its retries");
    assert!(poison.stepped_aside_at.is_some(), "and the log says that later ones passed it");
    assert!(log.iter().filter(|one| one.id != poison.id).all(|one| one.stepped_aside_at.is_none()));
}

#[tokio::test]
async fn nothing_is_skipped_while_the_endpoint_is_down() {
    let harness = harness(|webhooks| webhooks.step_aside_seconds = 1).await;
    let switch = Switch::default();
    switch.turn(true);
    let receiver = switch.receiver();
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it works", async || harness.succeeded(&endpoint).await).await;

    switch.turn(false);
    let order = harness.new_order(Mode::Live);
    harness.publish(&life(&harness, &order, 4)).await;
    // Long enough to be skipped, except for the outage: the breaker opens after ten failures, two seconds.
    let resting =
        async || harness.view(&endpoint).await.trouble.is_some_and(|one| one.resting_until.is_some());
    until("it is left alone", resting).await;
    switch.turn(true);
    until("all arrive", async || receiver.sequences(&order.reference).contains(&4)).await;
    let mut sequences = receiver.sequences(&order.reference);
    sequences.dedup();
    assert_eq!(sequences, [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_passed_connection_test_closes_the_breaker() {
    // The pause does not end: the clock stands still.
    let harness = harness_on(Clock::manual(some_day()), |_| {}).await;
    let switch = Switch::default();
    let receiver = switch.receiver();
    let endpoint = harness.endpoint(&receiver).await;
    let orders: Vec<_> =
        (0..20).map(|_| harness.envelope(&harness.new_order(Mode::Live), 1, LIFE[0])).collect();
    harness.publish(&orders).await;
    let resting =
        async || harness.view(&endpoint).await.trouble.is_some_and(|one| one.resting_until.is_some());
    until("it is left alone", resting).await;
    // No attempt from before may fail after the test.
    until("all have come", async || harness.deliveries(&endpoint).await.len() == 20).await;
    Witness::start(&harness).await.sees_a_look(&harness).await;
    let leased = "deliveries WHERE lease_token IS NOT NULL";
    until("nothing is under way", async || harness.count(leased).await == 0).await;
    switch.turn(true);
    let id = endpoint.view.id.to_string();
    assert!(harness.hooks.test(harness.business, &id).await.expect("a test").succeeded);
    assert_eq!(harness.view(&endpoint).await.trouble, None);
}

#[tokio::test]
async fn two_instances_probe_an_endpoint_with_one_webhook() {
    let harness = harness(|webhooks| webhooks.timeout_seconds = 600.0).await;
    let (_, second) = crate::harness::run(&harness.settings, &harness.clock, &harness.entropy);
    let counted = "dispatchers WHERE counts_from < clock_timestamp()";
    until("both instances count", async || harness.count(counted).await == 2).await;
    let (latch, probing) = (Latch::closed(), Arc::new(AtomicBool::default()));
    let (held, is_probe) = (latch.clone(), probing.clone());
    let receiver = Receiver::start(move |_, _| {
        let mut reply = reply(500);
        reply.held = is_probe.load(Ordering::SeqCst).then(|| held.clone());
        reply
    });
    harness.endpoint(&receiver).await;
    let created = |_| harness.envelope(&harness.new_order(Mode::Live), 1, LIFE[0]);
    harness.publish(&Vec::from_iter((0..20).map(created))).await;
    let tripped = "endpoint_health WHERE tripped_until IS NOT NULL";
    until("the breaker trips", async || harness.count(tripped).await == 1).await;
    let leased = "deliveries WHERE lease_token IS NOT NULL";
    until("nothing is under way", async || harness.count(leased).await == 0).await;
    probing.store(true, Ordering::SeqCst);
    let before = receiver.count();
    harness.set_due_in(0).await;
    until("a probe is sent", async || receiver.count() > before).await;
    // Its lease is renewed for the second time: both instances have looked meanwhile.
    let end = "SELECT max(lease_until)::text FROM deliveries";
    for _ in 0..2 {
        let last = harness.text(end).await;
        until("its lease is renewed", async || harness.text(end).await > last).await;
    }
    assert_eq!(receiver.count(), before + 1);
    latch.open();
    second.abort();
}

/// Fails until it is disabled; then two orders' events come.
async fn disabled(harness: &Harness, receiver: &Receiver, orders: &[TestOrder]) -> CreatedEndpoint {
    let endpoint = harness.endpoint(receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    let status = async || harness.view(&endpoint).await.status;
    until("it is disabled", async || status().await == EndpointStatus::Disabled).await;
    for order in orders {
        harness.publish(&life(harness, order, 3)).await;
    }
    let expected = i64::try_from(orders.len() * 3 + 1).expect("a few");
    until("all are parked", async || parked(harness, &endpoint).await == expected).await;
    endpoint
}

#[tokio::test]
async fn what_only_fails_is_disabled_with_warnings_and_its_events_are_parked_and_replayed() {
    let harness = harness(|webhooks| webhooks.disable_after_seconds = 2).await;
    let switch = Switch::default();
    let receiver = switch.receiver();
    let orders = [harness.new_order(Mode::Live), harness.new_order(Mode::Live)];
    let endpoint = disabled(&harness, &receiver, &orders).await;
    let trouble = harness.view(&endpoint).await.trouble.expect("trouble");
    let percents: Vec<i32> = trouble.notices.iter().map(|notice| notice.percent).collect();
    assert_eq!(percents, [100, 80, 50]);
    assert_eq!(trouble.disabled_reason.as_deref(), Some("every attempt failed for too long"));
    let id = endpoint.view.id.to_string();
    let early = refusal(harness.hooks.decide_parked(harness.business, &id, "replay").await);
    assert_eq!((early.status, early.code.as_str()), (409, "webhook_endpoint_disabled"));

    switch.turn(true);
    let before = receiver.count();
    let active = harness.patch(&endpoint, json!({"status": "active"})).await;
    assert_ne!(active.status, EndpointStatus::Disabled);
    assert_eq!(active.parked_deliveries, 7, "nothing is sent before its owner wants it");
    assert_eq!(receiver.count(), before);
    let log = harness.deliveries(&endpoint).await;
    assert!(log.iter().all(|one| one.status == DeliveryState::Parked), "{log:?}");
    harness.hooks.decide_parked(harness.business, &id, "replay").await.expect("accepted");
    until("all arrive", async || parked(&harness, &endpoint).await == 0 && receiver.count() == before + 7)
        .await;
    for order in &orders {
        assert_eq!(receiver.sequences(&order.reference), [1, 2, 3]);
    }
}

#[tokio::test]
async fn what_is_parked_can_be_discarded_and_goes_with_its_endpoint() {
    let harness = harness(|webhooks| webhooks.disable_after_seconds = 2).await;
    let receiver = Switch::default().receiver();
    let first = disabled(&harness, &receiver, &[harness.new_order(Mode::Live)]).await;
    let id = first.view.id.to_string();
    harness.hooks.decide_parked(harness.business, &id, "discard").await.expect("accepted");
    until("nothing is parked", async || parked(&harness, &first).await == 0).await;
    let log = harness.deliveries(&first).await;
    assert!(log.iter().all(|one| one.status == DeliveryState::Discarded), "{log:?}");

    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("one more is parked", async || parked(&harness, &first).await == 1).await;
    let delivery = harness.deliveries(&first).await.remove(0);
    harness.hooks.delete(harness.business, &id).await.expect("deleted");
    let discarded = async || harness.details(&delivery).await.view.status == DeliveryState::Discarded;
    until("it is called off", discarded).await;
}

#[tokio::test]
async fn a_requested_pause_trips_the_breaker_at_once() {
    let harness = harness(|_| {}).await;
    let receiver = Receiver::start(|_, before| {
        let mut reply = reply(if before == 0 { 429 } else { 200 });
        reply.headers = vec![("retry-after", "3".to_owned())];
        reply
    });
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    let resting =
        async || harness.view(&endpoint).await.trouble.is_some_and(|one| one.resting_until.is_some());
    until("it is left alone", resting).await;
    let orders: Vec<_> =
        (0..5).map(|_| harness.envelope(&harness.new_order(Mode::Live), 1, LIFE[0])).collect();
    harness.publish(&orders).await;
    until("all arrive", async || receiver.count() == 7).await;
    let times: Vec<_> = receiver.received().iter().map(|received| received.at).collect();
    assert!((times[1] - times[0]).as_secs_f64() >= 3.0, "{times:?}");
}

#[tokio::test]
async fn a_success_from_before_a_rest_does_not_end_it_and_a_test_does() {
    let harness = harness(|_| {}).await;
    let (slow, refused) = (harness.new_order(Mode::Live), harness.new_order(Mode::Live));
    let (switch, latch) = (Switch::default(), Latch::closed());
    let (on, held, is_slow) = (switch.0.clone(), latch.clone(), slow.reference.clone());
    let receiver = Receiver::start(move |received, _| {
        let is_slow = received.reference() == is_slow;
        let mut reply = reply(if is_slow || on.load(Ordering::SeqCst) { 200 } else { 503 });
        reply.headers = vec![("retry-after", "60".to_owned())];
        reply.held = is_slow.then(|| held.clone());
        reply
    });
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&slow).await;
    until("it is under way", async || receiver.count() == 1).await;
    harness.publish_created(&refused).await;
    let resting =
        async || harness.view(&endpoint).await.trouble.is_some_and(|one| one.resting_until.is_some());
    until("it rests", resting).await;

    latch.open();
    let is_stored =
        async || harness.deliveries(&endpoint).await.iter().any(|one| one.status == DeliveryState::Succeeded);
    until("the slow one is stored", is_stored).await;
    assert!(resting().await, "the response says nothing about the time after the refusal");
    assert_eq!(receiver.sequences(&refused.reference), [1]);

    switch.turn(true);
    let id = endpoint.view.id.to_string();
    harness.hooks.test(harness.business, &id).await.expect("a test");
    until("the refused one arrives", async || receiver.sequences(&refused.reference) == [1, 1]).await;
    assert_eq!(harness.view(&endpoint).await.trouble, None);
}

#[tokio::test]
async fn a_business_with_many_endpoints_takes_no_more_turns_than_another() {
    let harness = harness(|webhooks| {
        // Endpoints without history may have 6 of them, and one business half of these.
        webhooks.concurrency = 8;
        webhooks.per_endpoint = 4;
        webhooks.timeout_seconds = 600.0;
    })
    .await;
    let latch = Latch::closed();
    let held = latch.clone();
    let many = Receiver::start(move |_, _| {
        let mut reply = reply(200);
        reply.held = Some(held.clone());
        reply
    });
    for _ in 0..4 {
        harness.endpoint(&many).await;
    }
    let orders: Vec<_> =
        (0..30).map(|_| harness.envelope(&harness.new_order(Mode::Live), 1, LIFE[0])).collect();
    let other = TestOrder { business: harness.new_business(), ..harness.new_order(Mode::Live) };
    let one = Receiver::kind();
    harness.hooks.create(other.business, &json!({"url": one.url()})).await.expect("an endpoint");
    harness.publish(&orders).await;
    until("every place that it may have is taken", async || many.count() >= 3).await;
    harness.publish_created(&other).await;
    until("all wait", async || harness.count("deliveries").await == 121).await;
    latch.open();
    until("all arrive", async || (many.count(), one.count()) == (120, 1)).await;
    let at = one.received().remove(0).at;
    let before = many.received().iter().filter(|received| received.at < at).count();
    assert!(before < 60, "{before} of 120 came before");
}

#[tokio::test]
async fn hanging_endpoints_leave_slots_to_prompt_ones() {
    let harness = harness(|webhooks| {
        // Endpoints without history may have 6 of them.
        webhooks.concurrency = 8;
        webhooks.per_endpoint = 4;
        webhooks.timeout_seconds = 600.0;
    })
    .await;
    let latch = Latch::closed();
    let held = latch.clone();
    let (prompt, hanging) = (
        Receiver::kind(),
        Receiver::start(move |_, _| {
            let mut reply = reply(200);
            reply.held = Some(held.clone());
            reply
        }),
    );
    harness.endpoint(&prompt).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("its speed is known", async || prompt.count() == 1).await;
    for _ in 0..10 {
        let order = TestOrder { business: harness.new_business(), ..harness.new_order(Mode::Live) };
        harness.hooks.create(order.business, &json!({"url": hanging.url()})).await.expect("an endpoint");
        harness.publish_created(&order).await;
    }
    until("all that they may have is taken", async || hanging.count() == 6).await;
    let orders: Vec<_> =
        (0..20).map(|_| harness.envelope(&harness.new_order(Mode::Live), 1, LIFE[0])).collect();
    harness.publish(&orders).await;
    until("the others arrive", async || prompt.count() == 21).await;
    assert_eq!(hanging.count(), 6);
    latch.open();
    until("all arrive", async || hanging.count() == 10).await;
}
