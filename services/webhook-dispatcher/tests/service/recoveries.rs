//! Recoveries send missed webhooks again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use diesel_async::SimpleAsyncConnection;
use domain::{Clock, EventId, EventKind, Mode, WebhookDeliveryId};
use internal_api::PageQuery;
use internal_api::webhooks::{CreatedEndpoint, DeliveryState, RecoveryState, RecoveryView};
use serde_json::json;
use test_kit::{invalid_fields, refusal, until};

use crate::harness::{Harness, LIFE, TestOrder, retries, some_day};
use crate::receiver::{Latch, Receiver, Reply, reply};

fn text(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// A receiver that fails until the test changes it. Only for a few webhooks: more would trip the breaker.
fn moody() -> (Receiver, Arc<AtomicBool>) {
    let well = Arc::new(AtomicBool::new(false));
    let told = well.clone();
    (Receiver::start(move |_, _| reply(if told.load(Ordering::SeqCst) { 200 } else { 500 })), well)
}

/// Without retries, so that failures are final at once.
async fn start() -> Harness {
    start_on(Clock::system()).await
}

async fn start_on(clock: Clock) -> Harness {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.retry_seconds = retries("0");
    };
    Harness::start_with(adjust, clock).await
}

async fn recover(harness: &Harness, endpoint: &CreatedEndpoint, since: DateTime<Utc>) -> RecoveryView {
    let id = endpoint.view.id.to_string();
    let body = json!({ "since": text(since) });
    harness.hooks.recover(harness.business, &id, &body).await.expect("a job")
}

async fn look(harness: &Harness, job: &RecoveryView) -> RecoveryView {
    let (endpoint, id) = (job.endpoint_id.to_string(), job.id.to_string());
    harness.hooks.recovery(harness.business, &endpoint, &id).await.expect("the job")
}

async fn publish_lives(harness: &Harness, orders: &[TestOrder], events: i64) {
    for (sequence, kind) in (1..=events).zip(LIFE) {
        let envelopes: Vec<_> = orders.iter().map(|order| harness.envelope(order, sequence, kind)).collect();
        harness.publish(&envelopes).await;
    }
}

async fn all_are(harness: &Harness, state: &str, count: i64) -> bool {
    harness.count(&format!("deliveries WHERE state = '{state}'")).await == count
}

/// As after an outage that outlasted all retries. The endpoint is paused meanwhile: otherwise its breaker would trip.
async fn fail_what_waits(harness: &Harness, endpoint: &CreatedEndpoint, count: i64) {
    until("all wait", async || all_are(harness, "pending", count).await).await;
    let fail = format!(
        "UPDATE deliveries SET state = 'failed', attempts = 2, due_at = NULL, completed_at = '{now}',
         last_error = 'your server returned 500' WHERE state = 'pending'",
        now = text(harness.clock.now())
    );
    harness.connection().await.batch_execute(&fail).await.expect("deliveries that failed");
    harness.patch(endpoint, json!({"status": "active"})).await;
}

#[tokio::test]
async fn only_failed_deliveries_are_sent_again_and_in_order() {
    let clock = Clock::manual(some_day());
    let harness = start_on(clock.clone()).await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    harness.patch(&endpoint, json!({"status": "paused"})).await;
    let before = [harness.new_order(Mode::Live), harness.new_order(Mode::Live)];
    let after: Vec<_> = (0..20).map(|_| harness.new_order(Mode::Live)).collect();
    publish_lives(&harness, &before, 1).await;
    until("the early ones wait", async || all_are(&harness, "pending", 2).await).await;
    clock.advance(TimeDelta::milliseconds(1));
    let since = clock.now();
    publish_lives(&harness, &after, 5).await;
    fail_what_waits(&harness, &endpoint, 102).await;
    publish_lives(&harness, &[harness.new_order(Mode::Live)], 1).await;
    until("one succeeds", async || all_are(&harness, "succeeded", 1).await).await;
    clock.advance(TimeDelta::milliseconds(1));

    let job = recover(&harness, &endpoint, since).await;
    assert_eq!((job.status, job.total, job.done, job.ended_at), (RecoveryState::Running, 100, 0, None));
    assert_eq!((job.endpoint_id, text(job.since)), (endpoint.view.id, text(since)));
    until("the job ends", async || look(&harness, &job).await.status == RecoveryState::Completed).await;
    until("all have arrived", async || all_are(&harness, "succeeded", 101).await).await;
    let ended = look(&harness, &job).await;
    assert!(ended.done == 100 && ended.ended_at.is_some(), "{ended:?}");
    assert!(all_are(&harness, "failed", 2).await, "what came before stays as it is");
    let arrived = receiver.received().split_off(1);
    assert_eq!(arrived.len(), 100);
    for order in &after {
        let of_order = |received: &&crate::receiver::Received| received.reference() == order.reference;
        let sequences: Vec<_> = arrived.iter().filter(of_order).map(|one| one.sequence()).collect();
        assert_eq!(sequences, [1, 2, 3, 4, 5]);
    }

    // Again, there is nothing left to do.
    clock.advance(TimeDelta::milliseconds(1));
    let again = recover(&harness, &endpoint, since).await;
    assert_eq!(again.total, 0);
    until("that is soon done", async || look(&harness, &again).await.status == RecoveryState::Completed)
        .await;
    let list = PageQuery { limit: 1, starting_after: None };
    let id = endpoint.view.id.to_string();
    let page = harness.hooks.recoveries(harness.business, &id, &list).await.unwrap();
    assert_eq!((page.data[0].id, page.has_more), (again.id, true));
    let rest = PageQuery { limit: 10, starting_after: Some(again.id.to_string()) };
    let page = harness.hooks.recoveries(harness.business, &id, &rest).await.unwrap();
    assert_eq!((page.data.as_slice(), page.has_more), (&[ended][..], false));
}

