//! Filters of the delivery log, and the details of attempts.

use chrono::{SecondsFormat, TimeDelta};
use diesel_async::SimpleAsyncConnection;
use domain::{Clock, EventKind, Mode};
use internal_api::webhooks::{CreatedEndpoint, DeliveriesPage, DeliveryState, Redelivery};
use serde_json::{Value, json};
use test_kit::{invalid_fields, refusal, until};

use crate::harness::{DeliveriesQuery, Harness, retries, some_day};
use crate::receiver::{Latch, Receiver, reply};

async fn page(harness: &Harness, endpoint: &CreatedEndpoint, query: DeliveriesQuery) -> DeliveriesPage {
    let id = endpoint.view.id.to_string();
    harness.hooks.deliveries(harness.business, &id, &query.text()).await.expect("a page")
}

#[tokio::test]
async fn the_log_is_filtered_by_all_that_an_owner_asks_for() {
    // Without retries, so that a failure is final at once.
    let adjust = |settings: &mut webhook_dispatcher::Settings| settings.webhooks.retry_seconds = retries("0");
    let harness = Harness::start_with(adjust, Clock::manual(some_day())).await;
    let receiver = Receiver::start(|received, _| {
        reply(if received.json()["event"] == "driver.assigned" { 400 } else { 200 })
    });
    let endpoint = harness.endpoint(&receiver).await;
    let (live, test) = (harness.new_order(Mode::Live), harness.new_order(Mode::Test));
    harness.publish_created(&test).await;
    until("the first is in the log", async || harness.deliveries(&endpoint).await.len() == 1).await;
    // The log is in the order of time.
    harness.clock.advance(TimeDelta::milliseconds(1));
    harness.publish_created(&live).await;
    until("the first two are over", async || {
        let log = harness.deliveries(&endpoint).await;
        log.len() == 2 && log.iter().all(|one| one.status == DeliveryState::Succeeded)
    })
    .await;
    harness.clock.advance(TimeDelta::milliseconds(1));
    let between = harness.clock.now().to_rfc3339_opts(SecondsFormat::Millis, true);
    harness.publish(&[harness.envelope(&live, 2, EventKind::DriverAssigned)]).await;
    until("the third is over", async || {
        harness.deliveries(&endpoint).await[0].status == DeliveryState::Failed
    })
    .await;

    let all = harness.deliveries(&endpoint).await;
    let [failed, created_live, created_test] = [&all[0], &all[1], &all[2]];
    let some = |text: &str| Some(text.to_owned());
    let none = DeliveriesQuery::default;
    for (query, expected) in [
        (none(), vec![failed, created_live, created_test]),
        (DeliveriesQuery { mode: some("test"), ..none() }, vec![created_test]),
        (DeliveriesQuery { mode: some("live"), ..none() }, vec![failed, created_live]),
        (DeliveriesQuery { mode: some("live"), status: some("succeeded"), ..none() }, vec![created_live]),
        (DeliveriesQuery { order_reference: some(&live.reference), ..none() }, vec![failed, created_live]),
        (
            DeliveriesQuery { order_reference: some(&live.reference), status: some("failed"), ..none() },
            vec![failed],
        ),
        (DeliveriesQuery { order_reference: some("no such order"), ..none() }, vec![]),
        (DeliveriesQuery { since: some(&between), ..none() }, vec![failed]),
        (DeliveriesQuery { until: some(&between), ..none() }, vec![created_live, created_test]),
        (DeliveriesQuery { since: some(&between), until: some(&between), ..none() }, vec![]),
        (DeliveriesQuery { status: some("failed"), event: some("driver.assigned"), ..none() }, vec![failed]),
        (DeliveriesQuery { status: some("discarded"), ..none() }, vec![]),
        (DeliveriesQuery { status: some("parked"), ..none() }, vec![]),
        (DeliveriesQuery { event: some("order.created"), mode: some("test"), ..none() }, vec![created_test]),
    ] {
        let found = page(&harness, &endpoint, query.clone()).await;
        assert_eq!(found.data.iter().collect::<Vec<_>>(), expected, "{query:?}");
        assert!(!found.has_more && found.continue_after.is_none(), "{query:?}");
    }
    let first = DeliveriesQuery { order_reference: some(&live.reference), limit: Some(1), ..none() };
    let first = page(&harness, &endpoint, first).await;
    assert_eq!((first.data.len(), first.has_more, first.continue_after), (1, true, Some(failed.id)));
    let after = DeliveriesQuery {
        order_reference: some(&live.reference),
        starting_after: first.continue_after.map(|id| id.to_string()),
        ..none()
    };
    assert_eq!(page(&harness, &endpoint, after).await.data, std::slice::from_ref(created_live));
}

