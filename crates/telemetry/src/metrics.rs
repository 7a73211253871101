//! Prometheus metrics. Recording goes through the `metrics` crate's macros anywhere; this renders them.

use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::process;

/// Seconds, from a cached read to a slow webhook.
const SECONDS_BUCKETS: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// Renders what has been recorded in this process, and what the kernel says of it.
#[derive(Clone)]
pub struct Metrics {
    recorded: PrometheusHandle,
    service: &'static str,
}

impl Metrics {
    /// In the Prometheus text format.
    pub fn render(&self) -> String {
        let mut text = self.recorded.render();
        process::append(self.service, &mut text);
        text
    }

    /// How often [`Metrics::upkeep`] wants to be called.
    pub const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

    /// Folds recorded samples together, which keeps memory bounded between scrapes.
    pub fn upkeep(&self) {
        self.recorded.run_upkeep();
    }
}

/// Jobs in a batch of writes, of 128 at most.
const JOBS_BUCKETS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// Installs the process-wide recorder. Histograms have buckets: those whose names end in `_seconds` for durations.
///
/// # Errors
/// When one is installed already.
pub fn install_metrics(service: &'static str) -> anyhow::Result<Metrics> {
    let recorded = PrometheusBuilder::new()
        .add_global_label("service", service)
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS_BUCKETS)?
        .set_buckets_for_metric(Matcher::Suffix("_jobs".into()), &JOBS_BUCKETS)?
        .install_recorder()?;
    metrics::gauge!("build_info", "version" => env!("CARGO_PKG_VERSION")).set(1);
    Ok(Metrics { recorded, service })
}
