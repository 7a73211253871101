//! Calls, directly and through a failing network.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use waybill_client::{
    ApiError, ApiErrorKind, ClientOptions, Created, Error, NewDeliveryDetails, NewReattempt, NoAnswer,
    OrderFilters, Result, Waybill,
};

use crate::proxy::{Fault, FaultyProxy};
use crate::shop::{NoPauses, TestShop, new_order, orders_and_debits};

const FEE: i64 = 4_900;

async fn create(waybill: &Waybill, reference: &str) -> Result<Created> {
    waybill.orders.create(new_order(reference, FEE), &format!("shop-{reference}")).await
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T>) -> ApiError {
    match outcome {
        Err(Error::Api(error)) => *error,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_network_leaves_one_order_and_one_debit() -> anyhow::Result<()> {
    let shop = TestShop::open().await?;
    let proxy = FaultyProxy::start(shop.business.order_api()).await?;
    let live = shop.live()?;
    let patient = |options| Waybill::new(&shop.live_key, &proxy.base_url, options);

    let singles = [Fault::CutBefore, Fault::CutAfter, Fault::CutBody, Fault::Hang];
    let statuses = [429, 503, 500, 408].map(Fault::Status);
    let several = vec![Fault::CutAfter, Fault::Status(503), Fault::CutBody, Fault::Status(429)];
    let rounds = singles.into_iter().chain(statuses).map(|fault| vec![fault]).chain([several]);
    for (number, faults) in rounds.enumerate() {
        // Only what hangs needs a short limit: on a busy machine, an order may take longer.
        let hangs = faults.contains(&Fault::Hang);
        let attempt_timeout = Duration::from_secs(if hangs { 2 } else { 15 });
        let environment = NoPauses::new(0.0);
        let waybill = patient(ClientOptions { attempt_timeout, environment, ..ClientOptions::default() })?;
        let reference = format!("network-{number}");
        proxy.fail(faults.clone());
        let created = create(&waybill, &reference).await.with_context(|| format!("{faults:?}"))?;
        let seen = proxy.seen();
        let attempts = faults.len() + 1;
        assert!(if hangs { seen.len() >= attempts } else { seen.len() == attempts }, "{faults:?}: {seen:?}");
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 1, "the same bytes and key: {faults:?}");
        let (orders, debits) = orders_and_debits(&live, &reference).await?;
        let ids: Vec<_> = orders.into_iter().map(|order| order.id).collect();
        assert_eq!((ids, debits), (vec![created.order.id], 1), "{faults:?}");
    }

    retries_end_at_the_deadline(&shop, &proxy).await?;
    retry_after_is_respected(&shop, &proxy).await?;
    a_simulated_move_is_never_sent_twice(&shop, &proxy).await?;
    answers_of_other_programs_are_none_of_the_service(&shop, &proxy).await?;
    shop.stack.shut_down().await
}

async fn retries_end_at_the_deadline(shop: &TestShop, proxy: &FaultyProxy) -> anyhow::Result<()> {
    let options = ClientOptions {
        attempt_timeout: Duration::from_millis(300),
        deadline: Duration::from_millis(1_500),
        ..ClientOptions::default()
    };
    let waybill = Waybill::new(&shop.business.test_key, &proxy.base_url, options)?;
    proxy.fail([Fault::Hang; 9]);
    let begun = Instant::now();
    let outcome = create(&waybill, "deadline").await;
    assert!(matches!(outcome, Err(Error::NoAnswer { reason: NoAnswer::Timeout, .. })), "{outcome:?}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(proxy.seen().len() >= 2);
    Ok(())
}

async fn retry_after_is_respected(shop: &TestShop, proxy: &FaultyProxy) -> anyhow::Result<()> {
    let environment = NoPauses::new(0.5);
    let options = ClientOptions { environment: environment.clone(), ..ClientOptions::default() };
    let waybill = Waybill::new(&shop.business.test_key, &proxy.base_url, options)?;
    proxy.fail([Fault::Status(503); 2]);
    create(&waybill, "growing").await?;
    assert_eq!(environment.pauses_ms(), [500, 1_000]);
    proxy.fail([Fault::Status(429)]);
    proxy.retry_after("7");
    create(&waybill, "asked").await?;
    assert_eq!(environment.pauses_ms()[2..], [7_000]);
    proxy.fail([Fault::Status(503)]);
    proxy.retry_after("61");
    let error = refused(waybill.orders.get("ord_1").await);
    assert_eq!((error.status, error.retry_after), (503, Some(Duration::from_secs(61))));
    assert_eq!(environment.pauses_ms().len(), 3, "longer than the deadline");
    proxy.retry_after("0");
    Ok(())
}

async fn a_simulated_move_is_never_sent_twice(shop: &TestShop, proxy: &FaultyProxy) -> anyhow::Result<()> {
    let options = ClientOptions::default();
    let waybill = Waybill::new(&shop.business.test_key, &proxy.base_url, options)?;
    let order = create(&waybill, "moved").await?.order;
    proxy.fail([Fault::CutAfter]);
    let outcome = waybill.orders.simulate(&order.id, "driver.assigned").await;
    let is_cut = matches!(outcome, Err(Error::NoAnswer { reason: NoAnswer::Unreachable, .. }));
    assert!(is_cut, "{outcome:?}");
    assert_eq!(proxy.seen().len(), 1);
    assert_eq!(waybill.orders.get(&order.id).await?.status, "driver_assigned");
    proxy.fail([Fault::Status(429)]);
    let moved = waybill.orders.simulate(&order.id, "order.picked_up").await?;
    assert_eq!((moved.order.status.as_str(), proxy.seen().len()), ("picked_up", 2));
    assert!(moved.legal.iter().any(|event| event == "order.out_for_delivery"), "{:?}", moved.legal);
    let phone = Some("+919800000009".to_owned());
    let details = NewDeliveryDetails { phone: phone.clone(), ..NewDeliveryDetails::default() };
    assert_eq!(waybill.orders.correct_delivery(&order.id, &details).await?.customer.phone, phone);
    waybill.orders.simulate(&order.id, "order.failed").await?;
    // Unlike a move, a request is repeated after a lost answer.
    proxy.fail([Fault::CutAfter]);
    let again = waybill.orders.reattempt(&order.id, &NewReattempt::default()).await?;
    assert_eq!(again.reattempt.map(|reattempt| reattempt.number), Some(2));
    assert!(waybill.orders.request_return(&order.id).await?.return_requested_at.is_some());
    proxy.fail([Fault::CutAfter]);
    let code = waybill.orders.issue_delivery_code(&order.id).await?;
    assert_eq!(waybill.orders.issue_delivery_code(&order.id).await?, code);
    let evidence = waybill.orders.evidence(&order.id).await?;
    assert_eq!((evidence.attempts.len(), evidence.intact), (1, true));
    Ok(())
}

async fn answers_of_other_programs_are_none_of_the_service(
    shop: &TestShop,
    proxy: &FaultyProxy,
) -> anyhow::Result<()> {
    let options = ClientOptions { attempts_max: 1, ..ClientOptions::default() };
    let waybill = Waybill::new(&shop.business.test_key, &proxy.base_url, options)?;
    let order = "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    proxy.say(r#"{"message":{"a":1},"code":"order_reference_exists","errors":"x","order":{"id":1}}"#);
    proxy.fail([200, 502, 409, 302].map(Fault::Status));
    let unusable = waybill.orders.get(order).await;
    let call = format!("GET {}/integration/orders/{order}", proxy.base_url);
    let message = format!("The service's answer cannot be read ({call}, status 200).");
    assert_eq!(unusable.map_err(|error| error.message()), Err(message));
    let failed = refused(waybill.orders.get(order).await);
    assert_eq!(
        (failed.kind(), failed.message),
        (ApiErrorKind::Server, format!("The service answered 502 ({call})."))
    );
    assert_eq!(refused(waybill.orders.get(order).await).kind(), ApiErrorKind::Conflict);
    assert_eq!(refused(waybill.orders.get(order).await).kind(), ApiErrorKind::Unexpected);
    proxy.say(r#"{"data":[],"hasMore":false,"incomplete":["wallet"]}"#);
    proxy.fail([Fault::Status(200)]);
    let mut timeline = waybill.orders.timeline(order)?;
    assert!(timeline.next().await?.is_none());
    assert_eq!(timeline.incomplete(), ["wallet"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_become_values_or_errors() -> anyhow::Result<()> {
    let shop = TestShop::open().await?;
    let (test, live) = (shop.test()?, shop.live()?);

    let first = create(&test, "replayed").await?;
    let second = create(&test, "replayed").await?;
    assert_eq!((first.replayed, second.replayed, &second.order), (false, true, &first.order));
    let reused = refused(test.orders.create(new_order("replayed", 5_000), "shop-replayed").await);
    assert_eq!((reused.status, reused.code.as_str()), (422, "idempotency_key_reused"));
    let exists = refused(test.orders.create(new_order("replayed", FEE), "another-key").await);
    assert_eq!(exists.kind(), ApiErrorKind::OrderExists);
    assert_eq!(exists.order.map(|order| order.id), Some(first.order.id));

    let wrong = refused(test.orders.create(new_order("", 0), "wrong").await);
    let fields: BTreeSet<_> = wrong.errors.iter().map(|error| error.field.as_str()).collect();
    assert_eq!(fields, BTreeSet::from(["orderReference", "payment.deliveryFeePaise"]));
    assert!(wrong.request_id.as_deref().is_some_and(|id| id.starts_with("req_")), "{wrong:?}");
    assert!(wrong.to_string().contains("payment.deliveryFeePaise: "), "{wrong}");

    let dear = refused(live.orders.create(new_order("dear", 100_000_000_000), "dear").await);
    assert_eq!(dear.kind(), ApiErrorKind::InsufficientBalance);
    let missing = dear.required_paise.zip(dear.balance_paise).map(|(required, balance)| required - balance);
    assert!(missing.is_some() && dear.shortfall_paise == missing, "{dear:?}");

    let order = create(&live, "cancelled").await?.order;
    let denied = refused(live.orders.simulate(&order.id, "auto").await);
    assert_eq!(denied.kind(), ApiErrorKind::PermissionDenied);
    let cancelled = live.orders.cancel(&order.id, Some("changed their mind")).await?;
    assert_eq!(
        (cancelled.status.as_str(), cancelled.reason.as_deref()),
        ("cancelled", Some("changed their mind"))
    );
    assert_eq!(live.orders.cancel(&order.id, None).await?.status, "cancelled");

    for number in 0..3 {
        create(&test, &format!("listed-{number}")).await?;
    }
    for updated_after in [None, Some("2020-01-01T00:00:00Z".to_owned())] {
        let mut list = test.orders.list(OrderFilters { limit: Some(2), updated_after, ..Default::default() });
        let mut found = BTreeSet::new();
        while let Some(order) = list.next().await? {
            assert!(found.insert(order.order_reference), "no order twice");
        }
        let wanted = ["listed-0", "listed-1", "listed-2"];
        assert!(wanted.iter().all(|reference| found.contains(*reference)), "{found:?}");
    }
    for (created_until, found) in [(None, Some("listed-1")), (Some("2020-01-01T00:00:00Z".to_owned()), None)]
    {
        let search = Some("listed-1".to_owned());
        let mut list = test.orders.list(OrderFilters { search, created_until, ..Default::default() });
        let first = list.next().await?;
        assert_eq!(first.as_ref().map(|order| order.order_reference.as_str()), found);
    }
    keys_are_redacted(&shop).await?;
    shop.stack.shut_down().await
}

async fn keys_are_redacted(shop: &TestShop) -> anyhow::Result<()> {
    let last = if shop.business.test_key.ends_with('0') { "1" } else { "0" };
    let key = format!("{}{last}", &shop.business.test_key[..shop.business.test_key.len() - 1]);
    let results = Arc::new(Mutex::new(Vec::new()));
    let seen = results.clone();
    let options = ClientOptions {
        app_info: Some("shop/1".into()),
        on_response: Some(Arc::new(move |result| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(result.clone());
        })),
        ..ClientOptions::default()
    };
    let waybill = Waybill::new(&key, shop.business.order_api(), options)?;
    let error = refused(waybill.orders.get("ord_1").await);
    assert_eq!(error.kind(), ApiErrorKind::Authentication);
    let results = results.lock().unwrap_or_else(PoisonError::into_inner);
    let shown = format!("{waybill:?} {:?} {error:?} {error} {results:?}", waybill.orders);
    assert!(!shown.contains(&key["sk_test_".len()..]), "{shown}");
    let header = |name: &str| {
        let headers = &results[0].exchange.headers;
        headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    };
    assert_eq!(header("authorization"), Some("Bearer sk_test_…"));
    let agent = header("user-agent").unwrap_or_default();
    assert!(agent.starts_with("waybill-rust/") && agent.ends_with(" shop/1"), "{agent}");
    assert_eq!((results[0].status, &results[0].request_id), (Some(401), &error.request_id));
    Ok(())
}
