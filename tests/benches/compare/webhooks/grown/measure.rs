//! Claims, and the owners' requests, on endpoints with a long log.

use std::time::Duration;

use anyhow::{Context, ensure};
use local_stack::Service;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use waybill_tests::figure::{Figure, Section, Target, Unit, percentile};

use super::super::{Bench, Endpoint, endpoints};

/// Of each kind.
const CALLS: usize = 200;
const REDELIVERIES: usize = 100;
const ARRIVAL_MAX: Duration = Duration::from_secs(10);

/// In order of measurement.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Figures(Vec<Entry>);

#[derive(Clone, Serialize, Deserialize)]
struct Entry {
    name: String,
    value: f64,
    unit: Unit,
    /// The ratio of the grown table to the small one.
    ratio_max: Option<f64>,
}

impl Figures {
    pub(super) fn add(&mut self, name: impl Into<String>, value: f64, unit: Unit) {
        self.0.push(Entry { name: name.into(), value, unit, ratio_max: None });
    }

    /// In milliseconds.
    fn add_with_target(&mut self, name: &str, value: f64) {
        let ratio_max = Some(endpoints::RATIO_MAX);
        self.0.push(Entry { name: name.to_owned(), value, unit: Unit::Millis, ratio_max });
    }

    fn add_times(&mut self, name: &str, mut millis: Vec<f64>) {
        millis.sort_unstable_by(f64::total_cmp);
        self.add(format!("{name}, median"), percentile(&millis, 0.5), Unit::Millis);
        self.add(format!("{name}, 99th percentile"), percentile(&millis, 0.99), Unit::Millis);
    }

    /// Compared with the same round on the small table.
    fn compared_with(&self, what: &str, small: &Self) -> impl Iterator<Item = Figure> {
        self.0.iter().zip(&small.0).map(move |(entry, small)| {
            let figure = Figure::new(&entry.name, entry.value, entry.unit).compared_with(what, small.value);
            entry.ratio_max.map(Target::RatioAtMost).into_iter().fold(figure, Figure::target)
        })
    }
}

/// The time of a claim, and the latency of webhooks that need one.
pub(super) async fn claims(bench: &Bench, figures: &mut Figures) -> anyhow::Result<()> {
    let few = endpoints::endpoints(bench, "grown", endpoints::FEW).await?;
    let measured = endpoints::measure(bench, &few).await?;
    ensure!(measured.received.is_right(), "{}", measured.received.text());
    figures.add_with_target("a claim", measured.claim_ms);
    figures.add_with_target("webhooks that need a claim, median", measured.median_ms);
    figures.add_with_target("webhooks that need a claim, 99th percentile", measured.p99_ms);
    bench.delete(&few).await
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

/// The rounds on the table of this size, compared with those on the small one.
pub(super) fn compared(wanted: u64, grown: &[Figures], small: &[Figures]) -> Section {
    let what = format!("with {} deliveries", Unit::Count.text(super::DELIVERIES_SMALL as f64));
    let pairs = grown.iter().zip(small);
    let figures = pairs.flat_map(|(grown, small)| grown.compared_with(&what, small));
    Section::new(format!("Webhooks with {} deliveries", Unit::Count.text(wanted as f64)), figures)
}
