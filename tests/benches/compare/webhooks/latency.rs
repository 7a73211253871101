//! The latency of webhooks at a steady pace: orders are placed whether or not earlier ones have been answered. Compared
//! with a bare HTTP call to the same receiver at the same pace.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use demo::clients::Integration;
use domain::Mode;
use local_stack::{Service, say};
use reqwest::Client;
use tokio::task::JoinSet;
use waybill_tests::figure::{Figure, Target, Unit, percentile};
use waybill_tests::text;

use super::pace::Pace;
use super::{Bench, events, now_micros};
use crate::compare::{Cost, millis};
use crate::order;
use crate::pgbench::Baseline;

const PER_SECOND: u32 = 200;
const TIME: Duration = Duration::from_secs(10);
const WARM_UP: Duration = Duration::from_secs(2);
const POSTS_TIME: Duration = Duration::from_secs(3);
const MEDIAN_RATIO: f64 = 2.0;
const P99_RATIO: f64 = 6.0;
/// As long as a webhook's body.
const BODY: &str = r#"{"id":"evt_01KAKPXA3M0000000000000000","event":"order.created","sequence":1,"mode":"test","occurredAt":"2026-01-01T00:00:00.000Z","order":{"id":"ord_01KAKPXA3M0000000000000000","serviceOrderId":"ord_01KAKPXA3M0000000000000000","orderReference":"shop-ord_01KAKPXA3M0000000000000000","trackingCode":"TEST-0000-0000-0000-0","trackingUrl":"https://tracking.example/track/0000-0000-0000","status":"created","codStatus":"pending"},"data":{}}"#;

pub(super) async fn run(bench: &Bench<'_>, baseline: &Baseline) -> anyhow::Result<Vec<Figure>> {
    let (portal, key) = order::sign_up(bench.stack, "latency").await?;
    let endpoint = [bench.endpoint(portal.business_id.parse()?, Mode::Test, "/latency").await?];
    let shop = Arc::new(Integration::new(&bench.stack.order_api(), key)?);
    // To open connections and prepare statements.
    place(&shop, "latency-warm", WARM_UP).await?;
    bench.settled(&endpoint).await?;

    let theirs = bench.pgbench(baseline).await?;
    say("Bare POSTs");
    let posts = posts(&format!("{}/bare", bench.hooks.origin())).await?;
    bench.checkpoint().await?;
    bench.hooks.forget().await?;
    let before = bench.cpu();
    let answered = place(&shop, "latency", TIME).await?;
    bench.hooks.reaches(answered.len(), super::PATIENCE).await?;
    bench.settled(&endpoint).await?;
    let cost = Cost { cpu: bench.cpu().since(&before), done: answered.len() as f64 };

    let occurred = occurred(bench, &portal.business_id).await?;
    let arrivals = bench.hooks.arrivals().await?;
    let since_event = sorted(arrivals.iter().filter_map(|one| Some(one.at - occurred.get(&one.event)?)));
    let since_answer = sorted(arrivals.iter().filter_map(|one| Some(one.at - answered.get(&one.order)?)));
    let expected = answered.keys().map(|order| ("/latency".to_owned(), order.clone(), 1)).collect();
    let (received, _) = bench.received(&expected).await?;
    bench.delete(&endpoint).await?;
    let what = format!("orders at {PER_SECOND}/s");
    let figure = |name: &str, part: f64, ratio: f64| {
        Figure::new(
            format!("{what}: from event to webhook, {name}"),
            percentile(&since_event, part),
            Unit::Millis,
        )
        .compared_with(format!("a bare POST at {PER_SECOND}/s"), percentile(&posts, part))
        .target(Target::AtMost(ratio))
        .note(format!("from the caller's 201: {:.1} ms", percentile(&since_answer, part)))
    };
    Ok(vec![
        figure("median", 0.5, MEDIAN_RATIO)
            .note("an event occurs before its order's commit")
            .note(received.text()),
        figure("99th percentile", 0.99, P99_RATIO)
            .note(format!("the slowest of all {:.1} ms", since_event.last().copied().unwrap_or_default())),
        cost.figure(&what, &theirs),
    ])
}

/// In milliseconds.
fn sorted(micros: impl Iterator<Item = i64>) -> Vec<f64> {
    let mut millis: Vec<_> = micros.map(|micros| micros as f64 / 1_000.0).collect();
    millis.sort_unstable_by(f64::total_cmp);
    millis
}

/// The times of calls with the dispatcher's HTTP client, in milliseconds, sorted.
async fn posts(url: &str) -> anyhow::Result<Vec<f64>> {
    let http = Client::builder().no_proxy().tcp_nodelay(true).build()?;
    let mut pace = Pace::new(PER_SECOND);
    let mut calls = JoinSet::new();
    for _ in 0..pace.count(POSTS_TIME) {
        pace.next().await;
        let call = http.post(url).body(BODY);
        calls.spawn(async move {
            let begun = Instant::now();
            call.send().await?.error_for_status()?.bytes().await?;
            anyhow::Ok(millis(begun.elapsed()))
        });
    }
    let mut times = calls.join_all().await.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    times.sort_unstable_by(f64::total_cmp);
    Ok(times)
}

/// Places orders at the pace. Returns the times of their answers, in microseconds since 1970, by the order's id without
/// its prefix.
async fn place(shop: &Arc<Integration>, name: &str, time: Duration) -> anyhow::Result<HashMap<String, i64>> {
    let mut pace = Pace::new(PER_SECOND);
    let mut calls = JoinSet::new();
    for number in 0..pace.count(time) {
        pace.next().await;
        let reference = format!("{name}-{number}");
        let (shop, body) = (Arc::clone(shop), demo::sample_order(&reference));
        calls.spawn(async move {
            let created = shop.create(&reference, &body).await?.expect(201)?;
            anyhow::Ok((events::bare(&text(&created, "id")?), now_micros()))
        });
    }
    calls.join_all().await.into_iter().collect()
}

/// When each event of a business occurred, in microseconds, by its id without the prefix.
async fn occurred(bench: &Bench<'_>, business: &str) -> anyhow::Result<HashMap<String, i64>> {
    let sql = format!(
        "SELECT event_id || ' ' || (extract(epoch FROM occurred_at) * 1000000)::bigint FROM events
         WHERE business_id = '{business}'"
    );
    let rows = bench.stack.query(Service::WebhookDispatcher, &sql).await?;
    let pairs = rows.lines().filter_map(|row| row.split_once(' '));
    pairs.map(|(event, at)| Ok((events::bare(event), at.parse()?))).collect()
}
