//! A real Prometheus scrapes a running stack: its metrics are those of `proto-docs/METRICS.md`, every alert can be
//! evaluated and is inactive on a healthy stack (alerts about speed may be pending), every panel's query has data, and
//! failures raise their alerts.

mod exposition;
mod prometheus;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, ensure};
use demo::clients::Api;
use demo::{eventually, sample_prepaid_order};
use local_stack::{Service, Stack};
use messaging::{Broker, Outgoing};
use prometheus::{Prometheus, files};
use reqwest::Method;
use serde_json::Value;
use settings::Secret;
use waybill_tests::{Business, PATIENCE};

/// Panels without data on a healthy stack, or without other scraped systems.
const MAY_BE_EMPTY: &[&str] = &["Errors by route", "Error ratio", "Reconciliation findings", "Spans"];
/// Alerts about slow calls. They may be pending on a machine that is busy with other tests, because their rates span
/// minutes.
const OF_SPEED: &[&str] = &["WaybillOrderLatencyHigh", "WaybillWebhookLatencyHigh"];
/// Grafana's value for a scrape interval of a second.
const RATE_INTERVAL: &str = "10s";

#[tokio::test(flavor = "multi_thread")]
async fn a_running_stack_is_seen_by_prometheus() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let prometheus = Prometheus::start(&stack).await?;
    record_each_kind_of_metric(&stack).await?;
    the_metrics_match_the_document(&stack).await?;
    every_service_is_up(&prometheus).await?;
    every_alert_is_evaluated_and_inactive(&prometheus).await?;
    every_panel_has_data(&prometheus).await?;
    a_dead_letter_raises_its_alert(&stack, &prometheus).await?;
    prometheus.stop().await?;
    stack.shut_down().await
}

async fn record_each_kind_of_metric(stack: &Stack) -> anyhow::Result<()> {
    let mut business = Business::sign_up(stack).await?;
    business.go_live(100_000).await?;
    let order = business.place(&sample_prepaid_order("seen-1")).await?;
    business.fleet.report(&order, "driver.assigned", 0).await?.expect(200)?;
    let order = business.place(&sample_prepaid_order("seen-2")).await?;
    let cancel = format!("/{order}/cancel");
    business.live()?.call(Method::POST, &cancel, None).await?.expect(200)?;
    business.webhooks_of("seen-1", 2).await?;
    business.webhooks_of("seen-2", 2).await?;
    Ok(())
}

async fn the_metrics_match_the_document(stack: &Stack) -> anyhow::Result<()> {
    let documented = exposition::documented()?;
    for service in Service::ALL {
        let api = Api::new(stack.management_url(service))?;
        // Some are measured every few seconds.
        let waited_for = Cell::new(String::new());
        let found = eventually("all metrics that exist from the start", PATIENCE, || async {
            let page = api.send(api.request(Method::GET, "/metrics")).await?;
            let exposed = exposition::read(&page.text)?;
            let of_service = documented.iter().filter(|(_, line)| line.is_of(service.name()));
            let from_the_start = of_service.filter(|(_, line)| line.from_the_start);
            let missing: Vec<_> =
                from_the_start.map(|(name, _)| name).filter(|name| !exposed.contains_key(*name)).collect();
            if !missing.is_empty() {
                waited_for.set(format!("{service:?} has no {missing:?}"));
                return Ok(None);
            }
            for (name, metric) in &exposed {
                let line = documented.get(name).filter(|line| line.is_of(service.name()));
                let expected = line.map(|line| &line.metric);
                ensure!(
                    expected == Some(metric),
                    "{name} of {service:?}: {metric:?}, and METRICS.md has {expected:?}"
                );
            }
            Ok(Some(()))
        });
        found.await.with_context(|| waited_for.take())?;
    }
    Ok(())
}

async fn every_service_is_up(prometheus: &Prometheus) -> anyhow::Result<()> {
    eventually("every target to be up", PATIENCE, || async {
        let up = prometheus.query("up == 1").await?;
        Ok((up.len() == Service::ALL.len()).then_some(()))
    })
    .await
}

