//! From the order call to the webhook: all services, the database, the broker, the callers and the receiver on the same
//! processors.

use std::collections::HashSet;
use std::time::Duration;

use demo::clients::Portal;
use domain::Mode;
use local_stack::Service;
use serde_json::json;
use waybill_tests::figure::Target;
use waybill_tests::text;

use super::calibrate::calibrate;
use super::report::Spent;
use super::{Bench, Row, events, now_micros, seconds};
use crate::{load, order};

const CALLERS: usize = 32;
const TIME: Duration = Duration::from_secs(6);
const WARM_UP: Duration = Duration::from_secs(2);

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let calibration = calibrate(bench).await?;
    let (portal, key) = sign_up(bench, "orders").await?;
    let endpoint = bench.endpoint(portal.business_id.parse()?, Mode::Test, "/orders").await?;
    let target = order::target(&bench.stack.order_api_origin(), &key)?;
    let warm = load::run(&target, "webhook-warm", CALLERS, WARM_UP).await?.calls();
    bench.hooks.reaches(warm, super::PATIENCE).await?;
    bench.settled(std::slice::from_ref(&endpoint)).await?;
    bench.hooks.forget().await?;

    let before = bench.cpu();
    let begun = now_micros();
    let measured = load::run(&target, "webhook", CALLERS, TIME).await?;
    bench.hooks.reaches(measured.calls(), super::PATIENCE).await?;
    bench.settled(std::slice::from_ref(&endpoint)).await?;
    let cpu = bench.cpu().since(&before);
    let expected = placed(bench, &portal.business_id, "webhook-").await?;
    let (mut received, span) = bench.received(&expected).await?;
    // A response without an order would be missing here.
    received.missing += measured.calls().abs_diff(expected.len());
    let rate = measured.calls() as f64 / seconds(span.last - begun);
    let calls = format!(
        "the calls alone {:.0}/s, p50 {:.1} ms, p99 {:.1} ms",
        measured.per_second(),
        measured.percentile(0.5).as_secs_f64() * 1_000.0,
        measured.percentile(0.99).as_secs_f64() * 1_000.0,
    );
    bench.delete(&[endpoint]).await?;
    let what = format!("order calls to webhooks, {CALLERS} callers, one endpoint");
    let figure = calibration.rate(what.clone(), rate).target(Target::AtLeast(3_700.0)).note(calls);
    let spent = Spent { cpu, count: measured.calls() };
    let row = Row::of([figure]).cost(&calibration, &what, &spent, Some(0.45)).received(received);
    Ok(vec![calibration.row(), row])
}

/// A business with a Test key.
pub(super) async fn sign_up(bench: &Bench, name: &str) -> anyhow::Result<(Portal, String)> {
    let email = format!("{name}@example.com");
    let portal = Portal::sign_up(&bench.stack.portal_api(), name, &email, "a-long-password").await?;
    let key = portal.post("/api-keys", &json!({ "mode": "test", "name": name })).await?.expect(201)?;
    Ok((portal, text(&key, "key")?))
}

/// The first events of the orders with this prefix, without those of the warm-up.
async fn placed(bench: &Bench, business: &str, prefix: &str) -> anyhow::Result<HashSet<super::Place>> {
    let sql = format!(
        "SELECT id FROM orders WHERE business_id = '{business}' AND order_reference LIKE '{prefix}%'
         AND order_reference NOT LIKE 'webhook-warm%'"
    );
    let ids = bench.stack.query(Service::OrderApi, &sql).await?;
    Ok(ids.lines().map(|id| ("/orders".to_owned(), events::bare(id), 1)).collect())
}
