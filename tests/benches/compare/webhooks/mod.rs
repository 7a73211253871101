//! From an event to its webhook: rate, latency, cost, and the effect of one endpoint's trouble on others. The target is
//! the result of a comparable product on a machine of this size; the limits of this machine are measured in the same
//! run.

mod backlog;
mod calibrate;
mod drain;
mod endpoints;
mod events;
mod grown;
mod hooks;
mod isolation;
mod kill;
mod latency;
mod orders;
mod received;
mod receiver;
mod report;
mod sequence;
mod steady;
mod tenants;

use std::collections::HashSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, ensure};
use demo::clients::Api;
use demo::eventually;
use domain::{BusinessId, EndpointId, Mode};
use local_stack::{Service, Stack, say};
use reqwest::Method;
use serde_json::json;
use waybill_tests::figure::Section;
use waybill_tests::text;

use crate::cpu::Cpu;
use crate::pgbench::Baseline;
use events::Source;
use hooks::Hooks;
use received::{Place, Received};
use report::Row;

pub(crate) use grown::run as run_grown;
pub(crate) use receiver::serve as serve_receiver;

/// In the order of execution: those that leave much data come last.
pub(crate) const GROUPS: [&str; 9] =
    ["latency", "orders", "drain", "sequence", "isolation", "tenants", "kill", "backlog", "endpoints"];
/// The time limit for webhooks to arrive and for their outcomes to be written.
const PATIENCE: Duration = Duration::from_secs(120);

/// The state of every group.
pub(crate) struct Bench {
    pub(crate) stack: Stack,
    hooks: Hooks,
    source: Source,
    /// The dispatcher's own endpoints.
    dispatcher: Api,
    /// The commits of an order. Absent if the stack is kept from run to run.
    orders: Option<Baseline>,
}

/// An endpoint at the receiver.
#[derive(Clone)]
struct Endpoint {
    id: EndpointId,
    business: BusinessId,
    mode: Mode,
    path: String,
}

/// A round of all groups, or of one.
pub(crate) async fn run(only: Option<&str>) -> anyhow::Result<Section> {
    let mut bench = Bench::start().await?;
    bench.orders = Some(calibrate::orders(&bench.stack).await?);
    let mut figures = Vec::new();
    let mut wrong = 0;
    for group in GROUPS.into_iter().filter(|group| only.is_none_or(|only| only == *group)) {
        say(&format!("\nWebhooks: {group}"));
        bench.hooks.forget().await?;
        let found = match group {
            "orders" => orders::run(&bench).await,
            "latency" => latency::run(&bench).await,
            "drain" => drain::run(&bench).await,
            "sequence" => sequence::run(&bench).await,
            "isolation" => isolation::run(&bench).await,
            "tenants" => tenants::run(&bench).await,
            "kill" => kill::run(&bench).await,
            "endpoints" => endpoints::run(&bench).await,
            _ => backlog::run(&bench).await,
        };
        let found = found.with_context(|| format!("webhooks: {group}"))?;
        wrong += found.iter().filter(|row| row.is_wrong()).count();
        figures.extend(found.into_iter().flat_map(|row| row.figures).inspect(|figure| say(&figure.line())));
    }
    bench.stack.shut_down().await?;
    ensure!(wrong == 0, "{wrong} runs have webhooks that were lost, unexpected or out of order");
    Ok(Section::new("Webhooks", figures))
}

impl Bench {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let stack = crate::start_stack().await?;
        let hooks = Hooks::start().await?;
        let source = Source::new(stack.broker_url())?;
        let dispatcher = Api::new(stack.internal_url(Service::WebhookDispatcher))?;
        Ok(Self { stack, hooks, source, dispatcher, orders: None })
    }

    /// As many webhooks as a drain has, to one endpoint.
    pub(crate) async fn deliver(&self) -> anyhow::Result<usize> {
        drain::deliver(self).await
    }

    /// Of the stack, this process and the receiver.
    fn cpu(&self) -> Cpu {
        Cpu::with_child(&self.stack, self.hooks.pid().map(|pid| ("receiver", pid)))
    }

    fn new_business(&self) -> BusinessId {
        BusinessId::generate(&self.source.clock, &self.source.entropy)
    }

    async fn endpoint(&self, business: BusinessId, mode: Mode, path: &str) -> anyhow::Result<Endpoint> {
        self.limited_endpoint(business, mode, path, 0).await
    }

    /// With a rate limit of its own; 0 is none.
    async fn limited_endpoint(
        &self,
        business: BusinessId,
        mode: Mode,
        path: &str,
        max_per_second: u32,
    ) -> anyhow::Result<Endpoint> {
        let url = format!("{}{path}", self.hooks.origin());
        let body = json!({ "url": url, "modes": [mode], "maxPerSecond": max_per_second });
        let call = format!("/internal/businesses/{business}/webhook-endpoints");
        let request = self.dispatcher.request(Method::POST, &call).bearer_auth(self.stack.internal_token());
        let created = self.dispatcher.send(request.json(&body)).await?.expect(201)?;
        Ok(Endpoint { id: text(&created, "id")?.parse()?, business, mode, path: path.to_owned() })
    }

    async fn set_status(&self, endpoint: &Endpoint, status: &str) -> anyhow::Result<()> {
        let Endpoint { business, id, .. } = endpoint;
        let call = format!("/internal/businesses/{business}/webhook-endpoints/{id}");
        let request = self.dispatcher.request(Method::PATCH, &call).bearer_auth(self.stack.internal_token());
        self.dispatcher.send(request.json(&json!({ "status": status }))).await?.expect(200).map(drop)
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

    /// Waits until this many deliveries are stored with their outcomes. A webhook may arrive before it is stored.
    async fn stored(&self, endpoint: &Endpoint, count: usize) -> anyhow::Result<()> {
        let sql = format!(
            "SELECT count(*) FROM deliveries WHERE state = 'succeeded' AND endpoint_id = '{}'",
            endpoint.id
        );
        eventually("the deliveries to be stored", PATIENCE, || async {
            let stored: usize = self.stack.query(Service::WebhookDispatcher, &sql).await?.parse()?;
            Ok((stored >= count).then_some(()))
        })
        .await
    }

    /// Compares the received with the expected webhooks, once all are there or after `PATIENCE`, and resets the
    /// receiver.
    async fn received(&self, expected: &HashSet<Place>) -> anyhow::Result<(Received, Span)> {
        self.hooks.reaches(expected.len(), PATIENCE).await?;
        let arrivals = self.hooks.arrivals().await?;
        self.hooks.forget().await?;
        let times = || arrivals.iter().map(|arrival| arrival.at);
        let span = Span {
            first: times().min().unwrap_or_default(),
            last: times().max().unwrap_or_default(),
            count: arrivals.len(),
        };
        Ok((Received::of(expected, &arrivals), span))
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
pub(crate) fn now_micros() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}
