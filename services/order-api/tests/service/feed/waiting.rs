//! Calls that wait for events.

use std::time::Duration;

use demo::clients::Reply;
use diesel_async::SimpleAsyncConnection;
use domain::Clock;
use events::{ApiKeyRevoked, Body};
use serde_json::json;
use test_kit::until;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::UNLIMITED;
use super::reader::{Reader, ids, place, simulate};
use crate::harness::{OrderApi, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_the_first_event() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let business = service.business(100_000);
    let reader = Reader::new(&service, &business.test_key);
    let begun = Instant::now();
    let nothing = reader.page("?waitSeconds=1").await;
    assert_eq!(nothing["data"], json!([]));
    assert!(begun.elapsed() >= Duration::from_secs(1), "it waited");

    let rest = format!("?startingAfter={}&waitSeconds=20&types=driver.assigned", text(&nothing, "next"));
    let waiting = tokio::spawn({
        let reader = reader.clone();
        async move { reader.page(&rest).await }
    });
    let live = business.live().unwrap();
    live.create("live", &test_kit::smallest_order("live")).await.unwrap().expect(201).unwrap();
    let order = place(&business, "waited-for").await;
    // The other mode and the other kind wake the call, and it waits again.
    reader.events(1).await;
    assert!(!waiting.is_finished());
    simulate(&business, &order, "driver.assigned").await;
    let found = waiting.await.unwrap();
    assert_eq!(ids(found["data"].as_array().unwrap()), ids(&reader.events(2).await)[1..]);
    assert!(begun.elapsed() < Duration::from_secs(20));
}

/// Begins two calls that wait, each as soon as a place is free.
async fn two_waiting(reader: &Reader, rest: &str) -> [JoinHandle<Reply>; 2] {
    let path = format!("?waitSeconds=19{rest}");
    let begin = || {
        let (reader, path) = (reader.clone(), path.clone());
        tokio::spawn(async move {
            loop {
                let reply = reader.get(&path).await;
                if reply.status != 429 {
                    return reply;
                }
            }
        })
    };
    let calls = [begin(), begin()];
    until("both wait", async || reader.get(&format!("?waitSeconds=1{rest}")).await.status == 429).await;
    calls
}

#[tokio::test(flavor = "multi_thread")]
async fn a_third_waiting_call_of_a_key_is_refused() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let (business, other) = (service.business(0), service.business(0));
    let reader = Reader::new(&service, &business.test_key);
    let waiting = two_waiting(&reader, "").await;
    let refused = reader.get("?waitSeconds=1").await;
    assert_eq!((refused.code(), refused.header("retry-after")), ("too_many_waiting", Some("5")));
    assert_eq!(reader.page("").await["data"], json!([]), "a call that does not wait is answered");
    assert_eq!(Reader::new(&service, &other.test_key).get("?waitSeconds=1").await.status, 200);
    place(&business, "for-both").await;
    for call in waiting {
        assert_eq!(
            call.await.unwrap().expect(200).unwrap()["data"][0]["order"]["orderReference"],
            "for-both"
        );
    }
    let next = text(&reader.page("").await, "next");
    assert_eq!(
        reader.get(&format!("?startingAfter={next}&waitSeconds=1")).await.status,
        200,
        "the places are free"
    );
}

/// The key is checked again before the answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_revoked_during_the_wait_receives_nothing() {
    let service = OrderApi::connected_on_clock(Clock::system(), &UNLIMITED).await;
    let business = service.business(0);
    let reader = Reader::new(&service, &business.test_key);
    let order = place(&business, "before").await;
    reader.events(1).await;
    let next = text(&reader.page("").await, "next");
    let waiting = two_waiting(&reader, &format!("&startingAfter={next}")).await;
    let key = service.peers.forget_key(&business.test_key);
    let revoked = ApiKeyRevoked { key_id: key.key_id, mode: key.mode };
    service.publish(business.id, Body::ApiKeyRevoked(revoked)).await;
    until("the key is refused", async || reader.get("").await.status == 401).await;
    let event = format!(
        "INSERT INTO order_events (order_id, sequence, event_id, business_id, kind, status, cod_status, data, occurred_at, recorded_at)
         SELECT order_id, 2, 'evt_01ARZ3NDEKTSV4RRFFQ69G5FAV', business_id, kind, status, cod_status, data, occurred_at, recorded_at
         FROM order_events WHERE order_id = '{order}'"
    );
    service.connection().await.batch_execute(&event).await.unwrap();
    for call in waiting {
        let refused = call.await.unwrap();
        assert_eq!((refused.status.as_u16(), refused.code()), (401, "invalid_api_key"), "{}", refused.text);
    }
}

/// A service that stops answers its waiting calls at once, so that a roll-out does not wait for them.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_wait() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let business = service.business(0);
    let begun = Instant::now();
    let reader = Reader::new(&service, &business.test_key);
    let waiting = two_waiting(&reader, "").await;
    service.tasks.draining().cancel();
    for call in waiting {
        assert_eq!(call.await.unwrap().expect(200).unwrap()["data"], json!([]));
    }
    assert!(begun.elapsed() < Duration::from_secs(19));
}
