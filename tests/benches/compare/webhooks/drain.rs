//! The rate of sending queued work: events that queued in the broker while the dispatcher was down, and accepted
//! deliveries of paused endpoints.

use anyhow::ensure;
use domain::Mode;
use local_stack::{Service, say};

use super::calibrate::{Calibration, calibrate};
use super::events::{Order, by_sequence, mixed, places};
use super::report::Spent;
use super::{Bench, Endpoint, Row, now_micros, seconds};

const EVENTS: usize = 20_000;
const ENDPOINTS_MANY: usize = 50;

/// The target: at least these ratios to pgbench's orders, at no more than this cost per 1,000.
#[derive(Clone, Copy)]
pub(super) struct Aim {
    from_the_broker: f64,
    accepted: f64,
    cost: f64,
}

/// Of the same work on one endpoint.
pub(super) const AIM_ONE: Aim = Aim { from_the_broker: 1.0, accepted: 1.2, cost: 0.45 };
const AIM_MANY: Aim = Aim { from_the_broker: 1.2, accepted: 1.2, cost: 0.40 };

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let calibration = calibrate(bench).await?;
    let mut rows = vec![calibration.row()];
    for (count, target) in [(1, AIM_ONE), (ENDPOINTS_MANY, AIM_MANY)] {
        let endpoints = endpoints(bench, count).await?;
        warm_up(bench, &endpoints).await?;
        rows.push(from_the_broker(bench, &endpoints, (&calibration, target)).await?.row);
        rows.push(from_paused_endpoints(bench, &endpoints, (&calibration, target)).await?.row);
        bench.delete(&endpoints).await?;
    }
    Ok(rows)
}

fn counted(endpoints: &[Endpoint]) -> String {
    match endpoints {
        [_] => "1 endpoint".to_owned(),
        _ => format!("{} endpoints, each event to one", endpoints.len()),
    }
}

/// Each event goes to one of them: each business has one for its test orders and one for its live orders.
pub(super) async fn endpoints(bench: &Bench, count: usize) -> anyhow::Result<Vec<Endpoint>> {
    let mut endpoints = Vec::new();
    let mut business = bench.new_business();
    for number in 0..count {
        let mode = if number % 2 == 0 { Mode::Test } else { Mode::Live };
        endpoints.push(bench.endpoint(business, mode, &format!("/drain/{count}/{number}")).await?);
        if mode == Mode::Live {
            business = bench.new_business();
        }
    }
    Ok(endpoints)
}

fn orders(bench: &Bench, endpoints: &[Endpoint], events: usize) -> (Vec<Order>, Vec<i64>) {
    mixed(events, |index| {
        let Endpoint { business, mode, path, .. } = &endpoints[index % endpoints.len()];
        bench.source.order(*business, *mode, path)
    })
}

/// Warms up connections and prepared statements.
pub(super) async fn warm_up(bench: &Bench, endpoints: &[Endpoint]) -> anyhow::Result<()> {
    let (orders, lengths) = orders(bench, endpoints, EVENTS / 20);
    let events = by_sequence(&orders, &lengths);
    bench.source.publish(&events).await?;
    bench.received(&places(&events)).await?;
    bench.settled(endpoints).await
}

/// Publishes events to one endpoint while the dispatcher runs. Returns the number that arrived.
pub(super) async fn deliver(bench: &Bench) -> anyhow::Result<usize> {
    let endpoints = endpoints(bench, 1).await?;
    let (orders, lengths) = orders(bench, &endpoints, EVENTS);
    let events = by_sequence(&orders, &lengths);
    bench.source.publish(&events).await?;
    let (received, _) = bench.received(&places(&events)).await?;
    ensure!(received.is_right(), "{}", received.text());
    bench.settled(&endpoints).await?;
    bench.delete(&endpoints).await?;
    Ok(events.len())
}

/// The result of a drain.
pub(super) struct Drained {
    pub(super) row: Row,
    pub(super) per_second: f64,
    /// Processor seconds per 1,000.
    pub(super) cost: f64,
    /// If acceptance was measured separately.
    pub(super) accepted_per_second: Option<f64>,
}

pub(super) async fn from_the_broker(
    bench: &Bench,
    endpoints: &[Endpoint],
    (calibration, target): (&Calibration, Aim),
) -> anyhow::Result<Drained> {
    say(&format!("{EVENTS} events wait in the broker for {} endpoints", endpoints.len()));
    let (orders, lengths) = orders(bench, endpoints, EVENTS);
    let events = by_sequence(&orders, &lengths);
    bench.stack.stop(Service::WebhookDispatcher).await?;
    bench.source.publish(&events).await?;
    let before = bench.cpu();
    let begun = now_micros();
    bench.stack.bring_up(Service::WebhookDispatcher).await?;
    let (received, span) = bench.received(&places(&events)).await?;
    bench.settled(endpoints).await?;
    let cpu = bench.cpu().since_restart(&before, Service::WebhookDispatcher);
    let what = format!("drain from the broker, {}", counted(endpoints));
    let note = format!("the first {:.1} s after the start", seconds(span.first - begun));
    let rate = calibration.drain(what.clone(), span.per_second(), target.from_the_broker).note(note);
    let spent = Spent { cpu, count: events.len() };
    let row = Row::of([rate]).cost(calibration, &what, &spent, Some(target.cost)).received(received);
    Ok(Drained { row, per_second: span.per_second(), cost: spent.per_1000(), accepted_per_second: None })
}

pub(super) async fn from_paused_endpoints(
    bench: &Bench,
    endpoints: &[Endpoint],
    (calibration, target): (&Calibration, Aim),
) -> anyhow::Result<Drained> {
    say(&format!("{EVENTS} accepted events wait for {} paused endpoints", endpoints.len()));
    let (orders, lengths) = orders(bench, endpoints, EVENTS);
    let events = by_sequence(&orders, &lengths);
    for endpoint in endpoints {
        bench.set_status(endpoint, "paused").await?;
    }
    let begun = now_micros();
    bench.source.publish(&events).await?;
    bench.accepted(endpoints, events.len()).await?;
    let accepted = events.len() as f64 / seconds(now_micros() - begun);
    let before = bench.cpu();
    for endpoint in endpoints {
        bench.set_status(endpoint, "active").await?;
    }
    let (received, span) = bench.received(&places(&events)).await?;
    bench.settled(endpoints).await?;
    let cpu = bench.cpu().since(&before);
    let what = format!("drain of accepted events, {}", counted(endpoints));
    let note = format!("accepted before at {accepted:.0}/s");
    let rate = calibration.drain(what.clone(), span.per_second(), target.accepted).note(note);
    let spent = Spent { cpu, count: events.len() };
    let row = Row::of([rate]).cost(calibration, &what, &spent, Some(target.cost)).received(received);
    Ok(Drained {
        row,
        per_second: span.per_second(),
        cost: spent.per_1000(),
        accepted_per_second: Some(accepted),
    })
}