/// Otherwise it would be sent in an hour.
#[tokio::test]
async fn pending_deliveries_are_brought_forward() {
    let hourly = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.retry_seconds = retries("3600,3600,3600");
    };
    let harness = Harness::start_with(hourly, Clock::system()).await;
    let (receiver, well) = moody();
    let endpoint = harness.endpoint(&receiver).await;
    let since = harness.clock.now() - TimeDelta::minutes(1);
    publish_lives(&harness, &[harness.new_order(Mode::Live)], 2).await;
    until("the first has failed", async || receiver.count() == 1).await;
    until("its outcome is written", async || {
        let failed = "deliveries WHERE attempts = 1 AND lease_token IS NULL AND due_at IS NOT NULL";
        harness.count(failed).await == 1
    })
    .await;
    well.store(true, Ordering::SeqCst);
    assert_eq!(recover(&harness, &endpoint, since).await.total, 0, "nothing has failed for good");
    until("both arrive", async || all_are(&harness, "succeeded", 2).await).await;
}

/// Whether it had another attempt or not. Otherwise it would be sent in an hour, or never.
#[tokio::test]
async fn what_fails_while_a_recovery_begins_is_sent_again() {
    for (schedule, attempts) in [("3600", 1), ("0", 2)] {
        let adjust = |settings: &mut webhook_dispatcher::Settings| {
            settings.webhooks.retry_seconds = retries(schedule);
            settings.webhooks.timeout_seconds = 600.0;
        };
        let harness = Harness::start_with(adjust, Clock::system()).await;
        let latch = Latch::closed();
        let held = latch.clone();
        let receiver = Receiver::start(move |_, before| {
            let status = if before < attempts { 500 } else { 200 };
            Reply { held: (before + 1 == attempts).then(|| held.clone()), ..reply(status) }
        });
        let endpoint = harness.endpoint(&receiver).await;
        let since = harness.clock.now() - TimeDelta::minutes(1);
        let order = harness.new_order(Mode::Live);
        publish_lives(&harness, std::slice::from_ref(&order), 2).await;
        until("the first is in flight and the second behind it", async || {
            receiver.count() == attempts && all_are(&harness, "pending", 2).await
        })
        .await;
        recover(&harness, &endpoint, since).await;
        latch.open();
        until("both arrive", async || all_are(&harness, "succeeded", 2).await).await;
        let expected = [vec![1; attempts + 1], vec![2]].concat();
        assert_eq!(receiver.sequences(&order.reference), expected, "in their order");
    }
}

