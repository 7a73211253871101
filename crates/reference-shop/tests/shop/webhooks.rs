//! The webhook receiver (SPECIFICATION §4.2, §5.5 and §6).

use chrono::TimeDelta;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use domain::Mode;
use reference_shop::{Modes, SyncOutcome, SyncStatus, WebhookOutcome};
use serde_json::json;
use settings::Secret;
use test_kit::{client, until};

use crate::bench::{Bench, SECRET, event};
use crate::remote::Next;

const NEW_SECRET: &str = "whsec_HxweHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgE=";

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_updates_its_order() {
    let bench = Bench::new().await;
    let id = bench.created("A-1").await;
    let sender = bench.serve().await;
    let mut delivered = event("order.delivered", 5, "A-1", "delivered");
    delivered["data"] = json!({"note": "Café ☕", "driver": {"name": "R. Kumar"}});
    assert_eq!(sender.send(&delivered).await, (200, json!({"received": true})));

    let webhook = bench.processed("evt_A-1_5").await;
    assert_eq!(webhook.outcome, Some(WebhookOutcome::Applied));
    assert_eq!((webhook.kind.as_str(), webhook.sequence), ("order.delivered", Some(5)));
    assert_eq!((webhook.mode.as_deref(), webhook.order_reference.as_deref()), (Some("live"), Some("A-1")));
    assert_eq!(webhook.received_at, bench.clock.now());
    let checked = webhook_signature::verify(
        SECRET,
        &webhook.headers["service-timestamp"],
        &webhook.headers["service-signature"],
        &webhook.body,
        sender.now(),
        0,
    );
    assert_eq!(checked, Ok(()), "the signed bytes are kept");

    let order = bench.order(&id).await;
    assert_eq!(order.delivery.unwrap().status, "delivered");
    assert_eq!((order.cod_status.as_deref(), order.last_sequence), (Some("pending"), Some(5)));
    sender.server.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unsigned_webhook_is_refused_before_it_is_parsed() {
    let bench = Bench::new().await;
    let id = bench.created("A-1").await;
    let sender = bench.serve().await;
    let body = serde_json::to_vec(&event("order.delivered", 5, "A-1", "delivered")).unwrap();
    let now = sender.now();
    let sign = |at: i64| (at.to_string(), webhook_signature::sign(SECRET, at, &body));

    assert_eq!(sender.send_signed(&body, NEW_SECRET).await.0, 401, "another secret");
    assert_eq!(sender.send_with(&body, &[]).await.0, 401, "no headers");
    let (timestamp, signature) = sign(now);
    assert_eq!(sender.send_with(&body, &[("Service-Timestamp", &timestamp)]).await.0, 401, "no signature");
    let headers = [("Service-Timestamp", timestamp.as_str()), ("Service-Signature", signature.as_str())];
    let mut changed = body.clone();
    changed[10] ^= 1;
    assert_eq!(sender.send_with(&changed, &headers).await.0, 401, "another body");
    let parsed_again: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let written_again = serde_json::to_vec_pretty(&parsed_again).unwrap();
    assert_eq!(sender.send_with(&written_again, &headers).await.0, 401, "the same JSON in other bytes");
    for (name, at) in [("an old recording", now - 301), ("a signature from the future", now + 301)] {
        let (timestamp, signature) = sign(at);
        let headers = [("Service-Timestamp", timestamp.as_str()), ("Service-Signature", signature.as_str())];
        assert_eq!(sender.send_with(&body, &headers).await.0, 401, "{name}");
    }
    assert_eq!(sender.send_with(b"not json", &headers).await.0, 401, "no JSON, and no signature");
    assert_eq!(sender.send_signed(b"not json", SECRET).await.0, 400, "signed, but no event");
    assert_eq!(sender.send_signed(&vec![b' '; 1024 * 1024 + 1], SECRET).await.0, 413, "too large");

    assert!(bench.shop.received(0, 10).await.unwrap().is_empty());
    assert_eq!(bench.order(&id).await.last_sequence, None);
    assert_eq!(sender.send_with(&body, &headers).await.0, 200, "and the genuine one is accepted");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_secret_nothing_is_accepted_and_a_rotation_loses_nothing() {
    let bench = Bench::with(|settings| settings.webhook_secret = None).await;
    let sender = bench.serve().await;
    let body = serde_json::to_vec(&event("order.delivered", 1, "A-1", "delivered")).unwrap();
    assert_eq!(sender.send_signed(&body, SECRET).await.0, 401);
    bench.shop.set_webhook_secret(Secret::new(NEW_SECRET));
    assert_eq!(sender.send_signed(&body, SECRET).await.0, 401);
    // During a rotation, the service sends the old secret's signature and the new one's.
    let timestamp = sender.now();
    let headers = [
        ("Service-Timestamp", timestamp.to_string()),
        ("Service-Signature", webhook_signature::sign(SECRET, timestamp, &body)),
        ("Service-Signature-Next", webhook_signature::sign(NEW_SECRET, timestamp, &body)),
    ];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(sender.send_with(&body, &headers).await.0, 200);
    assert_eq!(sender.send_signed(&body, NEW_SECRET).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_webhook_creates_an_order() {
    let bench = Bench::new().await;
    let never_asked_for = bench.confirmed("A-1").await;
    let sender = bench.serve().await;
    assert_eq!(sender.send(&event("order.created", 1, "B-2", "created")).await.0, 200);
    assert_eq!(sender.send(&event("order.created", 1, "A-1", "created")).await.0, 200);
    for event_id in ["evt_B-2_1", "evt_A-1_1"] {
        assert_eq!(bench.processed(event_id).await.outcome, Some(WebhookOutcome::UnknownOrder), "{event_id}");
    }
    assert_eq!(bench.shop.orders(10).await.unwrap().len(), 1);
    assert_eq!(bench.order(&never_asked_for).await.sync_status, SyncStatus::NotStarted);
}

#[tokio::test(flavor = "multi_thread")]
async fn old_and_repeated_webhooks_change_nothing() {
    let bench = Bench::new().await;
    let id = bench.created("A-1").await;
    let sender = bench.serve().await;
    assert_eq!(sender.send(&event("order.picked_up", 3, "A-1", "picked_up")).await.0, 200);
    bench.processed("evt_A-1_3").await;

    let mut same_sequence = event("order.delivered", 3, "A-1", "delivered");
    same_sequence["id"] = json!("evt_another");
    let mut same_id = event("order.delivered", 9, "A-1", "delivered");
    same_id["id"] = json!("evt_A-1_3");
    for event in [&event("driver.assigned", 2, "A-1", "driver_assigned"), &same_sequence, &same_id] {
        assert_eq!(sender.send(event).await, (200, json!({"received": true})));
    }
    for event_id in ["evt_A-1_2", "evt_another"] {
        let outcome = bench.processed(event_id).await.outcome;
        assert_eq!(outcome, Some(WebhookOutcome::StaleSequence), "{event_id}");
    }
    let received = bench.shop.received(0, 10).await.unwrap();
    let seen: Vec<_> =
        received.iter().map(|webhook| (webhook.event_id.as_str(), webhook.times_received)).collect();
    assert_eq!(seen, [("evt_A-1_3", 2), ("evt_A-1_2", 1), ("evt_another", 1)]);
    assert_eq!(bench.shop.received(received[0].arrival, 1).await.unwrap(), received[1..2]);
    let order = bench.order(&id).await;
    assert_eq!((order.delivery.unwrap().status.as_str(), order.last_sequence), ("picked_up", Some(3)));
}

#[tokio::test(flavor = "multi_thread")]
async fn other_kinds_and_modes_are_answered_and_not_applied() {
    let bench = Bench::new().await;
    let id = bench.created("A-1").await;
    let sender = bench.serve().await;
    let mut test_mode = event("order.delivered", 7, "A-1", "delivered");
    test_mode["mode"] = json!("test");
    test_mode["id"] = json!("evt_test");
    let no_order = json!({"id": "evt_wallet", "event": "wallet.low_balance", "mode": "live", "order": null});
    for (event, outcome) in [
        (event("order.teleported", 6, "A-1", "teleported"), WebhookOutcome::UnknownKind),
        (test_mode, WebhookOutcome::OtherMode),
        (no_order, WebhookOutcome::UnknownKind),
    ] {
        assert_eq!(sender.send(&event).await.0, 200);
        assert_eq!(bench.processed(event["id"].as_str().unwrap()).await.outcome, Some(outcome));
    }
    assert_eq!(bench.order(&id).await.last_sequence, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tracking_code_finds_an_order_and_test_mode_can_be_enabled() {
    let bench = Bench::with(|settings| {
        settings.modes = Modes::new([Mode::Test]);
        settings.api_key = Secret::new("sk_test_waybill_key");
    })
    .await;
    let id = bench.created("A-1").await;
    let sender = bench.serve().await;
    let mut by_code = event("driver.assigned", 2, "A-1", "driver_assigned");
    by_code["mode"] = json!("test");
    by_code["order"]["orderReference"] = json!(null);
    assert_eq!(sender.send(&by_code).await.0, 200);
    assert_eq!(bench.processed("evt_A-1_2").await.outcome, Some(WebhookOutcome::Applied));
    assert_eq!(bench.order(&id).await.delivery.unwrap().status, "driver_assigned");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_before_the_response_is_not_overwritten_by_it() {
    let bench = Bench::new().await;
    let id = bench.confirmed("A-1").await;
    let sender = bench.serve().await;
    bench.remote.next([Next::Hold]);
    let syncing = tokio::spawn({
        let (shop, id) = (bench.shop.clone(), id.clone());
        async move { shop.sync_order(&id).await.unwrap() }
    });
    bench.remote.has_seen(1).await;
    assert_eq!(sender.send(&event("driver.assigned", 2, "A-1", "driver_assigned")).await.0, 200);
    assert_eq!(bench.processed("evt_A-1_2").await.outcome, Some(WebhookOutcome::Applied));
    bench.remote.release();
    let outcome = syncing.await.unwrap();
    assert!(
        matches!(&outcome, SyncOutcome::Created(delivery) if delivery.status == "driver_assigned"),
        "{outcome:?}"
    );
    assert_eq!(bench.order(&id).await.delivery.unwrap().status, "driver_assigned");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_proves_a_delivery_whose_response_was_lost() {
    let bench = Bench::with(|settings| settings.request_timeout_seconds = 1).await;
    let id = bench.confirmed("A-1").await;
    let sender = bench.serve().await;
    bench.remote.next([Next::LoseAnswer]);
    assert!(matches!(bench.shop.sync_order(&id).await.unwrap(), SyncOutcome::Failed { .. }));
    assert_eq!(sender.send(&event("order.created", 1, "A-1", "created")).await.0, 200);
    bench.processed("evt_A-1_1").await;
    let outcome = bench.shop.sync_order(&id).await.unwrap();
    assert!(matches!(outcome, SyncOutcome::AlreadyCreated(_)), "{outcome:?}");
    assert_eq!(bench.remote.seen().len(), 1, "no second creation");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_is_answered_and_stores_nothing() {
    let bench = Bench::new().await;
    let id = bench.created("A-1").await;
    let sender = bench.serve().await;
    bench.shop.pause_answers(503, 2);
    let delivered = event("order.delivered", 5, "A-1", "delivered");
    assert_eq!(sender.send(&delivered).await.0, 503);
    assert_eq!(sender.send(&delivered).await.0, 503);
    assert!(bench.shop.received(0, 10).await.unwrap().is_empty());
    assert_eq!(sender.send(&delivered).await.0, 200);
    bench.processed("evt_A-1_5").await;
    assert_eq!(bench.order(&id).await.last_sequence, Some(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_stored_before_a_restart_are_processed_after_it() {
    let bench = Bench::new().await;
    let id = bench.created("A-1").await;
    let sender = bench.serve().await;
    sender.server.stop().await.unwrap();
    // The state that a process leaves when it dies between the response and the processing.
    let mut connection = AsyncPgConnection::establish(bench.settings.database.url.expose()).await.unwrap();
    let body = serde_json::to_vec(&event("order.delivered", 5, "A-1", "delivered")).unwrap();
    diesel::sql_query(
        "INSERT INTO webhooks (event_id, kind, body, headers, received_at, times_received)
         VALUES ('evt_A-1_5', 'order.delivered', $1, '{}', now(), 1)",
    )
    .bind::<diesel::sql_types::Binary, _>(body)
    .execute(&mut connection)
    .await
    .unwrap();

    let again = bench.serve().await;
    assert_eq!(bench.processed("evt_A-1_5").await.outcome, Some(WebhookOutcome::Applied));
    assert_eq!(bench.order(&id).await.delivery.unwrap().status, "delivered");
    again.server.stop().await.unwrap();
}

/// Runs a statement on the shop's database.
async fn execute(bench: &Bench, statement: &str) {
    let mut connection = AsyncPgConnection::establish(bench.settings.database.url.expose()).await.unwrap();
    diesel::sql_query(statement).execute(&mut connection).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_that_always_fail_do_not_delay_others() {
    let bench = Bench::new().await;
    let id = bench.created("A-1").await;
    let fail =
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''it always fails''; END'";
    execute(&bench, fail).await;
    execute(
        &bench,
        "CREATE TRIGGER fail BEFORE UPDATE OF outcome ON webhooks FOR EACH ROW
         WHEN (NEW.event_id LIKE 'evt_bad_%') EXECUTE FUNCTION fail()",
    )
    .await;
    // More than two batches.
    execute(
        &bench,
        "INSERT INTO webhooks (event_id, kind, body, headers, received_at, times_received)
         SELECT 'evt_bad_' || n, 'x', '', '{}', now(), 1 FROM generate_series(1, 120) AS n",
    )
    .await;
    let sender = bench.serve().await;
    assert_eq!(sender.send(&event("order.delivered", 5, "A-1", "delivered")).await.0, 200);
    assert_eq!(bench.processed("evt_A-1_5").await.outcome, Some(WebhookOutcome::Applied));
    assert_eq!(bench.order(&id).await.last_sequence, Some(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn processed_webhooks_are_deleted_after_a_month() {
    let bench = Bench::new().await;
    bench.created("A-1").await;
    let sender = bench.serve().await;
    assert_eq!(sender.send(&event("order.created", 1, "A-1", "created")).await.0, 200);
    bench.processed("evt_A-1_1").await;
    bench.clock.advance(TimeDelta::days(32));
    // The next webhook wakes the worker.
    assert_eq!(sender.send(&event("order.delivered", 5, "A-1", "delivered")).await.0, 200);
    bench.processed("evt_A-1_5").await;
    until("the old webhook is deleted", async || {
        let received = bench.shop.received(0, 10).await.unwrap();
        received.iter().map(|webhook| webhook.event_id.as_str()).eq(["evt_A-1_5"])
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_webhooks_leave_each_order_at_its_last_state() {
    let bench = Bench::new().await;
    let sender = bench.serve().await;
    let states = ["created", "driver_assigned", "picked_up", "out_for_delivery", "delivered"];
    let mut ids = Vec::new();
    for order in 0..5 {
        ids.push(bench.created(&format!("A-{order}")).await);
    }
    let events = ids.iter().flat_map(|id| {
        (1..).zip(states).map(move |(sequence, state)| event("order.created", sequence, id.as_str(), state))
    });
    let events: Vec<_> = events.collect();
    let answers = futures_util::future::join_all(events.iter().rev().map(|event| sender.send(event))).await;
    assert!(answers.iter().all(|(status, _)| *status == 200), "{answers:?}");
    until("all are processed", async || {
        let received = bench.shop.received(0, 100).await.unwrap();
        received.len() == 25 && received.iter().all(|webhook| webhook.outcome.is_some())
    })
    .await;
    for id in &ids {
        let order = bench.order(id).await;
        assert_eq!((order.delivery.unwrap().status.as_str(), order.last_sequence), ("delivered", Some(5)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_post_is_answered() {
    let bench = Bench::new().await;
    let sender = bench.serve().await;
    let path = reference_shop::WEBHOOK_PATH;
    let response = client().get(format!("http://{}{path}", sender.address)).send().await.unwrap();
    assert_eq!(response.status().as_u16(), 405);
}
