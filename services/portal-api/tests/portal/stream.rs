//! The stream of order updates.

use std::time::Duration;

use chrono::TimeDelta;
use domain::{EventKind, Mode};
use events::{Body, Driver};
use reqwest::Response;
use serde_json::{Value, json};
use test_kit::until;

use crate::portal::Portal;

/// A page that reads server-sent events.
struct Page {
    response: Response,
    read: String,
}

#[derive(Debug, PartialEq)]
struct Event {
    kind: String,
    id: String,
    data: Value,
}

impl Page {
    fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, read: String::new() }
    }

    /// The next block of lines; `None` when the stream has ended.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.read.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.read = rest;
                return Some(block);
            }
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.response.chunk()).await;
            let chunk = chunk.expect("something comes in time").unwrap()?;
            self.read.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next event; comments are passed over.
    async fn event(&mut self) -> Option<Event> {
        loop {
            let block = self.block().await?;
            let line = |name: &str| {
                let prefix = format!("{name}: ");
                block.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_default().to_owned()
            };
            if !block.starts_with(':') {
                let data = serde_json::from_str(&line("data")).unwrap();
                return Some(Event { kind: line("event"), id: line("id"), data });
            }
        }
    }

    /// The next event that is not a call to load anew, which comes whenever the broker's line was (re)made.
    async fn order(&mut self) -> Event {
        loop {
            let event = self.event().await.expect("the stream is open");
            if event.kind == "order" {
                return event;
            }
            assert_eq!(event.kind, "reload");
        }
    }
}

impl Portal {
    /// Waits until this instance receives orders. Its readiness does not include that.
    async fn receives_orders(&self) {
        let listener = self.owner("listener@shop.example").await;
        let mut page = Page::of(listener.client.open("/v1/portal/orders/stream").await);
        until("orders are heard", async || {
            self.publish(&[self.order_event(&listener.business, Mode::Test, EventKind::OrderCreated, "x")])
                .await;
            tokio::time::timeout(Duration::from_millis(500), page.order()).await.is_ok()
        })
        .await;
    }
}

#[tokio::test]
async fn a_page_receives_only_its_own_orders_of_its_mode() {
    let portal = Portal::connected().await;
    portal.receives_orders().await;
    let mine = portal.owner("mine@shop.example").await;
    let theirs = portal.owner("theirs@shop.example").await;
    let mut test_page = Page::of(mine.client.open("/v1/portal/orders/stream?mode=test").await);
    let mut live_page = Page::of(mine.client.open("/v1/portal/orders/stream?mode=live").await);
    let test = portal.order_event(&mine.business, Mode::Test, EventKind::OrderCreated, "mine-test");
    let live = portal.order_event(&mine.business, Mode::Live, EventKind::DriverAssigned, "mine-live");
    portal
        .publish(&[
            portal.order_event(&theirs.business, Mode::Test, EventKind::OrderCreated, "theirs-test"),
            portal.order_event(&theirs.business, Mode::Live, EventKind::OrderCreated, "theirs-live"),
            live.clone(),
            test.clone(),
        ])
        .await;
    let seen = test_page.order().await;
    assert_eq!(seen.id, test.id.to_string());
    assert_eq!(seen.data["orderReference"], "mine-test");
    assert_eq!(seen.data["event"], "order.created");
    assert_eq!(seen.data["mode"], "test");
    assert_eq!(seen.data["sequence"], 1);
    assert_eq!(seen.data["serviceOrderId"], seen.data["id"]);
    assert_eq!(seen.data["occurredAt"], json!(test.occurred_at));
    assert_eq!(seen.data["recordedAt"], json!(test.recorded_at()));
    assert_ne!(seen.data["recordedAt"], seen.data["occurredAt"]);
    let seen = live_page.order().await;
    assert_eq!((seen.id, seen.data["event"].as_str()), (live.id.to_string(), Some("driver.assigned")));
}

