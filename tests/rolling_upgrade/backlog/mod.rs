//! A million deliveries in the tables of the previous release. In each phase of the rollout, the owner resumes an
//! endpoint: its share of them arrives, from whichever release runs, and all others stay as they are.

mod fill;
mod receiver;
mod verify;

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use demo::clients::{Integration, Portal};
use demo::eventually;
use local_stack::{Service, Stack};
use reqwest::Method;
use serde_json::json;
use waybill_tests::{PASSWORD, PATIENCE, smallest_order, text};

use fill::MARK;
use receiver::Receiver;
use verify::Stored;

const DELIVERIES: u64 = 1_000_000;
/// Orders with four events each, for three endpoints with the whole history and seven with its end.
const ORDERS: u64 = 60_000;
const EVENTS_EACH: u64 = 4;
/// The endpoints that are resumed were created before the last orders.
const ORDERS_OF_RESUMED: u64 = 10_000;
/// And they were paused or disabled before the very last ones.
const ORDERS_TO_SEND: u64 = 750;
/// Slow enough for the release to change meanwhile.
const PER_SECOND_AT_CHANGE: u32 = 200;

/// A phase of the rollout, and the endpoints that are resumed in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// The previous release, while its tables are changed.
    Migration,
    /// From the previous release to the new one.
    Rollout,
    /// The new release alone.
    New,
    /// From the new release to the previous one.
    Rollback,
    /// The previous release alone, on the new tables.
    Former,
}

impl Phase {
    const ALL: [Self; 5] = [Self::Migration, Self::Rollout, Self::New, Self::Rollback, Self::Former];

    const fn changes_release(self) -> bool {
        matches!(self, Self::Rollout | Self::Rollback)
    }
}

/// Why the deliveries of an endpoint wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// Its owner paused it: the first delivery of each order is due.
    Paused,
    /// It was disabled: they are parked.
    Disabled,
    /// They do not: all are completed.
    No,
}

struct Endpoint {
    name: String,
    id: String,
    waiting: Waiting,
    /// None: never resumed.
    phase: Option<Phase>,
}

impl Endpoint {
    /// The first order that it got.
    const fn since(&self) -> u64 {
        if self.phase.is_some() { ORDERS - ORDERS_OF_RESUMED } else { 0 }
    }

    /// The first order whose deliveries wait.
    const fn waiting_since(&self) -> u64 {
        match (self.waiting, self.phase) {
            (Waiting::No, _) => ORDERS,
            (_, Some(_)) => ORDERS - ORDERS_TO_SEND,
            (_, None) => 0,
        }
    }
}

pub(crate) struct Backlog {
    portal: Portal,
    receiver: Receiver,
    endpoints: Vec<Endpoint>,
    stored: Stored,
}

impl Backlog {
    /// A business whose endpoints are paused and disabled by the previous release, and its deliveries.
    pub(crate) async fn create(stack: &Stack, portal_api: &str, order_api: &str) -> anyhow::Result<Self> {
        let portal = Portal::sign_up(portal_api, "Nilgiri Tea", "backlog@example.com", PASSWORD).await?;
        let receiver = Receiver::start()?;
        let mut endpoints = Vec::new();
        for (name, waiting, phase) in wanted() {
            let mut wanted = json!({ "url": receiver.url(&name) });
            if phase.is_some_and(Phase::changes_release) {
                wanted["maxPerSecond"] = json!(PER_SECOND_AT_CHANGE);
            }
            let made = portal.post("/webhook-endpoints", &wanted).await?.expect(201)?;
            if waiting == Waiting::Disabled {
                receiver.answers_gone(&name, true);
            }
            endpoints.push(Endpoint { name, id: text(&made, "id")?, waiting, phase });
        }
        let mut backlog = Self { portal, receiver, endpoints, stored: Stored::default() };
        backlog.send_one(stack, order_api).await.context("a delivery to copy")?;
        fill::fill(stack, &backlog.portal.business_id, &backlog.endpoints).await?;
        backlog.stored = Stored::read(stack, &backlog.portal.business_id).await?;
        backlog.stored.is_complete(&backlog.endpoints)?;
        Ok(backlog)
    }