#[tokio::test]
async fn every_invalid_filter_is_reported() {
    let harness = Harness::unconnected().await;
    let endpoint = harness.endpoint(&Receiver::kind()).await;
    let some = |text: &str| Some(text.to_owned());
    let none = DeliveriesQuery::default;
    let id = endpoint.view.id.to_string();
    for (query, field) in [
        (DeliveriesQuery { mode: some("real"), ..none() }, "mode"),
        (DeliveriesQuery { since: some("yesterday"), ..none() }, "since"),
        (DeliveriesQuery { until: some("2026-01-01"), ..none() }, "until"),
        (DeliveriesQuery { order_reference: some(" "), ..none() }, "orderReference"),
    ] {
        let refused = refusal(harness.hooks.deliveries(harness.business, &id, &query.text()).await);
        assert_eq!((refused.status, invalid_fields(&refused)), (400, vec![field]), "{query:?}");
    }
    let (later, sooner) = (some("2026-02-01T00:00:00Z"), some("2026-01-01T00:00:00Z"));
    let all_at_once = DeliveriesQuery {
        limit: Some(0),
        starting_after: some("whd_x"),
        status: some("bogus"),
        event: some(""),
        mode: some("real"),
        response_status: some("7xx"),
        order_reference: some(""),
        since: later,
        until: sooner,
    };
    let refused = refusal(harness.hooks.deliveries(harness.business, &id, &all_at_once.text()).await);
    let named =
        ["limit", "startingAfter", "status", "event", "mode", "responseStatus", "orderReference", "until"];
    let mut found = invalid_fields(&refused);
    found.sort_unstable();
    let mut named = named.to_vec();
    named.sort_unstable();
    assert_eq!((refused.status, found), (400, named));
}

#[tokio::test]
async fn a_filter_that_finds_little_reads_a_window_and_continues_there() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Test)).await;
    until("it arrives", async || harness.succeeded(&endpoint).await).await;
    // All newer, and of another kind.
    let mut conn = harness.connection().await;
    harness.fill(&endpoint, 25_000).await;
    for query in [
        DeliveriesQuery { mode: Some("test".to_owned()), ..DeliveriesQuery::default() },
        DeliveriesQuery { event: Some("order.created".to_owned()), ..DeliveriesQuery::default() },
        DeliveriesQuery { response_status: Some("2xx".to_owned()), ..DeliveriesQuery::default() },
    ] {
        let first = page(&harness, &endpoint, query.clone()).await;
        assert_eq!((first.data.len(), first.has_more), (0, true));
        let on = first.continue_after.expect("a place to go on from").to_string();
        assert_eq!(on, format!("whd_7{:025}", 5_001));
        let second = page(&harness, &endpoint, DeliveriesQuery { starting_after: Some(on), ..query }).await;
        assert_eq!((second.data.len(), second.has_more, second.continue_after), (1, false, None));
    }

    // Also for the other unsuccessful state.
    let spoil =
        "UPDATE deliveries SET state = CASE WHEN kind = 'order.created' THEN 'discarded' ELSE 'failed' END";
    conn.batch_execute(spoil).await.unwrap();
    let query = DeliveriesQuery { status: Some("discarded".to_owned()), ..DeliveriesQuery::default() };
    let first = page(&harness, &endpoint, query.clone()).await;
    assert_eq!((first.data.len(), first.has_more), (0, true));
    let on = first.continue_after.map(|id| id.to_string());
    let second = page(&harness, &endpoint, DeliveriesQuery { starting_after: on, ..query }).await;
    assert_eq!((second.data.len(), second.has_more), (1, false));
}

