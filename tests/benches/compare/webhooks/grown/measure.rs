//! The owners' requests, on endpoints with a long log.

use std::time::Duration;

use anyhow::{Context, ensure};
use local_stack::{Service, say};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::super::{Bench, Endpoint};
use crate::figure::percentile;

/// Of each kind.
const CALLS: usize = 200;
const REDELIVERIES: usize = 100;
const ARRIVAL_MAX: Duration = Duration::from_secs(10);

/// By name, in order of measurement.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Figures(Vec<(String, f64)>);

impl Figures {
    pub(super) fn add(&mut self, name: impl Into<String>, value: f64) {
        self.0.push((name.into(), value));
    }

    fn add_times(&mut self, name: &str, mut millis: Vec<f64>) {
        millis.sort_unstable_by(f64::total_cmp);
        self.add(format!("{name}, p50 ms"), percentile(&millis, 0.5));
        self.add(format!("{name}, p99 ms"), percentile(&millis, 0.99));
    }
}

/// The log of endpoints, single deliveries, timelines, and redelivery.
pub(super) async fn calls(
    bench: &Bench,
    endpoints: &[Endpoint],
    figures: &mut Figures,
) -> anyhow::Result<()> {
    // Once each, to prepare statements.
    for calls in [10, CALLS] {
        let mut found = Figures::default();
        let below =
            |count: usize| bench.source.entropy.below(u32::try_from(count).unwrap_or(u32::MAX)) as usize;
        let pick = || &endpoints[below(endpoints.len())];
        let pages = [
            ("log, first page of 100", "limit=100"),
            ("log, failed ones", "limit=100&status=failed"),
            ("log, of one kind", "limit=100&event=order.picked_up"),
            ("log, failed ones of one kind", "limit=100&status=failed&event=order.created"),
            ("log, a state that none has", "limit=100&status=discarded"),
        ];
        for (name, query) in pages {
            let mut times = Vec::new();
            for _ in 0..calls {
                times.push(get(bench, &log(pick(), query)).await?);
            }
            found.add_times(name, times);
        }
        let deliveries = some_deliveries(bench, calls).await?;
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for (delivery, endpoint, business, order) in &deliveries {
            let endpoint =
                endpoints.iter().find(|one| one.id.to_string() == *endpoint).context("its endpoint")?;
            let after = format!("limit=100&startingAfter={delivery}");
            times[0].push(get(bench, &log(endpoint, &after)).await?);
            let of_delivery = format!("/internal/businesses/{business}/webhook-deliveries/{delivery}");
            times[1].push(get(bench, &of_delivery).await?);
            let of_order = format!("/internal/businesses/{business}/orders/{order}/webhook-deliveries");
            times[2].push(get(bench, &of_order).await?);
        }
        let [pages, single, orders] = times;
        found.add_times("log, a page from anywhere", pages);
        found.add_times("one delivery with its attempts", single);
        found.add_times("what was sent of one order", orders);
        redeliver(bench, &deliveries[..calls.min(REDELIVERIES)], &mut found).await?;
        if calls == CALLS {
            figures.0.extend(found.0);
        }
    }
    Ok(())
}

/// One after the other: from the call to its response, and to the webhook.
async fn redeliver(bench: &Bench, deliveries: &[Picked], figures: &mut Figures) -> anyhow::Result<()> {
    let (mut answered, mut arrived) = (Vec::new(), Vec::new());
    for (count, (delivery, _, business, _)) in deliveries.iter().enumerate() {
        if count == 0 {
            bench.hooks.forget().await?;
        }
        let call = format!("/internal/businesses/{business}/webhook-deliveries/{delivery}/redeliver");
        let request = bench.dispatcher.request(Method::POST, &call).bearer_auth(bench.stack.internal_token());
        let (begun, at) = (Instant::now(), super::super::now_micros());
        let reply = bench.dispatcher.send(request).await?;
        ensure!(reply.status.is_success(), "redelivery: {}", reply.text);
        answered.push(begun.elapsed().as_secs_f64() * 1_000.0);
        ensure!(bench.hooks.reaches(count + 1, ARRIVAL_MAX).await?, "{delivery} was not redelivered");
        let last = bench.hooks.arrivals().await?.pop().context("an arrival")?;
        arrived.push((last.at - at) as f64 / 1_000.0);
    }
    bench.hooks.forget().await?;
    figures.add_times("redelivery, answered", answered);
    figures.add_times("redelivery, arrived", arrived);
    Ok(())
}

fn log(endpoint: &Endpoint, query: &str) -> String {
    let Endpoint { business, id, .. } = endpoint;
    format!("/internal/businesses/{business}/webhook-endpoints/{id}/deliveries?{query}")
}

/// The duration of the call, in milliseconds.
async fn get(bench: &Bench, path: &str) -> anyhow::Result<f64> {
    let request = bench.dispatcher.request(Method::GET, path).bearer_auth(bench.stack.internal_token());
    let begun = Instant::now();
    bench.dispatcher.send(request).await?.expect(200)?;
    Ok(begun.elapsed().as_secs_f64() * 1_000.0)
}

/// A delivery, its endpoint, its business and its order.
type Picked = (String, String, String, String);

/// Random ones among the filled rows.
async fn some_deliveries(bench: &Bench, count: usize) -> anyhow::Result<Vec<Picked>> {
    let sql = format!(
        "SELECT id, endpoint_id, business_id, order_id FROM deliveries WHERE id IN (
            SELECT 'whd_00' || lpad(upper(to_hex((random() * (deliveries - 1))::bigint)), 24, '0')
            FROM bench.filled, generate_series(1, {count}))"
    );
    let rows = bench.stack.query(Service::WebhookDispatcher, &sql).await?;
    let words = rows.lines().map(|row| row.split('|').map(str::to_owned));
    words
        .map(|mut words| {
            let mut next = || words.next().context("a short row");
            Ok((next()?, next()?, next()?, next()?))
        })
        .collect()
}

/// Both sides.
pub(super) fn show(small: (u64, &Figures), grown: (u64, &Figures), sizes: &str) {
    say(&format!("\nThe grown table takes: {sizes}\n"));
    say(&format!("| what | {} deliveries | {} deliveries | ratio |", small.0, grown.0));
    say("| --- | --- | --- | --- |");
    for ((name, before), (_, after)) in small.1.0.iter().zip(&grown.1.0) {
        say(&format!("| {name} | {before:.2} | {after:.2} | {:.2} |", after / before));
    }
}
