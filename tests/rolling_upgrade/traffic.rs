//! Orders that flow without pause, test and live: created, read, cancelled, brought to their end. Each call is made once,
//! and each must be answered as on a quiet day.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use demo::clients::{Fleet, Integration, PREPAID_DELIVERY};
use reqwest::Method;
use tokio::task::JoinSet;
use waybill_tests::{Business, smallest_order, text};

/// Clients that order with the Live key, and with the Test key.
const LIVE: usize = 3;
const TEST: usize = 2;
/// Between two orders of one client: the story is about changes, not about load.
const BREATH: Duration = Duration::from_millis(50);

/// What becomes of an order.
#[derive(Clone, Copy, Debug)]
enum End {
    Delivered,
    Failed,
    Cancelled,
    LeftAlone,
}

impl End {
    const ALL: [Self; 4] = [Self::Delivered, Self::Cancelled, Self::Failed, Self::LeftAlone];

    /// What its business hears of it after `order.created`.
    fn events(self) -> &'static [&'static str] {
        match self {
            Self::Delivered => &PREPAID_DELIVERY,
            Self::Failed => &["driver.assigned", "order.failed"],
            Self::Cancelled => &["order.cancelled"],
            Self::LeftAlone => &[],
        }
    }
}

/// An order that was answered 201.
pub(crate) struct Placed {
    pub(crate) id: String,
    pub(crate) reference: String,
    pub(crate) is_live: bool,
    /// The kinds of its events, in their order.
    pub(crate) events: Vec<&'static str>,
}

pub(crate) struct Traffic {
    enough: Arc<AtomicBool>,
    clients: JoinSet<anyhow::Result<Vec<Placed>>>,
}

impl Traffic {
    pub(crate) fn start(business: &Business) -> anyhow::Result<Self> {
        let enough = Arc::new(AtomicBool::new(false));
        let mut clients = JoinSet::new();
        for number in 0..LIVE {
            let client = Client {
                name: format!("live-{number}"),
                integration: business.live()?,
                fleet: Some(business.fleet.clone()),
            };
            clients.spawn(client.order_steadily(Arc::clone(&enough)));
        }
        for number in 0..TEST {
            let integration = business.integration(&business.test_key)?;
            let client = Client { name: format!("test-{number}"), integration, fleet: None };
            clients.spawn(client.order_steadily(Arc::clone(&enough)));
        }
        Ok(Self { enough, clients })
    }

    /// That no call was answered otherwise than it should have been.
    pub(crate) async fn flows(&mut self) -> anyhow::Result<()> {
        match self.clients.try_join_next() {
            Some(ended) => Err(ended?.err().context("a client stopped by itself")?),
            None => Ok(()),
        }
    }

    /// Ends it, and gives all orders that were placed.
    pub(crate) async fn end(mut self) -> anyhow::Result<Vec<Placed>> {
        self.enough.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        while let Some(client) = self.clients.join_next().await {
            all.extend(client??);
        }
        Ok(all)
    }
}

struct Client {
    name: String,
    integration: Integration,
    /// Only live orders have a driver.
    fleet: Option<Fleet>,
}

impl Client {
    async fn order_steadily(self, enough: Arc<AtomicBool>) -> anyhow::Result<Vec<Placed>> {
        let mut placed = Vec::new();
        for (number, end) in End::ALL.into_iter().cycle().enumerate() {
            if enough.load(Ordering::Relaxed) {
                break;
            }
            let reference = format!("{}-{number}", self.name);
            placed.push(self.order(&reference, end).await.with_context(|| reference.clone())?);
            tokio::time::sleep(BREATH).await;
        }
        Ok(placed)
    }

    async fn order(&self, reference: &str, end: End) -> anyhow::Result<Placed> {
        let created =
            self.integration.create(&format!("key-{reference}"), &smallest_order(reference)).await?;
        let id = text(&created.expect(201)?, "id")?;
        let mut events = vec!["order.created"];
        match (end, &self.fleet) {
            (End::Cancelled, _) => {
                self.integration.call(Method::POST, &format!("/{id}/cancel"), None).await?.expect(200)?;
                events.extend(end.events());
            }
            (_, Some(fleet)) => {
                fleet.drive(&id, end.events(), 0).await?;
                events.extend(end.events());
            }
            (_, None) => {}
        }
        let read = self.integration.call(Method::GET, &format!("/{id}"), None).await?.expect(200)?;
        anyhow::ensure!(read["orderReference"] == reference, "{read}");
        let timeline =
            self.integration.call(Method::GET, &format!("/{id}/events"), None).await?.expect(200)?;
        let told = timeline["data"].as_array().context("no timeline")?.len();
        anyhow::ensure!(told >= events.len(), "{told} events of {events:?}");
        Ok(Placed { id, reference: reference.to_owned(), is_live: self.fleet.is_some(), events })
    }
}
