//! Creating, reading, changing and deleting endpoints.

use chrono::TimeDelta;
use diesel::dsl::sql;
use diesel::sql_types::{BigInt, Binary};
use diesel_async::RunQueryDsl;
use domain::{Clock, DEFAULT_SUBSCRIPTION, EventKind, Mode};
use futures_util::future::join_all;
use internal_api::PageQuery;
use internal_api::webhooks::{ConnectionTest, EndpointStatus};
use serde_json::json;
use test_kit::{invalid_fields, refusal, until};
use webhook_dispatcher::Settings;

use crate::harness::{Harness, some_day};
use crate::receiver::Receiver;

const URL: &str = "http://127.0.0.1:9/hook";

#[tokio::test]
async fn a_new_endpoint_has_the_defaults_and_shows_its_secret_once() {
    let harness = Harness::unconnected().await;
    let created = harness.create(json!({ "url": URL })).await;
    assert_eq!(created.view.url, URL);
    assert_eq!(created.view.events, DEFAULT_SUBSCRIPTION);
    assert_eq!(created.view.modes, [Mode::Live, Mode::Test]);
    assert_eq!(created.view.status, EndpointStatus::Active);
    assert_eq!(created.view.connection_test, ConnectionTest::NotTested);
    assert_eq!((created.view.last_delivery.at, created.view.last_delivery.label.as_str()), (None, "Never"));
    assert!(webhook_signature::Secret::parse(&created.secret).is_ok());

    // Not in any other answer, and not in the database.
    let id = created.view.id.to_string();
    let base = format!("internal/businesses/{}/webhook-endpoints", harness.business);
    for path in [base.clone(), format!("{base}/{id}")] {
        let url = harness.internal.join(&path).unwrap();
        let token = harness.settings.internal.token.expose();
        let answer = test_kit::client().get(url).bearer_auth(token).send().await.unwrap();
        let text = answer.text().await.unwrap();
        assert!(text.contains(&id) && !text.contains("whsec_") && !text.contains("secret"), "{text}");
    }
    let mut conn = harness.connection().await;
    let stored: Vec<u8> = diesel::select(sql::<Binary>("(SELECT secret_ciphertext FROM endpoints)"))
        .first(&mut conn)
        .await
        .unwrap();
    let plain = created.secret.as_bytes();
    assert!(!stored.windows(8).any(|window| plain.windows(8).any(|part| part == window)));
    let other = harness.create(json!({ "url": URL })).await;
    assert_ne!(other.secret, created.secret);
}

/// The clocks of the services differ: a comparison of times could lose its first events.
#[tokio::test]
async fn a_new_endpoint_gets_what_is_on_its_way() {
    let clock = Clock::manual(some_day());
    let harness = Harness::start_with(|_| {}, clock.clone()).await;
    let order = harness.new_order(Mode::Live);
    let on_its_way = harness.envelope(&order, 1, EventKind::OrderCreated);
    clock.advance(TimeDelta::seconds(1));
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    harness.publish(&[on_its_way]).await;
    until("it arrives", async || receiver.sequences(&order.reference) == [1]).await;
}

