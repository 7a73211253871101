//! The time of a claim and the latency of one webhook, whatever else the database contains: endpoints that get nothing,
//! parked deliveries, and finished ones (`grown`). Each case is compared with the smallest one, measured directly before
//! it.

use std::time::Duration;

use anyhow::ensure;
use domain::Mode;
use local_stack::{Service, say};
use waybill_tests::figure::{Figure, Target, Unit, percentile};

use super::events::places;
use super::received::Received;
use super::{Bench, Endpoint, Row, steady};
use crate::metrics;

/// The smallest case has this many endpoints. All of them have work.
pub(super) const FEW: usize = 10;
pub(super) const SMALLEST: &str = "10 endpoints, all with work";
const PER_SECOND: u32 = 200;
const TIME: Duration = Duration::from_secs(8);
/// More than an endpoint gets. Claims enforce the limit, so all webhooks of these endpoints wait for a claim.
const MAX_PER_SECOND: u32 = 1_000;
pub(super) const RATIO_MAX: f64 = 1.3;

struct Case {
    what: &'static str,
    with_work: usize,
    /// A third of them is paused, a third is disabled, and the breaker of a third has tripped. Each has a due delivery;
    /// the sweeper parks those of the disabled ones within seconds.
    without_work: u32,
    /// Parked deliveries of one of these.
    parked: u32,
}

const CASES: [Case; 3] = [
    Case { what: "1,000 endpoints, 100 of them with work", with_work: 100, without_work: 900, parked: 0 },
    Case { what: "10,000 endpoints, 100 of them with work", with_work: 100, without_work: 9_900, parked: 0 },
    Case { what: "1,000,000 parked deliveries", with_work: FEW, without_work: 1, parked: 1_000_000 },
];

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let few = endpoints(bench, "few", FEW).await?;
    let mut rows = Vec::new();
    for case in CASES {
        let smallest = measure(bench, &few).await?;
        say(&format!("Adding: {}", case.what));
        add(bench, &few[0], &case).await?;
        let more = endpoints(bench, "more", case.with_work - FEW).await?;
        let measured = measure(bench, &[few.as_slice(), &more].concat()).await?;
        bench.delete(&more).await?;
        remove(bench).await?;
        let mut received = smallest.received;
        received.add(measured.received);
        rows.push(Row::of(measured.figures(case.what, &smallest)).received(received));
    }
    bench.delete(&few).await?;
    Ok(rows)
}

/// Of different businesses. Their webhooks need a claim.
pub(super) async fn endpoints(bench: &Bench, name: &str, count: usize) -> anyhow::Result<Vec<Endpoint>> {
    let mut endpoints = Vec::new();
    for number in 0..count {
        let (business, path) = (bench.new_business(), format!("/claimed/{name}/{number}"));
        endpoints.push(bench.limited_endpoint(business, Mode::Live, &path, MAX_PER_SECOND).await?);
    }
    Ok(endpoints)
}

/// What was measured in one case.
pub(super) struct Measured {
    pub(super) received: Received,
    /// The mean of all claims.
    pub(super) claim_ms: f64,
    claims: f64,
    pub(super) median_ms: f64,
    pub(super) p99_ms: f64,
}

/// Events to the endpoints in turn.
pub(super) async fn measure(bench: &Bench, endpoints: &[Endpoint]) -> anyhow::Result<Measured> {
    // So that connections are open.
    steady::run(bench, endpoints, (PER_SECOND, Duration::from_secs(1)), "/claimed/").await?;
    bench.settled(endpoints).await?;
    bench.checkpoint().await?;
    bench.hooks.forget().await?;
    let before = Claims::of(bench).await?;
    let found = steady::run(bench, endpoints, (PER_SECOND, TIME), "/claimed/").await?;
    bench.settled(endpoints).await?;
    let claims = Claims::of(bench).await?.since(&before);
    let events: Vec<_> = found.orders.iter().map(|order| (order, 1)).collect();
    let (received, _) = bench.received(&places(&events)).await?;
    // Two events are 5 ms apart, and a claim covers those of a few milliseconds.
    let least = events.len() as f64 / 10.0;
    ensure!(claims.count > least, "{} claims for {} webhooks", claims.count, events.len());
    Ok(Measured {
        received,
        claim_ms: claims.seconds * 1_000.0 / claims.count,
        claims: claims.count,
        median_ms: percentile(&found.latencies, 0.5),
        p99_ms: percentile(&found.latencies, 0.99),
    })
}