    /// Sends one event to all endpoints, and then stops those whose deliveries wait.
    async fn send_one(&self, stack: &Stack, order_api: &str) -> anyhow::Result<()> {
        let key = self.portal.post("/api-keys", &json!({ "mode": "test", "name": "backlog" })).await?;
        let integration = Integration::new(order_api, text(&key.expect(201)?, "key")?)?;
        integration.create("key-sample", &smallest_order("sample")).await?.expect(201)?;
        let disabled = self.endpoints.iter().filter(|endpoint| endpoint.waiting == Waiting::Disabled);
        let expected = format!("{}|{}", self.endpoints.len(), disabled.count());
        let sql = format!(
            "SELECT (SELECT count(*) FROM attempts WHERE business_id = '{business}'),
                (SELECT count(*) FROM endpoint_health WHERE business_id = '{business}' AND disabled_at IS NOT NULL)",
            business = self.portal.business_id
        );
        eventually("an attempt for each endpoint", PATIENCE, || async {
            Ok((stack.query(Service::WebhookDispatcher, &sql).await? == expected).then_some(()))
        })
        .await?;
        for endpoint in &self.endpoints {
            match endpoint.waiting {
                Waiting::Paused => self.set_status(endpoint, "paused").await?,
                Waiting::Disabled => self.receiver.answers_gone(&endpoint.name, false),
                Waiting::No => {}
            }
        }
        self.receiver.forget();
        Ok(())
    }

    async fn set_status(&self, endpoint: &Endpoint, status: &str) -> anyhow::Result<()> {
        let path = format!("/webhook-endpoints/{}", endpoint.id);
        self.portal.call(Method::PATCH, &path, Some(&json!({ "status": status }))).await?.expect(200)?;
        Ok(())
    }

    /// The owner resumes the endpoints of this phase.
    pub(crate) async fn resume(&self, phase: Phase) -> anyhow::Result<()> {
        for endpoint in self.of(phase) {
            self.set_status(endpoint, "active").await?;
            if endpoint.waiting == Waiting::Disabled {
                let replay = format!("/webhook-endpoints/{}/parked/replay", endpoint.id);
                self.portal.post(&replay, &json!({})).await?.expect(202)?;
            }
        }
        Ok(())
    }

    /// Waits for the webhooks of this phase.
    pub(crate) async fn arrives(&self, phase: Phase) -> anyhow::Result<()> {
        let events = usize::try_from(ORDERS_TO_SEND * EVENTS_EACH)?;
        for Endpoint { name, .. } in self.of(phase) {
            let before = self.receiver.count(name);
            eventually("the backlog to arrive", PATIENCE, || async {
                Ok((self.receiver.count(name) >= events).then_some(()))
            })
            .await
            .with_context(|| format!("{} of {events} came to {name}", self.receiver.count(name)))?;
            eprintln!("the backlog of {name} has arrived, {before} of {events} while the rollout continued");
        }
        Ok(())
    }

    fn of(&self, phase: Phase) -> impl Iterator<Item = &Endpoint> {
        self.endpoints.iter().filter(move |endpoint| endpoint.phase == Some(phase))
    }

    /// Final checks: each webhook arrived once and in order, and nothing else has changed.
    pub(crate) async fn verify(&self, stack: &Stack) -> anyhow::Result<()> {
        for Endpoint { name, .. } in self.endpoints.iter().filter(|endpoint| endpoint.phase.is_none()) {
            ensure!(self.receiver.count(name) == 0, "{name} got webhooks");
        }
        for phase in Phase::ALL {
            for Endpoint { name, .. } in self.of(phase) {
                in_order(self.receiver.received(name)).with_context(|| name.clone())?;
            }
        }
        let now = Stored::read(stack, &self.portal.business_id).await?;
        now.lost_nothing_since(&self.stored, &self.endpoints)
    }
}

/// Name, state and phase of each endpoint.
fn wanted() -> Vec<(String, Waiting, Option<Phase>)> {
    let never = [("completed", Waiting::No), ("paused", Waiting::Paused), ("disabled", Waiting::Disabled)];
    let never = never.map(|(name, waiting)| (name.to_owned(), waiting, None));
    let paused = Phase::ALL.map(|phase| (format!("paused-{phase:?}"), Waiting::Paused, Some(phase)));
    let disabled = [Phase::New, Phase::Former];
    let disabled = disabled.map(|phase| (format!("disabled-{phase:?}"), Waiting::Disabled, Some(phase)));
    never.into_iter().chain(paused).chain(disabled).collect()
}

/// Every event of every copied order once, in the sequence of its order. A disabled endpoint also gets the sample.
fn in_order(received: Vec<(String, u64)>) -> anyhow::Result<()> {
    let mut of_order: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (order, sequence) in received.into_iter().filter(|(order, _)| order.contains(MARK)) {
        of_order.entry(order).or_default().push(sequence);
    }
    ensure!(of_order.len() as u64 == ORDERS_TO_SEND, "webhooks of {} orders", of_order.len());
    let all: Vec<u64> = (1..=EVENTS_EACH).collect();
    let wrong = of_order.iter().find(|(_, sequences)| **sequences != all);
    ensure!(wrong.is_none(), "{wrong:?}");
    Ok(())
}
