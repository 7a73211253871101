//! Calls that wait for events.

use std::time::Duration;

use domain::Clock;
use serde_json::{Value, json};
use test_kit::until;
use tokio::time::Instant;

use super::UNLIMITED;
use super::reader::{Reader, ids, place, simulate};
use crate::business::Business;
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

/// Begins a call that waits, as soon as a place is free.
fn begin(service: &OrderApi, business: &Business) -> tokio::task::JoinHandle<Value> {
    let reader = Reader::new(service, &business.test_key);
    tokio::spawn(async move {
        loop {
            let reply = reader.get("?waitSeconds=19").await;
            if reply.status != 429 {
                return reply.expect(200).unwrap();
            }
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_third_waiting_call_of_a_key_is_refused() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let (business, other) = (service.business(0), service.business(0));
    let waiting = [begin(&service, &business), begin(&service, &business)];
    let reader = Reader::new(&service, &business.test_key);
    until("both wait", async || reader.get("?waitSeconds=1").await.status == 429).await;
    let refused = reader.get("?waitSeconds=1").await;
    assert_eq!((refused.code(), refused.header("retry-after")), ("too_many_waiting", Some("5")));
    assert_eq!(reader.page("").await["data"], json!([]), "a call that does not wait is answered");
    assert_eq!(Reader::new(&service, &other.test_key).get("?waitSeconds=1").await.status, 200);
    place(&business, "for-both").await;
    for call in waiting {
        assert_eq!(call.await.unwrap()["data"][0]["order"]["orderReference"], "for-both");
    }
    let next = text(&reader.page("").await, "next");
    assert_eq!(
        reader.get(&format!("?startingAfter={next}&waitSeconds=1")).await.status,
        200,
        "the places are free"
    );
}

/// A service that stops answers its waiting calls at once, so that a roll-out does not wait for them.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_wait() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let business = service.business(0);
    let begun = Instant::now();
    let waiting = [begin(&service, &business), begin(&service, &business)];
    let reader = Reader::new(&service, &business.test_key);
    until("both wait", async || reader.get("?waitSeconds=1").await.status == 429).await;
    service.tasks.draining().cancel();
    for call in waiting {
        assert_eq!(call.await.unwrap()["data"], json!([]));
    }
    assert!(begun.elapsed() < Duration::from_secs(19));
}
