//! From an event to its webhook: rate, latency, cost, and the effect of one business's trouble on others.

mod drain;
mod events;
mod hooks;
pub(crate) mod isolation;
mod latency;
mod orders;
mod pace;
mod received;
mod receiver;

use std::collections::HashSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use demo::clients::Api;
use demo::eventually;
use domain::{BusinessId, EndpointId, Mode};
use local_stack::{Service, Stack, say};
use reqwest::Method;
use serde_json::json;
use waybill_tests::figure::Section;
use waybill_tests::text;

use crate::compare::{Theirs, warm_up};
use crate::cpu::Cpu;
use crate::order;
use crate::pgbench::Baseline;
use events::Source;
use hooks::Hooks;
use received::{EventKey, Received};

pub(crate) use receiver::serve as serve_receiver;

/// The time limit for webhooks to arrive and for their outcomes to be written.
const PATIENCE: Duration = Duration::from_secs(120);
/// What rates are compared with.
const ORDERS: &str = "pgbench's orders";
const PGBENCH_CLIENTS: usize = 32;
const PGBENCH_TIME: Duration = Duration::from_secs(3);

/// Latency, rate, and the rate of queued work.
pub(crate) async fn run(stack: &Stack) -> anyhow::Result<Section> {
    // pgbench copies one of our orders, so there must be one.
    let (_, key) = order::sign_up(stack, "calibration").await?;
    warm_up(stack, &order::target(stack, &key)?).await?;
    let baseline = crate::orders::baseline(stack).await?;
    let bench = Bench::start(stack).await?;
    let mut figures = latency::run(&bench, &baseline).await.context("latency")?;
    figures.extend(orders::run(&bench, &baseline).await.context("orders")?);
    figures.extend(drain::run(&bench, &baseline).await.context("drain")?);
    Ok(Section::new("Webhooks", figures))
}

/// The stack with a receiver of its webhooks.
struct Bench<'a> {
    stack: &'a Stack,
    hooks: Hooks,
    source: Source,
    /// The dispatcher's own endpoints.
    dispatcher: Api,
}

/// An endpoint at the receiver.
#[derive(Clone)]
struct Endpoint {
    id: EndpointId,
    business: BusinessId,
    mode: Mode,
    path: String,
}

impl<'a> Bench<'a> {
    async fn start(stack: &'a Stack) -> anyhow::Result<Self> {
        let hooks = Hooks::start().await?;
        let source = Source::new(stack.broker_url())?;
        let dispatcher = Api::new(stack.internal_url(Service::WebhookDispatcher))?;
        Ok(Self { stack, hooks, source, dispatcher })
    }

    /// pgbench making an order's commits. Each group measures it directly before its own measurement.
    async fn pgbench(&self, baseline: &Baseline) -> anyhow::Result<Theirs> {
        say("pgbench makes an order's commits");
        Theirs::measure(self.stack, baseline, PGBENCH_CLIENTS, PGBENCH_TIME).await
    }

    /// Of the stack, this process and the receiver.
    fn cpu(&self) -> Cpu {
        Cpu::with_child(self.stack, self.hooks.pid().map(|pid| ("receiver", pid)))
    }

    fn new_business(&self) -> BusinessId {
        BusinessId::generate(&self.source.clock, &self.source.entropy)
    }

    async fn endpoint(&self, business: BusinessId, mode: Mode, path: &str) -> anyhow::Result<Endpoint> {
        let url = format!("{}{path}", self.hooks.origin());
        // Without a rate limit.
        let body = json!({ "url": url, "modes": [mode], "maxPerSecond": 0 });
        let call = format!("/internal/businesses/{business}/webhook-endpoints");
        let request = self.dispatcher.request(Method::POST, &call).bearer_auth(self.stack.internal_token());
        let created = self.dispatcher.send(request.json(&body)).await?.expect(201)?;
        Ok(Endpoint { id: text(&created, "id")?.parse()?, business, mode, path: path.to_owned() })
    }

    async fn set_status(&self, endpoints: &[Endpoint], status: &str) -> anyhow::Result<()> {
        for Endpoint { business, id, .. } in endpoints {
            let call = format!("/internal/businesses/{business}/webhook-endpoints/{id}");
            let request = self.dispatcher.request(Method::PATCH, &call);
            let request = request.bearer_auth(self.stack.internal_token()).json(&json!({ "status": status }));
            self.dispatcher.send(request).await?.expect(200)?;
        }
        Ok(())
    }

    /// Returns when their deliveries are discarded, which is work.
    async fn delete(&self, endpoints: &[Endpoint]) -> anyhow::Result<()> {
        for Endpoint { business, id, .. } in endpoints {
            let call = format!("/internal/businesses/{business}/webhook-endpoints/{id}");
            let request =
                self.dispatcher.request(Method::DELETE, &call).bearer_auth(self.stack.internal_token());
            self.dispatcher.send(request).await?.expect(204)?;
        }
        self.settled(endpoints).await
    }

    /// Writes the pages that earlier work changed. Otherwise commits of the next measurement wait for the disk at the time
    /// of PostgreSQL's next checkpoint.
    async fn checkpoint(&self) -> anyhow::Result<()> {
        local_stack::query(&self.stack.admin_url()?, "CHECKPOINT").await.map(drop)
    }

    /// The number of pending deliveries of these endpoints.
    async fn pending(&self, endpoints: &[Endpoint]) -> anyhow::Result<usize> {
        let ids: Vec<_> = endpoints.iter().map(|endpoint| endpoint.id.to_string()).collect();
        let ids = ids.join(",");
        let sql = format!(
            "SELECT count(*) FROM deliveries
             WHERE state = 'pending' AND endpoint_id = ANY (string_to_array('{ids}', ','))"
        );
        Ok(self.stack.query(Service::WebhookDispatcher, &sql).await?.parse()?)
    }

    /// Waits until this many deliveries are pending.
    async fn accepted(&self, endpoints: &[Endpoint], count: usize) -> anyhow::Result<()> {
        eventually("the events to be accepted", PATIENCE, || async {
            Ok((self.pending(endpoints).await? >= count).then_some(()))
        })
        .await
    }

    /// Waits until every outcome is written.
    async fn settled(&self, endpoints: &[Endpoint]) -> anyhow::Result<()> {
        eventually("the outcomes to be written", PATIENCE, || async {
            Ok((self.pending(endpoints).await? == 0).then_some(()))
        })
        .await
    }

    /// Fails unless the expected webhooks arrived, once all are there or after `PATIENCE`. Resets the receiver.
    async fn received(&self, expected: &HashSet<EventKey>) -> anyhow::Result<(Received, Span)> {
        self.hooks.reaches(expected.len(), PATIENCE).await?;
        let arrivals = self.hooks.arrivals().await?;
        self.hooks.forget().await?;
        let times = || arrivals.iter().map(|arrival| arrival.at);
        let span = Span {
            first: times().min().unwrap_or_default(),
            last: times().max().unwrap_or_default(),
            count: arrivals.len(),
        };
        Ok((Received::of(expected, &arrivals)?, span))
    }
}

/// From the first arrival to the last, in microseconds since 1970.
#[derive(Clone, Copy)]
struct Span {
    first: i64,
    last: i64,
    count: usize,
}

impl Span {
    fn per_second(self) -> f64 {
        self.count.saturating_sub(1) as f64 / seconds(self.last - self.first)
    }
}

fn seconds(micros: i64) -> f64 {
    micros as f64 / 1_000_000.0
}

/// Microseconds since 1970.
fn now_micros() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}
