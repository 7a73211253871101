//! Continuous traffic during the rollout: orders, and a business's work in the portal. Calls are made once, or twice
//! where the repetition must change nothing, and must be answered normally.

mod office;
mod orders;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinSet;
use waybill_tests::Business;

use crate::failures::Failures;
use office::Office;
pub(crate) use office::OfficeRecord;
use orders::Client;
pub(crate) use orders::{COD_PAISE, End, Placed};

/// Clients that order with the Live key and with the Test key; users of the portal.
const LIVE: usize = 3;
const TEST: usize = 2;
const OFFICES: usize = 2;

pub(crate) struct Traffic {
    enough: Arc<AtomicBool>,
    failures: Failures,
    clients: JoinSet<anyhow::Result<Vec<Placed>>>,
    offices: JoinSet<anyhow::Result<OfficeRecord>>,
}

/// Everything that was answered with a 2xx.
pub(crate) struct TrafficRecord {
    pub(crate) placed: Vec<Placed>,
    pub(crate) offices: Vec<OfficeRecord>,
}

impl Traffic {
    pub(crate) async fn start(
        business: &Business,
        portal_api: &str,
        failures: &Failures,
    ) -> anyhow::Result<Self> {
        let (clients, offices) = (JoinSet::new(), JoinSet::new());
        let enough = Arc::new(AtomicBool::new(false));
        let mut traffic = Self { enough, failures: failures.clone(), clients, offices };
        for number in 0..LIVE {
            let fleet = Some(business.fleet.clone());
            traffic.order(Client { name: format!("live-{number}"), integration: business.live()?, fleet });
        }
        for number in 0..TEST {
            let integration = business.integration(&business.test_key)?;
            traffic.order(Client { name: format!("test-{number}"), integration, fleet: None });
        }
        for number in 0..OFFICES {
            let office = Office::open(format!("test-office-{number}"), business, portal_api).await?;
            traffic.work(office);
        }
        Ok(traffic)
    }

    fn order(&mut self, client: Client) {
        let (enough, failures) = (Arc::clone(&self.enough), self.failures.clone());
        self.clients.spawn(async move {
            let ended = client.order_steadily(&enough).await;
            ended.inspect_err(|error| failures.note(format!("{error:#}")))
        });
    }

    fn work(&mut self, office: Office) {
        let (enough, failures) = (Arc::clone(&self.enough), self.failures.clone());
        self.offices.spawn(async move {
            let ended = office.work_steadily(&enough).await;
            ended.inspect_err(|error| failures.note(format!("{error:#}")))
        });
    }

    /// Stops it. A failed client counts as a failure.
    pub(crate) async fn end(self) -> TrafficRecord {
        self.enough.store(true, Ordering::Relaxed);
        let placed = self.clients.join_all().await.into_iter().flatten().flatten();
        let mut record = TrafficRecord { placed: placed.collect(), offices: Vec::new() };
        for mut office in self.offices.join_all().await.into_iter().flatten() {
            record.placed.append(&mut office.placed);
            record.offices.push(office);
        }
        record
    }
}