#[tokio::test]
async fn answers_are_found_by_their_status_and_class() {
    let harness = Harness::start().await;
    let receiver = Receiver::start(|received, _| reply(if received.sequence() == 2 { 400 } else { 204 }));
    let endpoint = harness.endpoint(&receiver).await;
    let order = harness.new_order(Mode::Live);
    harness.publish_created(&order).await;
    harness.publish(&[harness.envelope(&order, 2, EventKind::DriverAssigned)]).await;
    until("both are over", async || {
        let log = harness.deliveries(&endpoint).await;
        log.len() == 2 && log.iter().all(|one| one.status != DeliveryState::Pending)
    })
    .await;
    let all = harness.deliveries(&endpoint).await;
    let [refused, taken] = [&all[0], &all[1]];
    let of = |wanted: &str| DeliveriesQuery {
        response_status: Some(wanted.to_owned()),
        ..DeliveriesQuery::default()
    };
    let some = |text: &str| Some(text.to_owned());
    for (query, expected) in [
        (of("400"), vec![refused]),
        (of("4xx"), vec![refused]),
        (of("204"), vec![taken]),
        (of("2xx"), vec![taken]),
        (of("200"), vec![]),
        (of("3xx"), vec![]),
        (of("5xx"), vec![]),
        (of("none"), vec![]),
        (DeliveriesQuery { status: some("failed"), ..of("4xx") }, vec![refused]),
        (DeliveriesQuery { status: some("failed"), ..of("2xx") }, vec![]),
        (DeliveriesQuery { event: some("order.created"), ..of("2xx") }, vec![taken]),
        (DeliveriesQuery { mode: some("test"), ..of("2xx") }, vec![]),
        (DeliveriesQuery { order_reference: some(&order.reference), ..of("4xx") }, vec![refused]),
    ] {
        let found = page(&harness, &endpoint, query.clone()).await;
        assert_eq!(found.data.iter().collect::<Vec<_>>(), expected, "{query:?}");
        assert!(!found.has_more && found.continue_after.is_none(), "{query:?}");
    }
    let id = endpoint.view.id.to_string();
    for wrong in ["7xx", "99", "500,503", "5XX", " "] {
        let refused = refusal(harness.hooks.deliveries(harness.business, &id, &of(wrong).text()).await);
        assert_eq!((refused.status, invalid_fields(&refused)), (400, vec!["responseStatus"]), "{wrong}");
    }
}

#[tokio::test]
async fn the_latest_answer_is_shown_and_found() {
    let harness = Harness::start().await;
    let (broken, kind) = (Receiver::start(|_, _| reply(503)), Receiver::kind());
    // Nothing listens at the first.
    let silent = harness.create(json!({"url": "http://127.0.0.1:1/hook"})).await;
    let endpoint = harness.endpoint(&broken).await;
    let resting = harness.endpoint(&broken).await;
    harness.patch(&resting, json!({"status": "paused"})).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    let found = async |endpoint: &CreatedEndpoint, wanted: &str| {
        let query =
            DeliveriesQuery { response_status: Some(wanted.to_owned()), ..DeliveriesQuery::default() };
        let page = page(&harness, endpoint, query).await;
        page.data.into_iter().map(|one| one.last_response_status).collect::<Vec<_>>()
    };
    until("no answer came", async || found(&silent, "none").await == [None]).await;
    until("a bad answer came", async || found(&endpoint, "503").await == [Some(503)]).await;
    assert_eq!(found(&silent, "5xx").await, []);
    assert_eq!(found(&endpoint, "none").await, []);
    // A delivery that was never sent is not found by `none`.
    assert_eq!(harness.deliveries(&resting).await.len(), 1);
    for wanted in ["none", "2xx", "5xx"] {
        assert_eq!(found(&resting, wanted).await, [], "{wanted}");
    }

    // The latest one counts, whatever came before.
    harness.patch(&endpoint, json!({"url": kind.url()})).await;
    until("it failed, or arrives elsewhere", async || {
        harness.deliveries(&endpoint).await[0].status != DeliveryState::Pending
    })
    .await;
    let delivery = harness.deliveries(&endpoint).await.remove(0).id.to_string();
    harness.hooks.redeliver(harness.business, &delivery).await.expect("it is sent again");
    until("a good answer came", async || found(&endpoint, "2xx").await == [Some(200)]).await;
    assert_eq!(found(&endpoint, "503").await, []);
    let details = harness.hooks.delivery(harness.business, &delivery).await.expect("the delivery");
    assert_eq!(details.view.last_response_status, Some(200));
    assert_eq!(details.attempt_log.first().and_then(|first| first.response_status), Some(503));
}