impl Measured {
    fn figures(&self, what: &str, smallest: &Self) -> [Figure; 3] {
        let figure = |part: &str, own: f64, other: f64| {
            Figure::new(format!("{what}: {part}"), own, Unit::Millis)
                .compared_with(SMALLEST, other)
                .target(Target::RatioAtMost(RATIO_MAX))
        };
        let latency = format!("webhooks that need one, {PER_SECOND}/s");
        [
            figure("a claim", self.claim_ms, smallest.claim_ms)
                .note(format!("the mean of {} claims, and of {}", self.claims, smallest.claims)),
            figure(&format!("{latency}, median"), self.median_ms, smallest.median_ms),
            figure(&format!("{latency}, 99th percentile"), self.p99_ms, smallest.p99_ms),
        ]
    }
}

/// As the dispatcher counts them.
struct Claims {
    count: f64,
    seconds: f64,
}

impl Claims {
    async fn of(bench: &Bench) -> anyhow::Result<Self> {
        let text = metrics::of(&bench.stack, Service::WebhookDispatcher).await?;
        let sum = |part: &str| metrics::sum(&text, &format!("webhook_claim_duration_seconds_{part}"), "");
        Ok(Self { count: sum("count"), seconds: sum("sum") })
    }

    fn since(&self, before: &Self) -> Self {
        Self { count: self.count - before.count, seconds: self.seconds - before.seconds }
    }
}

/// Copies the endpoint, its health and one of its deliveries.
async fn add(bench: &Bench, like: &Endpoint, case: &Case) -> anyhow::Result<()> {
    let (id, endpoints, parked) = (like.id, case.without_work, case.parked);
    let copy = |table: &str, key: &str, more: &str| {
        format!(
            "INSERT INTO {table} SELECT copy.* FROM {table} AS one, generate_series(1, {endpoints}) AS nth,
                jsonb_populate_record(one, jsonb_build_object(
                    '{key}', 'whe_' || lpad(nth::text, 26, '0'), 'business_id', 'biz_' || lpad(nth::text, 26, '0'),
                    {more})) AS copy
             WHERE one.{key} = '{id}'"
        )
    };
    let deliveries = |count: u32, endpoint: &str, state: &str, due_at: &str| {
        format!(
            "INSERT INTO deliveries SELECT copy.*
             FROM (SELECT * FROM deliveries WHERE endpoint_id = '{id}' LIMIT 1) AS one, generate_series(1, {count}) AS nth,
                jsonb_populate_record(one::text::deliveries, jsonb_build_object(
                    'id', 'whd_' || lpad(nth::text, 26, '0'), 'event_id', 'evt_' || lpad(nth::text, 26, '0'),
                    'endpoint_id', {endpoint}, 'business_id', replace({endpoint}, 'whe_', 'biz_'), 'state', '{state}',
                    'attempts', 0, 'due_at', {due_at}, 'completed_at', NULL, 'order_id', NULL, 'sequence', NULL,
                    'in_turn', false)) AS copy"
        )
    };
    let health = "'disabled_at', CASE WHEN nth % 3 = 1 THEN now() END,
        'disabled_reason', CASE WHEN nth % 3 = 1 THEN 'bench' END,
        'tripped_until', CASE WHEN nth % 3 = 2 THEN now() + interval '1 hour' END";
    for sql in [
        copy("endpoints", "id", "'paused', nth % 3 = 0"),
        copy("endpoint_health", "endpoint_id", health),
        match parked {
            0 => deliveries(endpoints, "'whe_' || lpad(nth::text, 26, '0')", "pending", "now()"),
            _ => deliveries(parked, "'whe_' || lpad('1', 26, '0')", "parked", "NULL"),
        },
        "ANALYZE deliveries, endpoints, endpoint_health".to_owned(),
    ] {
        bench.stack.query(Service::WebhookDispatcher, &sql).await?;
    }
    Ok(())
}

async fn remove(bench: &Bench) -> anyhow::Result<()> {
    for (table, column) in
        [("deliveries", "endpoint_id"), ("endpoint_health", "endpoint_id"), ("endpoints", "id")]
    {
        let sql = format!("DELETE FROM {table} WHERE {column} LIKE 'whe\\_000000%'");
        bench.stack.query(Service::WebhookDispatcher, &sql).await?;
        bench.stack.query(Service::WebhookDispatcher, &format!("VACUUM ANALYZE {table}")).await?;
    }
    Ok(())
}