#[tokio::test]
async fn bad_input_is_refused_with_every_error() {
    let harness = Harness::unconnected().await;
    for (body, fields) in [
        (json!({}), vec!["url"]),
        (json!([]), vec![""]),
        (json!({"url": "shop.example/hook"}), vec!["url"]),
        (json!({"url": "ftp://127.0.0.1/"}), vec!["url"]),
        (json!({"url": "http://user:word@127.0.0.1/"}), vec!["url"]),
        (json!({"url": "http://127.0.0.1/#x"}), vec!["url"]),
        (json!({"url": format!("http://127.0.0.1/{}", "x".repeat(2_040))}), vec!["url"]),
        (json!({"url": URL, "events": []}), vec!["events"]),
        (json!({"url": URL, "events": ["order.created", "order.created"]}), vec!["events"]),
        (json!({"url": URL, "events": ["order.lost"]}), vec!["events[0]"]),
        (json!({"url": URL, "events": ["webhook.test"]}), vec!["events"]),
        (json!({"url": URL, "events": ["order.returning"]}), vec!["events"]),
        (json!({"url": URL, "modes": ["staging"]}), vec!["modes[0]"]),
        (json!({"url": "x", "events": [], "modes": []}), vec!["url", "events", "modes"]),
        (json!({"url": URL, "event": ["order.created"], "status": "paused"}), vec!["event", "status"]),
    ] {
        let refused = refusal(harness.hooks.create(harness.business, &body).await);
        assert_eq!((refused.status, refused.code.as_str()), (400, "invalid_request"), "{body}");
        assert_eq!(invalid_fields(&refused), fields, "{body}");
    }
    let summary = harness.hooks.summary(harness.business).await.unwrap();
    assert_eq!((summary.status, summary.connection_test), (None, ConnectionTest::NotTested));
}

/// The order's later events do not wait for one that an endpoint did not ask for.
#[tokio::test]
async fn requests_after_a_failure_are_sent_to_endpoints_that_name_them() {
    let switch_on = |settings: &mut Settings| settings.events.attempts = true;
    let harness = Harness::start_with(switch_on, Clock::system()).await;
    let (usual, asking) = (Receiver::kind(), Receiver::kind());
    harness.endpoint(&usual).await;
    let kinds = ["order.created", "order.reattempt_scheduled", "order.returning", "driver.assigned"];
    harness.create(json!({ "url": asking.url(), "events": kinds })).await;
    let order = harness.new_order(Mode::Live);
    let life = [
        EventKind::OrderCreated,
        EventKind::OrderReattemptScheduled,
        EventKind::OrderReturning,
        EventKind::DriverAssigned,
    ];
    let events: Vec<_> =
        life.iter().zip(1..).map(|(kind, sequence)| harness.envelope(&order, sequence, *kind)).collect();
    harness.publish(&events).await;
    until("both have theirs, in their order", async || {
        usual.sequences(&order.reference) == [1, 4] && asking.sequences(&order.reference) == [1, 2, 3, 4]
    })
    .await;
}

#[tokio::test]
async fn a_url_is_shown_as_it_is_called() {
    let harness = Harness::unconnected().await;
    let typed = r"http://127.0.0.1:1\@10.0.0.1/";
    let created = harness.create(json!({ "url": typed })).await;
    assert_eq!(created.view.url, "http://127.0.0.1:1/@10.0.0.1/");
    assert_eq!(harness.view(&created).await.url, created.view.url);
    let changed = harness.patch(&created, json!({ "url": "HTTP://127.0.0.1:80" })).await;
    assert_eq!(changed.url, "http://127.0.0.1/");
}

#[tokio::test]
async fn twenty_endpoints_and_no_more_even_if_they_come_at_once() {
    let harness = Harness::unconnected().await;
    let body = json!({ "url": URL });
    let outcomes = join_all((0..30).map(|_| harness.hooks.create(harness.business, &body))).await;
    let (created, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!((created.len(), refused.len()), (20, 10));
    for outcome in refused {
        let refused = refusal(outcome);
        assert_eq!((refused.status, refused.code.as_str()), (409, "too_many_webhook_endpoints"));
    }
    // Room is made by deleting one.
    let one = created.into_iter().next().unwrap().unwrap().view.id.to_string();
    harness.hooks.delete(harness.business, &one).await.unwrap();
    harness.create(body).await;
}

#[tokio::test]
async fn the_list_is_newest_first_in_pages() {
    let harness = Harness::unconnected_with(|_| {}, Clock::manual(some_day())).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(harness.create(json!({ "url": URL })).await.view.id);
        harness.clock.advance(TimeDelta::milliseconds(1));
    }
    ids.reverse();
    let page = |after: Option<String>| PageQuery { limit: 2, starting_after: after };
    let first = harness.hooks.list(harness.business, &page(None)).await.unwrap();
    assert!(first.has_more);
    assert_eq!(first.data.iter().map(|one| one.id).collect::<Vec<_>>(), ids[..2]);
    let rest = PageQuery { limit: 100, starting_after: Some(ids[1].to_string()) };
    let rest = harness.hooks.list(harness.business, &rest).await.unwrap();
    assert!(!rest.has_more);
    assert_eq!(rest.data.iter().map(|one| one.id).collect::<Vec<_>>(), ids[2..]);
    for unknown in ["whe_01ARZ3NDEKTSV4RRFFQ69G5FAV", "x"] {
        let refused = refusal(harness.hooks.list(harness.business, &page(Some(unknown.to_owned()))).await);
        assert_eq!((refused.status, invalid_fields(&refused)), (400, vec!["startingAfter"]));
    }
}