#[tokio::test]
async fn a_recovery_survives_crashes_and_repeats_nothing() {
    let mut harness = start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    harness.patch(&endpoint, json!({"status": "paused"})).await;
    let since = harness.clock.now() - TimeDelta::minutes(1);
    let orders: Vec<_> = (0..200).map(|_| harness.new_order(Mode::Live)).collect();
    publish_lives(&harness, &orders, 4).await;
    fail_what_waits(&harness, &endpoint, 800).await;
    let job = recover(&harness, &endpoint, since).await;
    assert_eq!(job.total, 800);
    // Between its batches, and again while their deliveries are sent.
    harness.crash_and_restart().await;
    let succeeded = "deliveries WHERE state = 'succeeded'";
    until("some have succeeded", async || harness.count(succeeded).await > 50).await;
    harness.crash().await;
    let before = harness.events_of(succeeded).await;
    harness.restart();
    until("the job ends", async || look(&harness, &job).await.status == RecoveryState::Completed).await;
    until("all have arrived", async || all_are(&harness, "succeeded", 800).await).await;
    assert_eq!(look(&harness, &job).await.done, 800);
    let arrived = receiver.received();
    let ids: BTreeSet<String> = arrived.iter().map(|one| one.id()).collect();
    assert_eq!(ids.len(), 800);
    assert!(before.len() > 50, "{}", before.len());
    for event in before {
        let times = arrived.iter().filter(|one| one.id() == event).count();
        assert_eq!(times, 1, "{event} had succeeded before the crash");
    }
}

#[tokio::test]
async fn one_recovery_runs_at_a_time_and_can_be_cancelled() {
    let harness = start().await;
    let (receiver, well) = moody();
    let endpoint = harness.endpoint(&receiver).await;
    let since = harness.clock.now() - TimeDelta::minutes(1);
    publish_lives(&harness, &[harness.new_order(Mode::Live)], 1).await;
    until("it has failed", async || all_are(&harness, "failed", 1).await).await;
    // The endpoint has the maximum of pending deliveries, so the recovery waits.
    harness.patch(&endpoint, json!({"status": "paused"})).await;
    let mut conn = harness.connection().await;
    let fill = format!(
        "INSERT INTO events (event_id, business_id, kind, mode, body, occurred_at)
         VALUES ('evt_01ARZ3NDEKTSV4RRFFQ69G5FAV', '{business}', 'wallet.low_balance', 'live', '', now());
         INSERT INTO deliveries (id, event_id, endpoint_id, business_id, kind, mode, in_turn, state, attempts,
             earlier_attempts, due_at, created_at)
         SELECT 'whd_0' || lpad(n::text, 25, '0'), 'evt_' || lpad(n::text, 26, '0'), '{endpoint}', '{business}',
             'wallet.low_balance', 'live', false, 'pending', 0, 0, now() + interval '1 hour', now()
         FROM generate_series(1, 2000) AS n",
        business = harness.business,
        endpoint = endpoint.view.id,
    );
    let fill =
        fill.replace("VALUES ('evt_01ARZ3NDEKTSV4RRFFQ69G5FAV',", "SELECT 'evt_' || lpad(n::text, 26, '0'),");
    let fill = fill.replacen("'', now());", "'', now() FROM generate_series(1, 2000) AS n;", 1);
    conn.batch_execute(&fill).await.unwrap();
    let job = recover(&harness, &endpoint, since).await;
    let (business, id) = (harness.business, endpoint.view.id.to_string());
    let second = harness.hooks.recover(business, &id, &json!({"since": text(since)})).await;
    let refused = refusal(second);
    assert_eq!((refused.status, refused.code.as_str()), (409, "webhook_recovery_under_way"));
    until("it is put off", async || harness.count("recoveries WHERE due_at > created_at").await == 1).await;
    assert_eq!(
        (look(&harness, &job).await.done, look(&harness, &job).await.status),
        (0, RecoveryState::Running)
    );

    let job_id = job.id.to_string();
    for _ in 0..2 {
        let cancelled = harness.hooks.cancel_recovery(business, &id, &job_id).await.unwrap();
        assert_eq!(cancelled.status, RecoveryState::Cancelled);
        assert!(cancelled.ended_at.is_some());
    }
    conn.batch_execute("DELETE FROM deliveries WHERE state = 'pending'").await.unwrap();
    well.store(true, Ordering::SeqCst);
    harness.patch(&endpoint, json!({"status": "active"})).await;
    let next = recover(&harness, &endpoint, since).await;
    until("the next one ends", async || look(&harness, &next).await.status == RecoveryState::Completed).await;
    until("it has arrived", async || all_are(&harness, "succeeded", 1).await).await;
    let over = refusal(harness.hooks.cancel_recovery(business, &id, &next.id.to_string()).await);
    assert_eq!((over.status, over.code.as_str()), (409, "webhook_recovery_completed"));
}

