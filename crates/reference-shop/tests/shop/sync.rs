//! The sync record of SPECIFICATION §3.3.

use chrono::TimeDelta;
use domain::Mode;
use reference_shop::{LocalOrderId, NewOrder, Shop, ShopError, SyncOutcome, SyncStatus};
use serde_json::{Value, json};
use settings::Secret;

use crate::bench::{API_KEY, Bench};
use crate::remote::Next;

#[tokio::test(flavor = "multi_thread")]
async fn confirming_an_order_stores_it_and_sends_nothing() {
    let bench = Bench::new().await;
    let id = bench.confirmed("A-1").await;
    let order = bench.order(&id).await;
    assert_eq!((order.sync_status, order.attempts), (SyncStatus::NotStarted, 0));
    assert_eq!((order.last_attempt_at, order.delivery), (None, None));
    assert!(bench.remote.seen().is_empty());

    let again = bench.shop.confirm_order(NewOrder::sample("A-1")).await;
    assert!(matches!(again, Err(ShopError::OrderExists(_))), "{again:?}");
    let unusable = bench.shop.confirm_order(NewOrder::sample("no spaces")).await;
    assert!(matches!(unusable, Err(ShopError::InvalidOrderId)), "{unusable:?}");
    let unknown = bench.shop.sync_order(&LocalOrderId::parse("A-2").unwrap()).await;
    assert!(matches!(unknown, Err(ShopError::UnknownOrder(_))), "{unknown:?}");
    assert_eq!(bench.shop.orders(10).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_created_once_and_its_details_are_kept() {
    let bench = Bench::new().await;
    let id = bench.created("A-1").await;
    let order = bench.order(&id).await;
    assert_eq!((order.sync_status, order.mode), (SyncStatus::Created, Some(Mode::Live)));
    assert_eq!(order.last_attempt_at, Some(bench.clock.now()));
    let delivery = order.delivery.unwrap();
    assert_eq!(delivery.service_order_id, "ord_A-1");
    assert_eq!(delivery.tracking_code, "TRACK-A-1");
    assert_eq!(delivery.tracking_url, "https://track.example/TRACK-A-1");
    assert_eq!(delivery.status, "created");

    bench.clock.advance(TimeDelta::hours(1));
    assert_eq!(bench.shop.sync_order(&id).await.unwrap(), SyncOutcome::AlreadyCreated(delivery));
    let seen = bench.remote.seen();
    assert_eq!(seen.len(), 1, "no second request");
    assert_eq!(seen[0].authorization, format!("Bearer {API_KEY}"));
    assert_eq!(seen[0].idempotency_key, "shop-A-1");
    assert_eq!(seen[0].content_type, "application/json");
    let sent: NewOrder = serde_json::from_str(&seen[0].body).unwrap();
    assert_eq!(sent, NewOrder::sample("A-1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_calls_at_once_make_one_request() {
    let bench = Bench::new().await;
    let id = bench.confirmed("A-1").await;
    bench.remote.next([Next::Hold]);
    let (done, mut outcomes) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..20 {
        let (shop, id, done) = (bench.shop.clone(), id.clone(), done.clone());
        tokio::spawn(async move { done.send(shop.sync_order(&id).await.unwrap()) });
    }
    for _ in 0..19 {
        assert_eq!(outcomes.recv().await.unwrap(), SyncOutcome::InProgress);
    }
    assert_eq!(bench.order(&id).await.sync_status, SyncStatus::Creating);
    bench.remote.has_seen(1).await;
    bench.remote.release();
    let last = outcomes.recv().await.unwrap();
    assert!(matches!(last, SyncOutcome::Created(_)), "{last:?}");
    assert_eq!(bench.remote.seen().len(), 1);
    assert_eq!(bench.order(&id).await.attempts, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_keeps_the_order_and_a_retry_repeats_the_request() {
    let bench = Bench::new().await;
    let id = bench.confirmed("A-1").await;
    let refusals: [(u16, Value); 4] = [
        (401, json!({"message": "The API key is invalid.", "code": "invalid_api_key"})),
        (402, json!({"message": "The wallet balance is too low.", "code": "insufficient_wallet_balance"})),
        (409, json!({"message": "Under way.", "code": "order_in_progress"})),
        (503, json!({"message": "Try again.", "code": "unavailable"})),
    ];
    bench.remote.next(refusals.clone().map(|(status, answer)| Next::Answer(status, answer)));
    for (attempt, (refused, answer)) in (1..).zip(refusals) {
        let text = |field: &str| answer[field].as_str().unwrap().to_owned();
        let SyncOutcome::Failed { status, code, message } = bench.shop.sync_order(&id).await.unwrap() else {
            panic!("{refused} is a failure");
        };
        assert_eq!((status, code, message), (Some(refused), Some(text("code")), text("message")));
        let order = bench.order(&id).await;
        assert_eq!((order.sync_status, order.attempts), (SyncStatus::Failed, attempt));
        assert_eq!(order.sync_error, Some(text("message")));
        assert_eq!((order.last_attempt_at, order.delivery), (Some(bench.clock.now()), None));
        bench.clock.advance(TimeDelta::seconds(1));
    }

    assert!(bench.shop.sync_order(&id).await.unwrap().delivery().is_some());
    let order = bench.order(&id).await;
    assert_eq!((order.sync_status, order.sync_error), (SyncStatus::Created, None));
    let seen = bench.remote.seen();
    assert_eq!(seen.len(), 5);
    for retry in &seen[1..] {
        assert_eq!((&retry.idempotency_key, &retry.body), (&seen[0].idempotency_key, &seen[0].body));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_response_is_a_failure_that_a_retry_fixes() {
    let bench = Bench::with(|settings| settings.request_timeout_seconds = 1).await;
    let id = bench.confirmed("A-1").await;
    bench.remote.next([Next::LoseAnswer]);
    let SyncOutcome::Failed { status: None, code, .. } = bench.shop.sync_order(&id).await.unwrap() else {
        panic!("nobody answered");
    };
    assert_eq!(code.as_deref(), Some("timeout"));
    assert_eq!(bench.order(&id).await.sync_status, SyncStatus::Failed);
    assert!(bench.shop.sync_order(&id).await.unwrap().delivery().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_service_loses_no_order() {
    let port = test_kit::nowhere().port();
    let bench = Bench::with(|settings| settings.base_url.set_port(Some(port)).unwrap()).await;
    let id = bench.confirmed("A-1").await;
    let SyncOutcome::Failed { status: None, code, message } = bench.shop.sync_order(&id).await.unwrap()
    else {
        panic!("nobody listens");
    };
    assert_eq!(code.as_deref(), Some("unreachable"));
    assert!(message.contains(&format!(":{port}/")), "{message}");
    assert_eq!(bench.order(&id).await.sync_status, SyncStatus::Failed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_409_with_the_existing_order_is_recovered() {
    let bench = Bench::new().await;
    let id = bench.confirmed("A-1").await;
    bench.remote.already_has("A-1");
    let outcome = bench.shop.sync_order(&id).await.unwrap();
    let SyncOutcome::Recovered(delivery) = outcome else { panic!("{outcome:?}") };
    assert_eq!(delivery.tracking_code, "TRACK-A-1");
    let order = bench.order(&id).await;
    assert_eq!((order.sync_status, order.delivery), (SyncStatus::Created, Some(delivery.clone())));
    assert_eq!(bench.shop.sync_order(&id).await.unwrap(), SyncOutcome::AlreadyCreated(delivery));
    assert_eq!(bench.remote.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_abandoned_by_a_crash_is_resumed_after_its_lease() {
    let bench = Bench::new().await;
    let id = bench.confirmed("A-1").await;
    bench.remote.next([Next::LoseAnswer]);
    // The crashed process has its own runtime, which is dropped during the request.
    let doomed = tokio::runtime::Runtime::new().unwrap();
    let (settings, clock, order) = (bench.settings.clone(), bench.clock.clone(), id.clone());
    doomed.spawn(async move {
        let shop = Shop::open_with_clock(settings, clock).await.unwrap();
        shop.sync_order(&order).await
    });
    bench.remote.has_seen(1).await;
    doomed.shutdown_background();

    bench.clock.advance(TimeDelta::seconds(60));
    assert_eq!(bench.shop.sync_order(&id).await.unwrap(), SyncOutcome::InProgress);
    assert_eq!(bench.remote.seen().len(), 1, "no second request within the lease");
    bench.clock.advance(TimeDelta::seconds(1));
    assert!(matches!(bench.shop.sync_order(&id).await.unwrap(), SyncOutcome::Created(_)));
    let seen = bench.remote.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].idempotency_key, seen[1].idempotency_key);
    assert_eq!(seen[0].body, seen[1].body);
    assert_eq!(bench.order(&id).await.attempts, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_superseded_attempt_undoes_nothing() {
    let bench = Bench::new().await;
    let id = bench.confirmed("A-1").await;
    bench.remote.next([Next::HoldAnswer(503, json!({"message": "Try again."}))]);
    let first = tokio::spawn({
        let (shop, id) = (bench.shop.clone(), id.clone());
        async move { shop.sync_order(&id).await.unwrap() }
    });
    bench.remote.has_seen(1).await;
    bench.clock.advance(TimeDelta::seconds(61));
    assert!(matches!(bench.shop.sync_order(&id).await.unwrap(), SyncOutcome::Created(_)));
    bench.remote.release();
    assert!(matches!(first.await.unwrap(), SyncOutcome::AlreadyCreated(_)));
    let order = bench.order(&id).await;
    assert_eq!((order.sync_status, order.sync_error), (SyncStatus::Created, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_failure_of_a_superseded_attempt_does_not_end_the_current_one() {
    let bench = Bench::new().await;
    let id = bench.confirmed("A-1").await;
    bench.remote.next([Next::HoldAnswer(503, json!({"message": "Try again."})), Next::Hold]);
    let sync = || {
        let (shop, id) = (bench.shop.clone(), id.clone());
        tokio::spawn(async move { shop.sync_order(&id).await.unwrap() })
    };
    let first = sync();
    bench.remote.has_seen(1).await;
    bench.clock.advance(TimeDelta::seconds(61));
    let second = sync();
    bench.remote.has_seen(2).await;
    // The oldest waiting requests are released first.
    bench.remote.release();
    assert_eq!(first.await.unwrap(), SyncOutcome::InProgress);
    assert_eq!(bench.order(&id).await.sync_status, SyncStatus::Creating);
    bench.remote.release();
    assert!(matches!(second.await.unwrap(), SyncOutcome::Created(_)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_away_changes_nothing() {
    let bench = Bench::new().await;
    let id = bench.confirmed("A-1").await;
    bench.remote.next([Next::Hold]);
    let caller = tokio::spawn({
        let (shop, id) = (bench.shop.clone(), id.clone());
        async move { shop.sync_order(&id).await }
    });
    bench.remote.has_seen(1).await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    bench.remote.release();
    let order = test_kit::eventually("the order is created", async || {
        Some(bench.order(&id).await).filter(|order| order.sync_status == SyncStatus::Created)
    })
    .await;
    assert!(order.delivery.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_key_is_used_from_the_next_request_on() {
    let bench = Bench::new().await;
    bench.shop.set_api_key(Secret::new("sk_test_waybill_another"));
    let id = bench.created("A-1").await;
    assert_eq!(bench.remote.seen()[0].authorization, "Bearer sk_test_waybill_another");
    assert_eq!(bench.order(&id).await.mode, Some(Mode::Test));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_delivery_does_not_replace_a_live_one_and_is_replaced_by_it() {
    let bench = Bench::new().await;
    bench.shop.set_api_key(Secret::new("sk_test_waybill_another"));
    let id = bench.created("A-1").await;
    bench.shop.set_api_key(Secret::new(API_KEY));
    let outcome = bench.shop.sync_order(&id).await.unwrap();
    assert!(matches!(outcome, SyncOutcome::Created(_)), "{outcome:?}");
    assert_eq!((bench.remote.seen().len(), bench.order(&id).await.mode), (2, Some(Mode::Live)));
    bench.shop.set_api_key(Secret::new("sk_test_waybill_another"));
    let outcome = bench.shop.sync_order(&id).await.unwrap();
    assert!(matches!(outcome, SyncOutcome::AlreadyCreated(_)), "{outcome:?}");
    assert_eq!((bench.remote.seen().len(), bench.order(&id).await.mode), (2, Some(Mode::Live)));

    // A live attempt may have succeeded although its answer was lost.
    bench.shop.set_api_key(Secret::new(API_KEY));
    let lost = bench.confirmed("A-2").await;
    bench.remote.next([Next::Answer(503, json!({"message": "x"}))]);
    assert!(matches!(bench.shop.sync_order(&lost).await.unwrap(), SyncOutcome::Failed { .. }));
    bench.shop.set_api_key(Secret::new("sk_test_waybill_another"));
    assert!(matches!(bench.shop.sync_order(&lost).await.unwrap(), SyncOutcome::Failed { .. }));
    assert_eq!((bench.remote.seen().len(), bench.order(&lost).await.mode), (3, Some(Mode::Live)));
}
