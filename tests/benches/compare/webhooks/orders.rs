//! From the order call to the webhook: all services, the database, the broker, the callers and the receiver on the same
//! processors.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::ensure;
use domain::Mode;
use local_stack::Service;
use waybill_tests::figure::{Figure, Target, Unit};

use super::{Bench, EventKey, ORDERS, events, now_micros, seconds};
use crate::compare::Cost;
use crate::pgbench::Baseline;
use crate::{load, order};

const CALLERS: usize = 32;
const TIME: Duration = Duration::from_secs(6);
const WARM_UP: Duration = Duration::from_secs(2);
const RATIO: f64 = 0.67;

pub(super) async fn run(bench: &Bench<'_>, baseline: &Baseline) -> anyhow::Result<[Figure; 2]> {
    let (portal, key) = order::sign_up(bench.stack, "orders").await?;
    let endpoint = [bench.endpoint(portal.business_id.parse()?, Mode::Test, "/orders").await?];
    let target = order::target(bench.stack, &key)?;
    let warm = load::run(&target, "warm", CALLERS, WARM_UP).await?.calls();
    bench.hooks.reaches(warm, super::PATIENCE).await?;
    bench.settled(&endpoint).await?;
    bench.hooks.forget().await?;

    let theirs = bench.pgbench(baseline).await?;
    let before = bench.cpu();
    let begun = now_micros();
    let ours = load::run(&target, "webhook", CALLERS, TIME).await?;
    bench.hooks.reaches(ours.calls(), super::PATIENCE).await?;
    bench.settled(&endpoint).await?;
    let cost = Cost { cpu: bench.cpu().since(&before), done: ours.calls() as f64 };
    let expected = placed(bench, &portal.business_id).await?;
    ensure!(expected.len() == ours.calls(), "{} orders, but {} answers", expected.len(), ours.calls());
    let (received, span) = bench.received(&expected).await?;
    bench.delete(&endpoint).await?;
    let what = format!("order calls to webhooks, {CALLERS} callers, one endpoint");
    let rate = ours.calls() as f64 / seconds(span.last - begun);
    let rate = Figure::new(&what, rate, Unit::PerSecond)
        .compared_with(ORDERS, theirs.per_second)
        .target(Target::AtLeast(RATIO))
        .note(format!("the calls alone {:.0}/s, {}", ours.per_second(), ours.text()))
        .note(received.text());
    Ok([rate, cost.figure(&what, &theirs)])
}

/// The first events of the orders, without those of the warm-up.
async fn placed(bench: &Bench<'_>, business: &str) -> anyhow::Result<HashSet<EventKey>> {
    let sql = format!(
        "SELECT id FROM orders WHERE business_id = '{business}' AND order_reference LIKE 'webhook-%'"
    );
    let ids = bench.stack.query(Service::OrderApi, &sql).await?;
    Ok(ids.lines().map(|id| ("/orders".to_owned(), events::bare(id), 1)).collect())
}
