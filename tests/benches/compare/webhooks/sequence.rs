//! Whether the events of an order arrive in their sequence when many are published close together and out of sequence,
//! as by several relays.

use domain::Mode;
use waybill_tests::figure::{Figure, Target, Unit};

use super::calibrate::calibrate;
use super::events::{EVENTS_MAX, Event, places};
use super::report::Spent;
use super::{Bench, Row};

const ORDERS: usize = 2_000;
/// Orders whose events are mixed.
const MIXED: usize = 25;

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let calibration = calibrate(bench).await?;
    let endpoint = bench.endpoint(bench.new_business(), Mode::Test, "/sequence").await?;
    let orders: Vec<_> =
        (0..ORDERS).map(|_| bench.source.order(endpoint.business, endpoint.mode, &endpoint.path)).collect();
    let mut events: Vec<Event<'_>> = Vec::new();
    for orders in orders.chunks(MIXED) {
        let mut block: Vec<Event<'_>> =
            orders.iter().flat_map(|order| (1..=EVENTS_MAX).map(move |sequence| (order, sequence))).collect();
        shuffle(bench, &mut block);
        events.extend(block);
    }
    let before = bench.cpu();
    bench.source.publish(&events).await?;
    let (received, span) = bench.received(&places(&events)).await?;
    bench.settled(std::slice::from_ref(&endpoint)).await?;
    let cpu = bench.cpu().since(&before);
    bench.delete(&[endpoint]).await?;
    let what = format!("{ORDERS} orders of {EVENTS_MAX} events, shuffled, one endpoint");
    let figure = Figure::new(format!("{what}: out of order"), received.out_of_order as f64, Unit::Count)
        .target(Target::AtMost(0.0))
        .note(format!("{:.0} webhooks a second", span.per_second()));
    let spent = Spent { cpu, count: events.len() };
    let row = Row::of([figure]).cost(&calibration, &what, &spent, None).received(received);
    Ok(vec![calibration.row(), row])
}

fn shuffle(bench: &Bench, events: &mut [Event<'_>]) {
    for last in (1..events.len()).rev() {
        let below = u32::try_from(last + 1).unwrap_or(u32::MAX);
        events.swap(last, bench.source.entropy.below(below) as usize);
    }
}
