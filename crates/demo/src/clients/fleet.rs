//! The fleet's client, with the fleet token.

use domain::Clock;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Api, Reply};

/// The reports of a successful prepaid delivery.
pub const PREPAID_DELIVERY: [&str; 4] =
    ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"];

/// The reports of a successful cash-on-delivery delivery.
pub const COD_DELIVERY: [&str; 7] = [
    "driver.assigned",
    "order.picked_up",
    "order.out_for_delivery",
    "order.delivered",
    "cod.collected",
    "cod.handed_over",
    "cod.settled",
];

#[derive(Clone, Debug)]
pub struct Fleet {
    api: Api,
    token: String,
}

impl Fleet {
    /// # Errors
    /// When no HTTP client can be built.
    pub fn new(order_api: &str, token: impl Into<String>) -> anyhow::Result<Self> {
        Ok(Self { api: Api::new(order_api)?, token: token.into() })
    }

    /// `POST /fleet/orders/{id}/events` with any body.
    ///
    /// # Errors
    /// Without a response.
    pub async fn send(&self, order: &str, report: &Value) -> anyhow::Result<Reply> {
        let path = format!("/fleet/orders/{order}/events");
        self.api.send(self.api.request(Method::POST, &path).bearer_auth(&self.token).json(report)).await
    }

    /// A report of an event that happens now. [`Fleet::send`] may repeat it.
    pub fn progress(order: &str, event: &str, cod_amount_paise: i64) -> Value {
        let event_id = format!("{order}-{event}");
        let mut report = json!({ "eventId": event_id, "event": event, "occurredAt": Clock::system().now() });
        match event {
            "driver.assigned" => {
                report["driver"] =
                    json!({ "name": "Ravi Kumar", "phone": "+919800000003", "vehicle": "KA01AB1234" });
            }
            "order.failed" => report["reason"] = json!("Nobody at home"),
            cod if cod.starts_with("cod.") => report["codAmountPaise"] = json!(cod_amount_paise),
            _ => {}
        }
        report
    }

    /// Reports an event that happens now.
    ///
    /// # Errors
    /// Without a response.
    pub async fn report(&self, order: &str, event: &str, cod_amount_paise: i64) -> anyhow::Result<Reply> {
        self.send(order, &Self::progress(order, event, cod_amount_paise)).await
    }

    /// Reports several events in order.
    ///
    /// # Errors
    /// When one is not accepted.
    pub async fn drive(&self, order: &str, events: &[&str], cod_amount_paise: i64) -> anyhow::Result<()> {
        for event in events {
            self.report(order, event, cod_amount_paise).await?.expect(200)?;
        }
        Ok(())
    }

    /// `GET /fleet/orders`
    ///
    /// # Errors
    /// Without a response.
    pub async fn orders(&self, query: &str) -> anyhow::Result<Reply> {
        self.api
            .send(self.api.request(Method::GET, &format!("/fleet/orders{query}")).bearer_auth(&self.token))
            .await
    }
}
