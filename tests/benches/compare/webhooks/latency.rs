//! The latency of webhooks at a steady 200 events per second: orders are placed at a fixed pace, whether or not earlier
//! ones have been answered.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use demo::clients::Integration;
use domain::Mode;
use local_stack::Service;
use tokio::task::JoinSet;
use waybill_tests::figure::{Figure, Target, Unit, percentile};
use waybill_tests::text;

use super::calibrate::calibrate;
use super::report::Spent;
use super::{Bench, Row, events, now_micros, orders, steady};

pub(crate) const PER_SECOND: u32 = 200;
const TIME: Duration = Duration::from_secs(10);

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let calibration = calibrate(bench).await?;
    let (portal, key) = orders::sign_up(bench, "latency").await?;
    let endpoint = bench.endpoint(portal.business_id.parse()?, Mode::Test, "/latency").await?;
    let shop = Arc::new(Integration::new(&bench.stack.order_api(), key)?);
    // To open connections and prepare statements.
    place(&shop, "latency-warm", Duration::from_secs(2)).await?;
    bench.settled(std::slice::from_ref(&endpoint)).await?;
    bench.checkpoint().await?;
    bench.hooks.forget().await?;

    let before = bench.cpu();
    let answered = place(&shop, "latency", TIME).await?;
    bench.hooks.reaches(answered.len(), super::PATIENCE).await?;
    bench.settled(std::slice::from_ref(&endpoint)).await?;
    let cpu = bench.cpu().since(&before);

    let occurred = occurred(bench, &portal.business_id).await?;
    let arrivals = bench.hooks.arrivals().await?;
    let millis = |micros: i64| micros as f64 / 1_000.0;
    let mut since_event: Vec<_> = arrivals
        .iter()
        .filter_map(|arrival| Some(millis(arrival.at - occurred.get(&arrival.event)?)))
        .collect();
    let mut since_answer: Vec<_> = arrivals
        .iter()
        .filter_map(|arrival| Some(millis(arrival.at - answered.get(&arrival.order)?)))
        .collect();
    since_event.sort_unstable_by(f64::total_cmp);
    since_answer.sort_unstable_by(f64::total_cmp);
    let expected = answered.keys().map(|order| (endpoint.path.clone(), order.clone(), 1)).collect();
    let (received, _) = bench.received(&expected).await?;
    bench.delete(&[endpoint]).await?;
    let what = format!("orders at {PER_SECOND}/s");
    let (post_p50, post_p99) = calibration.answered;
    let figure = |part: &str, found: f64, post: f64, most: f64| {
        Figure::new(format!("{what}: from event to webhook, {part}"), found, Unit::Millis)
            .compared_with(format!("a bare POST at {PER_SECOND}/s"), post)
            .target(Target::AtMost(most))
    };
    let slowest = since_event.last().copied().unwrap_or_default();
    let since_event = |part| percentile(&since_event, part);
    let since_answer = |part| percentile(&since_answer, part);
    let median = figure("median", since_event(0.5), post_p50, 5.0)
        .note("an event occurs before its order's commit")
        .note(format!("from the caller's 201: {:.1} ms", since_answer(0.5)));
    let highest = figure("99th percentile", since_event(0.99), post_p99, 15.0).note(format!(
        "from the caller's 201: {:.1} ms; the slowest of all {:.1} ms",
        since_answer(0.99),
        slowest
    ));
    let spent = Spent { cpu, count: answered.len() };
    let row = Row::of([median, highest]).cost(&calibration, &what, &spent, Some(1.2)).received(received);
    Ok(vec![calibration.row(), row])
}

/// Places orders at the pace. Returns when each was answered, by the order's id without its prefix.
async fn place(shop: &Arc<Integration>, name: &str, time: Duration) -> anyhow::Result<HashMap<String, i64>> {
    let mut calls = JoinSet::new();
    let mut sample = serde_json::to_value(reference_shop::NewOrder::sample(""))?;
    let mut pace = steady::Pace::new(PER_SECOND);
    for number in 0..pace.count(time) {
        pace.next().await;
        let reference = format!("{name}-{number}");
        sample["orderReference"] = reference.clone().into();
        let (shop, body) = (Arc::clone(shop), sample.clone());
        calls.spawn(async move {
            let created = shop.create(&reference, &body).await?.expect(201)?;
            anyhow::Ok((events::bare(&text(&created, "id")?), now_micros()))
        });
    }
    let mut answered = HashMap::new();
    while let Some(call) = calls.join_next().await {
        let (order, at) = call??;
        answered.insert(order, at);
    }
    Ok(answered)
}

/// When each event of a business occurred, in microseconds, by its id without the prefix.
async fn occurred(bench: &Bench, business: &str) -> anyhow::Result<HashMap<String, i64>> {
    let sql = format!(
        "SELECT event_id || ' ' || (extract(epoch FROM occurred_at) * 1000000)::bigint FROM events
         WHERE business_id = '{business}'"
    );
    let rows = bench.stack.query(Service::WebhookDispatcher, &sql).await?;
    let pairs = rows.lines().filter_map(|row| row.split_once(' '));
    pairs.map(|(event, at)| Ok((events::bare(event), at.parse()?))).collect()
}