#[tokio::test]
async fn fields_that_are_not_named_stay_the_same() {
    let harness = Harness::unconnected().await;
    let created = harness.create(json!({"url": URL, "modes": ["live"]})).await;
    let changed = harness.patch(&created, json!({"events": ["order.delivered"]})).await;
    assert_eq!(changed.events, [EventKind::OrderDelivered]);
    assert_eq!((changed.url.as_str(), &changed.modes), (URL, &vec![Mode::Live]));
    let unchanged = harness.patch(&created, json!({})).await;
    assert_eq!(unchanged, changed);
    for (body, field) in [
        (json!({"status": "disabled"}), "status"),
        (json!({"events": []}), "events"),
        (json!({"url": "http://10.0.0.1/"}), "url"),
        (json!({"secret": "whsec_x"}), "secret"),
    ] {
        let id = created.view.id.to_string();
        let refused = refusal(harness.hooks.update(harness.business, &id, &body).await);
        assert_eq!((refused.status, invalid_fields(&refused)), (400, vec![field]));
    }
    assert_eq!(harness.view(&created).await, changed);
}

#[tokio::test]
async fn a_deleted_endpoint_is_gone_and_its_deliveries_are_discarded() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    harness.patch(&endpoint, json!({"status": "paused"})).await;
    let order = harness.new_order(Mode::Live);
    harness.publish_created(&order).await;
    harness.publish(&[harness.envelope(&order, 2, EventKind::DriverAssigned)]).await;
    until("both wait", async || harness.deliveries(&endpoint).await.len() == 2).await;
    let delivery = harness.deliveries(&endpoint).await.remove(0);
    let id = endpoint.view.id.to_string();
    harness.hooks.delete(harness.business, &id).await.unwrap();

    assert_eq!(refusal(harness.hooks.get(harness.business, &id).await).status, 404);
    assert_eq!(refusal(harness.hooks.delete(harness.business, &id).await).status, 404);
    assert_eq!(refusal(harness.hooks.update(harness.business, &id, &json!({})).await).status, 404);
    assert_eq!(refusal(harness.hooks.test(harness.business, &id).await).status, 404);
    let list = PageQuery { limit: 10, starting_after: None };
    assert_eq!(harness.hooks.list(harness.business, &list).await.unwrap().data, []);
    let redelivered = harness.hooks.redeliver(harness.business, &delivery.id.to_string()).await;
    let refused = refusal(redelivered);
    assert_eq!((refused.status, refused.code.as_str()), (409, "webhook_endpoint_deleted"));

    until("nothing waits any more", async || {
        let mut conn = harness.connection().await;
        let pending: i64 =
            diesel::select(sql::<BigInt>("(SELECT count(*) FROM deliveries WHERE state <> 'discarded')"))
                .first(&mut conn)
                .await
                .unwrap();
        pending == 0
    })
    .await;
    assert_eq!(receiver.count(), 0);
}
