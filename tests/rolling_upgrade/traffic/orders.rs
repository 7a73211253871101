//! Orders, test and live: created, read, cancelled and completed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use demo::clients::{COD_DELIVERY, Fleet, Integration, PREPAID_DELIVERY};
use reqwest::Method;
use serde_json::json;
use waybill_tests::{smallest_order, text};

/// The cash that a driver collects.
pub(crate) const COD_PAISE: i64 = 12_300;
/// The pause between two orders of a client: the test is about changes, not load.
const PAUSE: Duration = Duration::from_millis(100);

/// How an order ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Delivered,
    PaidInCash,
    Failed,
    Cancelled,
    LeftAlone,
}

impl End {
    const ALL: [Self; 5] =
        [Self::Delivered, Self::Cancelled, Self::Failed, Self::PaidInCash, Self::LeftAlone];

    /// The events of its business after `order.created`.
    fn events(self) -> &'static [&'static str] {
        match self {
            Self::Delivered => &PREPAID_DELIVERY,
            Self::PaidInCash => &COD_DELIVERY,
            Self::Failed => &["driver.assigned", "order.failed"],
            Self::Cancelled => &["order.cancelled"],
            Self::LeftAlone => &[],
        }
    }
}

/// An order with a 201 response.
pub(crate) struct Placed {
    pub(crate) id: String,
    pub(crate) reference: String,
    pub(crate) is_live: bool,
    pub(crate) end: End,
    /// The kinds of its events, in order.
    pub(crate) events: Vec<&'static str>,
}

pub(super) struct Client {
    pub(super) name: String,
    pub(super) integration: Integration,
    /// Only live orders have a driver.
    pub(super) fleet: Option<Fleet>,
}

impl Client {
    pub(super) async fn order_steadily(self, enough: &AtomicBool) -> anyhow::Result<Vec<Placed>> {
        let mut placed = Vec::new();
        for (number, end) in End::ALL.into_iter().cycle().enumerate() {
            if enough.load(Ordering::Relaxed) {
                break;
            }
            let reference = format!("{}-{number}", self.name);
            placed.push(self.order(&reference, end).await.with_context(|| reference.clone())?);
            tokio::time::sleep(PAUSE).await;
        }
        Ok(placed)
    }

    async fn order(&self, reference: &str, end: End) -> anyhow::Result<Placed> {
        let mut wanted = smallest_order(reference);
        if end == End::PaidInCash {
            let fee = &wanted["payment"]["deliveryFeePaise"];
            wanted["payment"] =
                json!({ "paymentType": "cod", "codAmountPaise": COD_PAISE, "deliveryFeePaise": fee });
        }
        let created = self.integration.create(&format!("key-{reference}"), &wanted).await?;
        let id = text(&created.expect(201)?, "id")?;
        let mut events = vec!["order.created"];
        match (end, &self.fleet) {
            (End::Cancelled, _) => {
                self.integration.call(Method::POST, &format!("/{id}/cancel"), None).await?.expect(200)?;
                events.extend(end.events());
            }
            (_, Some(fleet)) => {
                fleet.drive(&id, end.events(), COD_PAISE).await?;
                events.extend(end.events());
            }
            (_, None) => {}
        }
        let read = self.integration.call(Method::GET, &format!("/{id}"), None).await?.expect(200)?;
        anyhow::ensure!(read["orderReference"] == reference, "{read}");
        let timeline =
            self.integration.call(Method::GET, &format!("/{id}/events"), None).await?.expect(200)?;
        let count = timeline["data"].as_array().context("no timeline")?.len();
        anyhow::ensure!(count >= events.len(), "{count} events of {events:?}");
        let (reference, is_live) = (reference.to_owned(), self.fleet.is_some());
        Ok(Placed { id, reference, is_live, end, events })
    }
}