/// Every role has the stream, so nobody's phone or reason may be in it.
#[tokio::test]
async fn a_stream_contains_no_personal_data() {
    let portal = Portal::connected().await;
    portal.receives_orders().await;
    let owner = portal.owner("owner@shop.example").await;
    let mut page = Page::of(owner.client.open("/v1/portal/orders/stream").await);
    let mut assigned = portal.order_event(&owner.business, Mode::Live, EventKind::DriverAssigned, "shop-1");
    if let Body::Order(event) = &mut assigned.body {
        let phone = Some("+919800000009".to_owned());
        event.data.driver = Some(Driver { name: "Ravi".to_owned(), phone, vehicle: None });
        event.data.reason = Some("left at 14 Lavender Lane".to_owned());
    }
    portal.publish(&[assigned]).await;
    let seen = page.order().await;
    assert_eq!(seen.data["orderReference"], "shop-1");
    for personal in ["9800000009", "Lavender"] {
        assert!(!seen.data.to_string().contains(personal), "{}", seen.data);
    }
}

#[tokio::test]
async fn a_reconnecting_page_reloads() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let back = owner.client.with_header("last-event-id", "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    let mut page = Page::of(back.open("/v1/portal/orders/stream").await);
    let event = page.event().await.unwrap();
    assert_eq!((event.kind.as_str(), event.data), ("reload", json!({})));
}

#[tokio::test]
async fn streams_are_limited_per_business_and_per_user() {
    let portal = Portal::connected_with(&[
        ("WAYBILL_LIMITS__PER_ADDRESS", "false"),
        ("WAYBILL_LIMITS__STREAMS_PER_BUSINESS", "3"),
    ])
    .await;
    let mut owner = portal.owner("owner@shop.example").await;
    let other = portal.owner("other@shop.example").await;
    let mut viewer = portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    let path = "/v1/portal/orders/stream";
    let _first = Page::of(owner.client.open(path).await);
    let _second = Page::of(owner.client.open(path).await);
    let refused = owner.client.clone().get(path).await;
    assert_eq!((refused.status, refused.code()), (429, "too_many_streams"));
    let _theirs = Page::of(other.client.open(path).await);
    let viewers = Page::of(viewer.open(path).await);
    assert_eq!(viewer.get(path).await.status, 429, "the business has as many as it may");
    drop(viewers);
    // The service finds out that a page is gone when it next writes to it.
    until("a closed page frees its place", async || {
        portal
            .publish(&[portal.order_event(&owner.business, Mode::Test, EventKind::OrderCreated, "x")])
            .await;
        viewer.open(path).await.status() == 200
    })
    .await;
}

#[tokio::test]
async fn streams_end_when_the_service_stops() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let mut page = Page::of(owner.client.open("/v1/portal/orders/stream").await);
    assert_eq!(page.block().await.as_deref(), Some(": connected"));
    portal.tasks.draining().cancel();
    while let Some(event) = page.event().await {
        assert_eq!(event.kind, "reload");
    }
}

/// A stream is no use of its session, and neither is a page that opens it again.
#[tokio::test]
async fn a_stream_ends_with_the_idle_limit_of_its_session() {
    let portal = Portal::connected_with(&[
        ("WAYBILL_LIMITS__PER_ADDRESS", "false"),
        ("WAYBILL_SESSIONS__USER_IDLE_MINUTES", "30"),
    ])
    .await;
    portal.receives_orders().await;
    let idle = portal.owner("idle@shop.example").await;
    let mut busy = portal.owner("busy@shop.example").await;
    portal.clock.advance(TimeDelta::minutes(20));
    let mut of_idle = Page::of(idle.client.open("/v1/portal/orders/stream").await);
    let mut of_busy = Page::of(busy.client.open("/v1/portal/orders/stream").await);
    assert_eq!(busy.client.get("/v1/portal/session").await.status, 200);
    portal.clock.advance(TimeDelta::minutes(10));
    while of_idle.block().await.is_some() {}
    portal.publish(&[portal.order_event(&busy.business, Mode::Test, EventKind::OrderCreated, "later")]).await;
    assert_eq!(of_busy.order().await.data["orderReference"], "later", "used ten minutes ago");
}
