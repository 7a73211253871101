//! A reader of the new order-api's events feed, while the previous and the new program record events. It sees every
//! event of the live orders, each order's in sequence, and no event appears before one that it has read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, ensure};
use demo::clients::Api;
use local_stack::{Service, Stack};
use reqwest::Method;
use serde_json::Value;
use tokio::task::JoinHandle;
use waybill_tests::{Business, text};

pub(crate) struct FeedReader {
    enough: Arc<AtomicBool>,
    reading: JoinHandle<anyhow::Result<Vec<Value>>>,
}

impl FeedReader {
    /// Reads from the first event on, at this origin.
    pub(crate) fn start(business: &Business, order_api: &str) -> anyhow::Result<Self> {
        let enough = Arc::new(AtomicBool::new(false));
        let api = Api::new(format!("{order_api}/v1"))?;
        let key = business.live_key.clone().context("not live yet")?;
        let reading = tokio::spawn(follow(api, key, Arc::clone(&enough)));
        Ok(Self { enough, reading })
    }

    /// Stops, and compares what was read with the stored events.
    pub(crate) async fn end(self, stack: &Stack, business: &Business) -> anyhow::Result<()> {
        self.enough.store(true, Ordering::Relaxed);
        let events = self.reading.await?.context("the reader of the feed")?;
        let mut sequences: BTreeMap<String, i64> = BTreeMap::new();
        for event in &events {
            let last = sequences.entry(text(&event["order"], "id")?).or_default();
            *last += 1;
            ensure!(event["sequence"] == *last, "out of sequence: {event}");
        }
        let stored = format!(
            "SELECT event_id FROM order_events JOIN orders ON orders.id = order_events.order_id
             WHERE orders.business_id = '{}' AND mode = 'live'
             ORDER BY feed_at, order_events.order_id, order_events.sequence LIMIT {}",
            business.portal.business_id,
            events.len()
        );
        let stored = stack.query(Service::OrderApi, &stored).await?;
        let read = events.iter().map(|event| text(event, "id")).collect::<anyhow::Result<Vec<_>>>()?;
        assert_eq!(read, stored.split_whitespace().collect::<Vec<_>>());
        ensure!(!read.is_empty(), "the feed is empty");
        eprintln!("{} events in the feed", read.len());
        Ok(())
    }
}

async fn follow(api: Api, key: String, enough: Arc<AtomicBool>) -> anyhow::Result<Vec<Value>> {
    let (mut events, mut next) = (Vec::new(), String::new());
    while !enough.load(Ordering::Relaxed) {
        let path = format!("/integration/events?limit=100&waitSeconds=5{next}");
        let page = api.send(api.request(Method::GET, &path).bearer_auth(&key)).await?.expect(200)?;
        next = format!("&startingAfter={}", text(&page, "next")?);
        events.extend(page["data"].as_array().context("no data")?.iter().cloned());
    }
    Ok(events)
}
