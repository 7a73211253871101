//! The stream of status changes, across instances.

use std::time::Duration;

use domain::{EventKind, Mode};
use reqwest::Response;
use serde_json::json;

use crate::portal::Portal;

const STREAM: &str = "/v1/portal/status/stream";
/// Longer than an echo of a change takes to come.
const QUIET: Duration = Duration::from_millis(3_500);
/// Longer than a signal is put off.
const SOON: Duration = Duration::from_millis(1_500);
const PATIENCE: Duration = Duration::from_secs(20);

/// A page that reads server-sent events.
struct Page {
    response: Response,
    read: String,
    /// Comments too.
    all: String,
}

impl Page {
    fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        Self { response, read: String::new(), all: String::new() }
    }

    /// The next event; comments are passed over. `None` when the stream has ended.
    async fn event(&mut self) -> Option<String> {
        loop {
            while let Some((block, rest)) = self.read.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.read = rest;
                if !block.starts_with(':') {
                    return Some(block);
                }
            }
            let chunk = self.response.chunk().await.unwrap()?;
            let text = std::str::from_utf8(&chunk).unwrap();
            self.read.push_str(text);
            self.all.push_str(text);
        }
    }

    async fn changed(&mut self) {
        let event = tokio::time::timeout(PATIENCE, self.event()).await.expect("a change in time");
        assert_eq!(event.as_deref(), Some("event: changed\ndata: {}"));
    }

    /// Lets pass what belongs to changes before, and the broker's line being made.
    async fn settle(&mut self) {
        while let Ok(event) = tokio::time::timeout(QUIET, self.event()).await {
            assert!(event.is_some(), "the stream is open");
        }
    }

    async fn receives_nothing(&mut self) {
        let event = tokio::time::timeout(SOON, self.event()).await;
        assert!(event.is_err(), "{event:?}");
    }
}

#[tokio::test]
async fn a_change_signals_the_pages_of_the_business_on_every_instance() {
    let portal = Portal::connected().await;
    let another = portal.another();
    let mut owner = portal.owner("owner@shop.example").await;
    let other = portal.owner("other@shop.example").await;
    let third = portal.owner("third@shop.example").await;
    let mut here = Page::of(owner.client.open(STREAM).await);
    let mut there = Page::of(owner.client.clone().at(another.public).open(STREAM).await);
    let mut theirs = Page::of(other.client.clone().at(another.public).open(STREAM).await);
    let mut thirds = Page::of(third.client.open(STREAM).await);
    tokio::join!(here.settle(), there.settle(), theirs.settle(), thirds.settle());

    portal.peers.answer(
        format!("POST /webhook-dispatcher/internal/businesses/{}/webhook-endpoints", owner.business),
        400,
        json!({ "code": "invalid_request", "message": "No." }),
    );
    assert_eq!(owner.client.post("/v1/portal/webhook-endpoints", json!({})).await.status, 400);
    tokio::join!(here.receives_nothing(), there.receives_nothing());

    assert_eq!(owner.client.put("/v1/portal/subscription", json!({ "plan": "starter" })).await.status, 200);
    tokio::join!(here.changed(), there.changed());
    tokio::join!(theirs.receives_nothing(), thirds.receives_nothing());

    let path = format!("/v1/operator/businesses/{}", other.business);
    assert_eq!(portal.operator().patch(&path, json!({ "status": "active" })).await.status, 200);
    theirs.changed().await;
    portal.publish(&[portal.order_event(&third.business, Mode::Test, EventKind::OrderCreated, "x")]).await;
    thirds.changed().await;
}

#[tokio::test]
async fn streams_need_a_session_and_end_with_it() {
    let portal = Portal::start().await;
    assert_eq!(portal.stranger().get(STREAM).await.status, 401);
    let owner = portal.owner("owner@shop.example").await;
    let mut page = Page::of(owner.client.open(STREAM).await);
    page.changed().await;
    let mut orders = Page::of(owner.client.open("/v1/portal/orders/stream").await);
    assert_eq!(owner.client.clone().delete("/v1/portal/session").await.status, 204);
    let ended = async {
        while page.event().await.is_some() {}
        while orders.event().await.is_some() {}
        assert!(!orders.all.contains(": heartbeat"), "no heartbeat after the end of the session");
    };
    tokio::time::timeout(PATIENCE, ended).await.expect("the streams end");
}
