//! A reader of the feed.

use demo::clients::{Api, Reply};
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use reqwest::Method;
use serde_json::{Value, json};
use test_kit::{smallest_order, until};

use crate::business::Business;
use crate::harness::{OrderApi, text};

/// Calls with one API key.
#[derive(Clone)]
pub(super) struct Reader {
    api: Api,
    key: String,
}

impl Reader {
    pub(super) fn new(service: &OrderApi, key: &str) -> Self {
        Self { api: Api::new(service.base()).unwrap(), key: key.to_owned() }
    }

    /// `GET /v1/integration/events`, with this rest of the address.
    pub(super) async fn get(&self, rest: &str) -> Reply {
        let path = format!("/integration/events{rest}");
        self.api.send(self.api.request(Method::GET, &path).bearer_auth(&self.key)).await.unwrap()
    }

    pub(super) async fn page(&self, rest: &str) -> Value {
        self.get(rest).await.expect(200).unwrap()
    }

    /// Reads on from `start` (`&startingAfter=…`) until there is no more. Returns the events, and where they ended.
    pub(super) async fn all_after(&self, start: &str, limit: usize) -> (Vec<Value>, String) {
        let (mut events, mut next) = (Vec::new(), start.to_owned());
        loop {
            let page = self.page(&format!("?limit={limit}{next}")).await;
            let data = page["data"].as_array().unwrap();
            assert!(data.len() <= limit, "{page}");
            events.extend(data.iter().cloned());
            next = format!("&startingAfter={}", text(&page, "next"));
            if page["hasMore"] == false {
                return (events, next);
            }
        }
    }

    /// Waits until the feed holds this number of events.
    pub(super) async fn events(&self, count: usize) -> Vec<Value> {
        until("the events are listed", async || self.all_after("", 100).await.0.len() >= count).await;
        let (events, _) = self.all_after("", 100).await;
        assert_eq!(events.len(), count);
        events
    }
}

pub(super) fn ids(events: &[Value]) -> Vec<String> {
    events.iter().map(|event| text(event, "id")).collect()
}

impl OrderApi {
    /// The ids of all events of a business, in the order of its feed.
    pub(super) async fn event_ids(&self, business: &Business) -> Vec<String> {
        #[derive(diesel::QueryableByName)]
        struct Row {
            #[diesel(sql_type = Text)]
            event_id: String,
        }
        let query = "SELECT event_id FROM order_events WHERE business_id = $1
                     ORDER BY feed_at, order_id, sequence";
        let query = diesel::sql_query(query).bind::<Text, _>(business.id.to_string());
        let rows: Vec<Row> = query.load(&mut self.connection().await).await.unwrap();
        rows.into_iter().map(|row| row.event_id).collect()
    }
}

pub(super) async fn place(business: &Business, reference: &str) -> String {
    let placed = business.test().unwrap().create(reference, &smallest_order(reference)).await.unwrap();
    text(&placed.expect(201).unwrap(), "id")
}

pub(super) async fn simulate(business: &Business, order: &str, event: &str) {
    let body = json!({ "event": event });
    let moved = business.test().unwrap().call(Method::POST, &format!("/{order}/simulate"), Some(&body)).await;
    moved.unwrap().expect(200).unwrap();
}