/// To count them all at once would take longer than a statement may.
#[tokio::test]
async fn a_large_recovery_begins_at_once_and_counts_in_batches() {
    let harness = start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    harness.patch(&endpoint, json!({"status": "paused"})).await;
    let since = harness.clock.now() - TimeDelta::minutes(1);
    let now = WebhookDeliveryId::generate(&harness.clock, &harness.entropy).to_string();
    let fill = format!(
        "INSERT INTO events (event_id, business_id, kind, mode, body, occurred_at)
         SELECT 'evt_' || lpad(n::text, 26, '0'), '{business}', 'wallet.low_balance', 'live', '', now()
         FROM generate_series(1, 25000) AS n;
         INSERT INTO deliveries (id, event_id, endpoint_id, business_id, kind, mode, in_turn, state, attempts,
             earlier_attempts, created_at, completed_at)
         SELECT '{time}' || lpad(n::text, 16, '0'), 'evt_' || lpad(n::text, 26, '0'), '{endpoint}', '{business}',
             'wallet.low_balance', 'live', false, 'failed', 1, 0, now(), now()
         FROM generate_series(1, 25000) AS n",
        business = harness.business,
        endpoint = endpoint.view.id,
        time = &now[..now.len() - 16],
    );
    harness.connection().await.batch_execute(&fill).await.unwrap();
    let passed = harness.clock.now() + TimeDelta::milliseconds(1);
    until("the next millisecond", async || harness.clock.now() > passed).await;

    let job = recover(&harness, &endpoint, since).await;
    assert_eq!(job.total, 10_000, "one portion of them");
    until("all are counted", async || look(&harness, &job).await.total == 25_000).await;
    assert_eq!(harness.count("recoveries WHERE counted_id IS NULL").await, 1);
    assert_eq!(look(&harness, &job).await.status, RecoveryState::Running);
}

#[tokio::test]
async fn unsubscribed_events_are_sent_after_a_new_subscription() {
    let harness = start().await;
    let (receiver, well) = moody();
    let endpoint =
        harness.create(json!({"url": receiver.url(), "events": ["order.created", "driver.assigned"]})).await;
    let since = harness.clock.now() - TimeDelta::minutes(1);
    harness.patch(&endpoint, json!({"status": "paused"})).await;
    let order = harness.new_order(Mode::Live);
    publish_lives(&harness, std::slice::from_ref(&order), 2).await;
    until("both wait", async || harness.deliveries(&endpoint).await.len() == 2).await;
    harness.patch(&endpoint, json!({"status": "active", "events": ["order.created"]})).await;
    until("one has failed and one is called off", async || {
        all_are(&harness, "failed", 1).await && all_are(&harness, "discarded", 1).await
    })
    .await;
    well.store(true, Ordering::SeqCst);
    assert_eq!(recover(&harness, &endpoint, since).await.total, 1);
    until("that one arrives", async || all_are(&harness, "succeeded", 1).await).await;
    harness.patch(&endpoint, json!({"events": ["order.created", "driver.assigned"]})).await;
    let id = endpoint.view.id.to_string();
    until("the next job begins", async || {
        let begun = harness.hooks.recover(harness.business, &id, &json!({"since": text(since)})).await;
        begun.is_ok_and(|job| job.total == 1)
    })
    .await;
    until("so does the other", async || all_are(&harness, "succeeded", 2).await).await;
    let log = harness.deliveries(&endpoint).await;
    assert!(
        log.iter()
            .any(|one| one.event == EventKind::DriverAssigned && one.status == DeliveryState::Succeeded)
    );
}

/// Its events arrived while no endpoint subscribed to them.
#[tokio::test]
async fn newly_subscribed_events_are_sent_in_order() {
    let harness = start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.create(json!({"url": receiver.url(), "events": ["order.cancelled"]})).await;
    let since = harness.clock.now() - TimeDelta::minutes(1);
    let order = harness.new_order(Mode::Live);
    publish_lives(&harness, std::slice::from_ref(&order), 5).await;
    until("they are kept", async || harness.count("events").await == 5).await;
    let ended = async |job: &RecoveryView| {
        until("the job ends", async || look(&harness, job).await.status == RecoveryState::Completed).await;
        look(&harness, job).await.total
    };
    assert_eq!(ended(&recover(&harness, &endpoint, since).await).await, 0, "it does not want them");

    let wanted = ["order.created", "order.picked_up", "order.delivered"];
    harness.patch(&endpoint, json!({ "events": wanted })).await;
    assert_eq!(ended(&recover(&harness, &endpoint, since).await).await, 3);
    until("they arrive", async || all_are(&harness, "succeeded", 3).await).await;
    let arrived = receiver.received();
    assert_eq!(arrived.iter().map(|one| one.sequence()).collect::<Vec<_>>(), [1, 3, 5]);
    assert_eq!(ended(&recover(&harness, &endpoint, since).await).await, 0, "nothing is left");
}