/// A pending alert fires once its `for:` is over, so it counts as firing; [`OF_SPEED`] lists the exceptions.
async fn every_alert_is_evaluated_and_inactive(prometheus: &Prometheus) -> anyhow::Result<()> {
    let mut written = 0;
    for file in files("deploy/alerts", "yaml")? {
        written += fs::read_to_string(file)?.matches("- alert: ").count();
    }
    let waited_for = Cell::new(String::new());
    let inactive = eventually("every alert to be evaluated and inactive", PATIENCE, || async {
        let alerts = prometheus.alerts().await?;
        let failed = alerts.iter().find(|alert| alert["health"] == "err");
        ensure!(failed.is_none(), "an alert cannot be evaluated: {failed:?}");
        let firing = alerts.iter().find(|alert| alert["state"] == "firing");
        ensure!(firing.is_none(), "an alert fires on a healthy stack: {firing:?}");
        let of_speed = |alert: &Value| alert["name"].as_str().is_some_and(|name| OF_SPEED.contains(&name));
        let not_yet =
            |alert: &&Value| alert["health"] != "ok" || (alert["state"] != "inactive" && !of_speed(alert));
        let active: Vec<_> = alerts.iter().filter(not_yet).map(|alert| alert.to_string()).collect();
        let is_done = alerts.len() == written && active.is_empty();
        waited_for.set(format!("{} of {written}, and {active:?}", alerts.len() - active.len()));
        Ok(is_done.then_some(()))
    });
    inactive.await.with_context(|| format!("inactive alerts: {}", waited_for.take()))
}

async fn every_panel_has_data(prometheus: &Prometheus) -> anyhow::Result<()> {
    let waited_for = Cell::new(String::new());
    // A rate needs two scrapes.
    let shown = eventually("every panel to have data", PATIENCE, || async {
        let mut empty = Vec::new();
        for file in files("deploy/dashboards", "json")? {
            let dashboard: Value = serde_json::from_slice(&fs::read(&file)?)?;
            empty.extend(empty_panels(prometheus, &dashboard).await?);
        }
        empty.retain(|title| !MAY_BE_EMPTY.contains(&title.as_str()));
        let is_done = empty.is_empty();
        waited_for.set(empty.join(", "));
        Ok(is_done.then_some(()))
    });
    shown.await.with_context(|| format!("panels without data: {}", waited_for.take()))
}

/// An error of Prometheus is an error here.
async fn empty_panels(prometheus: &Prometheus, dashboard: &Value) -> anyhow::Result<Vec<String>> {
    let mut empty = Vec::new();
    for panel in dashboard["panels"].as_array().into_iter().flatten() {
        let mut has_data = false;
        for target in panel["targets"].as_array().into_iter().flatten() {
            let expression = target["expr"].as_str().unwrap_or_default();
            let expression =
                expression.replace("$__rate_interval", RATE_INTERVAL).replace("$namespace", ".*");
            has_data |= !prometheus.query(&expression).await?.is_empty();
        }
        if !has_data {
            empty.push(panel["title"].as_str().unwrap_or_default().to_owned());
        }
    }
    Ok(empty)
}

/// A message that no consumer can parse.
async fn a_dead_letter_raises_its_alert(stack: &Stack, prometheus: &Prometheus) -> anyhow::Result<()> {
    let broker = Broker::start(
        &settings::Broker { url: Secret::new(stack.broker_url()), ca: None, declare: false },
        "test",
    );
    let publisher = broker.publisher();
    publisher.connected().await?;
    let routing_key = "live.order.cancelled".to_owned();
    let body = b"no event".to_vec();
    publisher.publish(&[Outgoing { routing_key, message_id: "none".into(), body, trace: None }]).await?;
    broker.close().await;
    let queues = eventually("the alert of dead letters", PATIENCE, || async {
        let alerts = prometheus.alerts().await?;
        let raised = alerts.iter().filter(|alert| alert["name"] == "WaybillDeadLetters");
        let raised = raised.flat_map(|alert| alert["alerts"].as_array().cloned().unwrap_or_default());
        let queues: BTreeSet<String> =
            raised.filter_map(|alert| Some(alert["labels"]["queue"].as_str()?.to_owned())).collect();
        Ok((queues.len() == 2).then_some(queues))
    })
    .await?;
    assert_eq!(queues, ["wallet.refunds", "webhook-dispatcher.events"].map(str::to_owned).into());
    Ok(())
}