#[tokio::test]
async fn each_attempt_shows_the_request_as_it_was_sent() {
    // The owner requests the second attempt.
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.retry_seconds = retries("3600");
    };
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let (first, second) = (Receiver::start(|_, _| reply(500)), Receiver::kind());
    let endpoint = harness.endpoint(&first).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("the first attempt failed", async || {
        harness.deliveries(&endpoint).await.first().is_some_and(|one| one.attempts == 1)
    })
    .await;
    harness.patch(&endpoint, json!({ "url": format!("{}?token=of-the-owner", second.url()) })).await;
    let delivery = harness.deliveries(&endpoint).await.remove(0);
    let again = harness.hooks.redeliver(harness.business, &delivery.id.to_string()).await;
    assert_eq!(again.expect("it is sent again").redelivery, Redelivery::BroughtForward);
    until("it arrives elsewhere", async || harness.succeeded(&endpoint).await).await;

    let details = harness.details(&delivery).await;
    let (before, last) = (details.attempt_log.first().unwrap(), details.attempt_log.last().unwrap());
    assert_eq!((before.method.as_str(), before.url.as_deref()), ("POST", Some(first.url().as_str())));
    let elsewhere = format!("{}?token=of-the-owner", second.url());
    assert_eq!((last.method.as_str(), last.url.as_deref()), ("POST", Some(elsewhere.as_str())));
    let arrived = second.received().remove(0);
    assert_eq!(details.request_body.as_bytes(), arrived.body);
    let shown = last.request_headers.as_object().expect("headers");
    let shown: Vec<(String, String)> =
        shown.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect();
    let mut sent = arrived.headers.clone();
    sent.sort();
    assert_eq!(shown, sent, "every header as it arrived, and no other");
    assert!(last.request_headers["service-signature"] != Value::Null);
}

#[tokio::test]
async fn a_redelivery_of_a_pending_delivery_reports_its_state_and_is_sent() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| settings.webhooks.timeout_seconds = 600.0;
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let latch = Latch::closed();
    let first = latch.clone();
    let receiver = Receiver::start(move |received, _| {
        let mut reply = reply(200);
        reply.held = (received.sequence() == 1).then(|| first.clone());
        reply
    });
    let endpoint = harness.endpoint(&receiver).await;
    let order = harness.new_order(Mode::Live);
    harness.publish_created(&order).await;
    harness.publish(&[harness.envelope(&order, 2, EventKind::DriverAssigned)]).await;
    until("the first is under way and the second behind it", async || {
        receiver.count() == 1 && harness.deliveries(&endpoint).await.len() == 2
    })
    .await;
    let log = harness.deliveries(&endpoint).await;
    let ask = async |kind: EventKind| {
        let delivery = log.iter().find(|one| one.event == kind).expect("both are in the log");
        let id = delivery.id.to_string();
        harness.hooks.redeliver(harness.business, &id).await.expect("an answer").redelivery
    };
    assert_eq!(ask(EventKind::OrderCreated).await, Redelivery::UnderWay);
    assert_eq!(ask(EventKind::DriverAssigned).await, Redelivery::WaitsItsTurn);
    latch.open();
    until("both arrive, and the first again", async || {
        let mut arrived = receiver.sequences(&order.reference);
        arrived.sort_unstable();
        arrived == [1, 1, 2]
    })
    .await;
    until("nothing is left", async || harness.count("deliveries WHERE state = 'succeeded'").await == 2).await;
}

#[tokio::test]
async fn a_redelivery_is_sent_even_if_the_endpoint_no_longer_subscribes() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.retry_seconds = retries("3600");
    };
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let receiver = Receiver::start(|_, before| reply(if before == 0 { 500 } else { 200 }));
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it waits for its retry", async || {
        harness.deliveries(&endpoint).await.first().is_some_and(|one| one.next_attempt_at.is_some())
    })
    .await;
    harness.patch(&endpoint, json!({"events": ["order.delivered"]})).await;
    let delivery = harness.deliveries(&endpoint).await.remove(0).id.to_string();
    let again = harness.hooks.redeliver(harness.business, &delivery).await.expect("an answer");
    assert_eq!(again.redelivery, Redelivery::BroughtForward);
    until("it arrives", async || harness.succeeded(&endpoint).await).await;
}
