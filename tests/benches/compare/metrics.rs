//! The metrics that a service reports.

use demo::clients::Api;
use local_stack::{Service, Stack};
use reqwest::Method;

/// Its `/metrics`.
pub(crate) async fn of(stack: &Stack, service: Service) -> anyhow::Result<String> {
    let metrics = Api::new(stack.management_url(service))?;
    Ok(metrics.send(metrics.request(Method::GET, "/metrics")).await?.text)
}

/// The sum of the series whose line begins with `name` and contains `label`.
pub(crate) fn sum(metrics: &str, name: &str, label: &str) -> f64 {
    let series = metrics.lines().filter(|line| line.starts_with(name) && line.contains(label));
    series.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}