/// Events are scanned in batches, even if the endpoint subscribes to few of them.
#[tokio::test]
async fn few_are_found_among_very_many_events() {
    let harness = start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.create(json!({"url": receiver.url(), "events": ["wallet.low_balance"]})).await;
    let since = harness.clock.now() - TimeDelta::minutes(1);
    let now = EventId::generate(&harness.clock, &harness.entropy).to_string();
    let fill = format!(
        "INSERT INTO events (event_id, business_id, kind, mode, body, occurred_at)
         SELECT '{time}' || lpad(n::text, 8, '0') || '00000000', '{business}',
             CASE WHEN n % 1000 = 0 THEN 'wallet.low_balance' ELSE 'order.created' END, 'live', '', now()
         FROM generate_series(1, 12000) AS n",
        business = harness.business,
        time = &now[..now.len() - 16],
    );
    harness.connection().await.batch_execute(&fill).await.unwrap();
    let passed = harness.clock.now() + TimeDelta::milliseconds(1);
    until("the next millisecond", async || harness.clock.now() > passed).await;

    let job = recover(&harness, &endpoint, since).await;
    until("the job ends", async || look(&harness, &job).await.status == RecoveryState::Completed).await;
    until("they arrive", async || all_are(&harness, "succeeded", 12).await).await;
    let ended = look(&harness, &job).await;
    assert_eq!((ended.total, ended.done), (12, 12));
}

#[tokio::test]
async fn a_new_endpoint_does_not_get_what_came_before_it() {
    let harness = start().await;
    let receiver = Receiver::kind();
    harness.create(json!({"url": receiver.url(), "events": ["order.cancelled"]})).await;
    let since = harness.clock.now() - TimeDelta::minutes(1);
    publish_lives(&harness, &[harness.new_order(Mode::Live)], 2).await;
    until("they are kept", async || harness.count("events").await == 2).await;
    let passed = harness.clock.now() + TimeDelta::milliseconds(1);
    until("the next millisecond", async || harness.clock.now() > passed).await;

    let endpoint = harness.endpoint(&receiver).await;
    let job = recover(&harness, &endpoint, since).await;
    until("the job ends", async || look(&harness, &job).await.status == RecoveryState::Completed).await;
    assert_eq!((look(&harness, &job).await.total, harness.count("deliveries").await), (0, 0));
}

#[tokio::test]
async fn bad_periods_are_refused_and_recoveries_belong_to_their_business() {
    let harness = start().await;
    let endpoint = harness.endpoint(&Receiver::kind()).await;
    let (id, now) = (endpoint.view.id.to_string(), harness.clock.now());
    let at = |hours: i64| text(now + TimeDelta::hours(hours));
    for (body, fields) in [
        (json!({}), vec!["since"]),
        (json!({"since": "yesterday"}), vec!["since"]),
        (json!({"since": at(-31 * 24)}), vec!["since"]),
        (json!({"since": at(1)}), vec!["since"]),
        (json!({"since": at(-2), "until": at(-3)}), vec!["until"]),
        (json!({"since": at(-2), "until": at(1)}), vec!["until"]),
        (json!({"since": at(-2), "form": at(-1)}), vec!["form"]),
    ] {
        let refused = refusal(harness.hooks.recover(harness.business, &id, &body).await);
        assert_eq!((refused.status, invalid_fields(&refused)), (400, fields), "{body}");
    }
    let job = recover(&harness, &endpoint, now - TimeDelta::days(29)).await;
    let (other, job_id) = (harness.new_business(), job.id.to_string());
    let (hooks, page) = (&harness.hooks, PageQuery { limit: 5, starting_after: None });
    let since = json!({"since": at(-1)});
    let refused = [
        refusal(hooks.recover(other, &id, &since).await),
        refusal(hooks.recoveries(other, &id, &page).await),
        refusal(hooks.recovery(other, &id, &job_id).await),
        refusal(hooks.cancel_recovery(other, &id, &job_id).await),
        refusal(hooks.recovery(harness.business, &id, "nonsense").await),
        refusal(hooks.recovery(harness.business, "whe_01ARZ3NDEKTSV4RRFFQ69G5FAV", &job_id).await),
    ];
    assert!(refused.iter().all(|one| one.status == 404), "{refused:?}");
    let start = PageQuery { limit: 5, starting_after: Some("whr_01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned()) };
    assert_eq!(refusal(hooks.recoveries(harness.business, &id, &start).await).status, 400);
}
