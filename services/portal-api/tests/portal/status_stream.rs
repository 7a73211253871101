//! The stream of status changes, across instances.

use std::time::{Duration, Instant};

use domain::{EventKind, Mode};
use events::Body;
use reqwest::Response;
use serde_json::json;
use test_kit::until;

use crate::portal::Portal;

const STREAM: &str = "/v1/portal/status/stream";
/// Longer than an echo of a change before takes to come.
const QUIET: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(20);

/// A page that reads server-sent events.
struct Page {
    response: Response,
    read: String,
}

impl Page {
    fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        Self { response, read: String::new() }
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
            self.read.push_str(std::str::from_utf8(&chunk).unwrap());
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
        let event = tokio::time::timeout(QUIET, self.event()).await;
        assert!(event.is_err(), "{event:?}");
    }
}

#[tokio::test]
async fn a_change_signals_the_pages_of_the_business_on_every_instance() {
    let portal = Portal::connected().await;
    let another = portal.another();
    let (mut owner, other) =
        (portal.owner("owner@shop.example").await, portal.owner("other@shop.example").await);
    let mut here = Page::of(owner.client.open(STREAM).await);
    let mut there = Page::of(owner.client.clone().at(another.public).open(STREAM).await);
    let mut theirs = Page::of(other.client.clone().at(another.public).open(STREAM).await);
    tokio::join!(here.settle(), there.settle(), theirs.settle());

    portal.peers.answer(
        format!("POST /webhook-dispatcher/internal/businesses/{}/webhook-endpoints", owner.business),
        400,
        json!({ "code": "invalid_request", "message": "No." }),
    );
    assert_eq!(owner.client.post("/v1/portal/webhook-endpoints", json!({})).await.status, 400);
    tokio::join!(here.receives_nothing(), there.receives_nothing());

    assert_eq!(owner.client.put("/v1/portal/subscription", json!({ "plan": "starter" })).await.status, 200);
    tokio::join!(here.changed(), there.changed());
    theirs.receives_nothing().await;
}

#[tokio::test]
async fn announced_changes_are_signalled_at_most_once_a_second() {
    let portal = Portal::connected().await;
    let owner = portal.owner("owner@shop.example").await;
    let mut page = Page::of(owner.client.open(STREAM).await);
    page.changed().await;
    until("the broker's line is made", async || {
        portal.publish(&[portal.envelope(&owner.business, Body::WalletFunded {})]).await;
        tokio::time::timeout(Duration::from_millis(500), page.event()).await.is_ok()
    })
    .await;
    page.settle().await;
    let orders: Vec<_> = (0..50)
        .map(|_| portal.order_event(&owner.business, Mode::Test, EventKind::OrderCreated, "x"))
        .collect();
    let begun = Instant::now();
    portal.publish(&orders).await;
    page.changed().await;
    page.changed().await;
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn changes_by_the_operator_are_signalled() {
    let portal = Portal::connected().await;
    let owner = portal.owner("owner@shop.example").await;
    let mut page = Page::of(owner.client.open(STREAM).await);
    page.settle().await;
    let path = format!("/v1/operator/businesses/{}", owner.business);
    assert_eq!(portal.operator().patch(&path, json!({ "status": "active" })).await.status, 200);
    page.changed().await;
}

#[tokio::test]
async fn a_stream_needs_a_session_and_ends_with_it() {
    let portal = Portal::connected().await;
    assert_eq!(portal.stranger().get(STREAM).await.status, 401);
    let owner = portal.owner("owner@shop.example").await;
    let mut page = Page::of(owner.client.open(STREAM).await);
    page.changed().await;
    assert_eq!(owner.client.clone().delete("/v1/portal/session").await.status, 204);
    let ended = async { while page.event().await.is_some() {} };
    tokio::time::timeout(PATIENCE, ended).await.expect("the stream ends");
}
