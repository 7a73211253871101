//! The latency of webhooks, and of answers, at a steady pace: orders are placed whether or not earlier ones have been
//! answered.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use demo::clients::Integration;
use domain::Mode;
use local_stack::Service;
use tokio::task::JoinSet;
use waybill_tests::figure::{Figure, Target, Unit, percentile};
use waybill_tests::text;

use super::calibrate::{Calibration, calibrate};
use super::report::Spent;
use super::{Bench, Row, events, now_micros, orders, steady};

/// The pace of the bare POSTs.
pub(crate) const PER_SECOND: u32 = 200;

/// Orders at a pace, with the targets: milliseconds, and processor seconds per 1,000.
struct Case {
    per_second: u32,
    time: Duration,
    answer: Option<Aims>,
    webhook: Aims,
    cpu: f64,
}

#[derive(Clone, Copy)]
struct Aims {
    median: f64,
    p99: f64,
}

const CASES: [Case; 2] = [
    Case {
        per_second: PER_SECOND,
        time: Duration::from_secs(10),
        answer: None,
        webhook: Aims { median: 2.5, p99: 8.0 },
        cpu: 1.9,
    },
    Case {
        per_second: 1_000,
        time: Duration::from_secs(6),
        answer: Some(Aims { median: 2.0, p99: 8.0 }),
        webhook: Aims { median: 6.0, p99: 20.0 },
        cpu: 1.0,
    },
];

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let calibration = calibrate(bench).await?;
    let (portal, key) = orders::sign_up(bench, "latency").await?;
    let endpoint = bench.endpoint(portal.business_id.parse()?, Mode::Test, "/latency").await?;
    let shop = Arc::new(Integration::new(&bench.stack.order_api(), key)?);
    let mut rows = vec![calibration.row()];
    for case in &CASES {
        let name = format!("latency-{}", case.per_second);
        // To open connections and prepare statements.
        place(&shop, &format!("{name}-warm"), (case.per_second, Duration::from_secs(2))).await?;
        bench.settled(std::slice::from_ref(&endpoint)).await?;
        bench.checkpoint().await?;
        bench.hooks.forget().await?;

        let before = bench.cpu();
        let answered = place(&shop, &name, (case.per_second, case.time)).await?;
        bench.hooks.reaches(answered.len(), super::PATIENCE).await?;
        bench.settled(std::slice::from_ref(&endpoint)).await?;
        let spent = Spent { cpu: bench.cpu().since(&before), count: answered.len() };

        let times = Times::of(bench, &portal.business_id, &answered).await?;
        let expected = answered.keys().map(|order| (endpoint.path.clone(), order.clone(), 1)).collect();
        let (received, _) = bench.received(&expected).await?;
        let what = format!("orders at {}/s", case.per_second);
        let figures = case.figures(&what, &times, &calibration);
        rows.push(Row::of(figures).cost(&calibration, &what, &spent, Some(case.cpu)).received(received));
    }
    bench.delete(&[endpoint]).await?;
    Ok(rows)
}

impl Case {
    fn figures(&self, what: &str, times: &Times, calibration: &Calibration) -> Vec<Figure> {
        let Times { answers, since_event, since_answer } = times;
        let (post_p50, post_p99) = calibration.answered;
        let figure = |part: &str, found: f64, post: f64, most: f64| {
            Figure::new(format!("{what}: {part}"), found, Unit::Millis)
                .compared_with(format!("a bare POST at {PER_SECOND}/s"), post)
                .target(Target::AtMost(most))
        };
        let Aims { median, p99 } = self.webhook;
        let mut figures = vec![
            figure("from event to webhook, median", percentile(since_event, 0.5), post_p50, median)
                .note("an event occurs before its order's commit")
                .note(format!("from the caller's 201: {:.1} ms", percentile(since_answer, 0.5))),
            figure("from event to webhook, 99th percentile", percentile(since_event, 0.99), post_p99, p99)
                .note(format!(
                    "from the caller's 201: {:.1} ms; the slowest of all {:.1} ms",
                    percentile(since_answer, 0.99),
                    since_event.last().copied().unwrap_or_default()
                )),
        ];
        if let Some(Aims { median, p99 }) = self.answer {
            figures.push(figure("answer, median", percentile(answers, 0.5), post_p50, median));
            figures.push(figure("answer, 99th percentile", percentile(answers, 0.99), post_p99, p99));
        }
        figures
    }
}

/// In milliseconds, sorted.
struct Times {
    answers: Vec<f64>,
    since_event: Vec<f64>,
    since_answer: Vec<f64>,
}

impl Times {
    async fn of(bench: &Bench, business: &str, answered: &HashMap<String, Answered>) -> anyhow::Result<Self> {
        let occurred = occurred(bench, business).await?;
        let arrivals = bench.hooks.arrivals().await?;
        let sorted = |mut times: Vec<f64>| {
            times.sort_unstable_by(f64::total_cmp);
            times
        };
        let millis = |micros: i64| micros as f64 / 1_000.0;
        let since_event =
            arrivals.iter().filter_map(|arrival| Some(arrival.at - occurred.get(&arrival.event)?));
        let since_answer =
            arrivals.iter().filter_map(|arrival| Some(arrival.at - answered.get(&arrival.order)?.at));
        Ok(Self {
            answers: sorted(
                answered.values().map(|answered| answered.took.as_secs_f64() * 1_000.0).collect(),
            ),
            since_event: sorted(since_event.map(millis).collect()),
            since_answer: sorted(since_answer.map(millis).collect()),
        })
    }
}

/// When a call was answered, in microseconds since 1970, and how long it took.
struct Answered {
    at: i64,
    took: Duration,
}

/// Places orders at the pace. Returns their answers by the order's id without its prefix.
async fn place(
    shop: &Arc<Integration>,
    name: &str,
    (per_second, time): (u32, Duration),
) -> anyhow::Result<HashMap<String, Answered>> {
    let mut calls = JoinSet::new();
    let mut sample = demo::sample_order("");
    let mut pace = steady::Pace::new(per_second);
    for number in 0..pace.count(time) {
        pace.next().await;
        let reference = format!("{name}-{number}");
        sample["orderReference"] = reference.clone().into();
        let (shop, body) = (Arc::clone(shop), sample.clone());
        calls.spawn(async move {
            let began = Instant::now();
            let created = shop.create(&reference, &body).await?.expect(201)?;
            let answered = Answered { at: now_micros(), took: began.elapsed() };
            anyhow::Ok((events::bare(&text(&created, "id")?), answered))
        });
    }
    let mut answered = HashMap::new();
    while let Some(call) = calls.join_next().await {
        let (order, answer) = call??;
        answered.insert(order, answer);
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
