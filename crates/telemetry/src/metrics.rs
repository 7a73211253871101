//! Prometheus metrics. Any code records them with the `metrics` crate's macros; this module renders them.

use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::process;

/// In seconds, from a cached read to a slow webhook.
const SECONDS_BUCKETS: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// From an event to its first webhook. The buckets distinguish a lag of half a minute from one of an hour.
const LAG_METRIC: &str = "webhook_first_attempt_lag_seconds";
const LAG_BUCKETS: [f64; 15] =
    [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0];

/// Renders the recorded metrics and the process metrics.
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

    /// The interval for calling [`Metrics::upkeep`].
    pub const UPKEEP_INTERVAL: Duration = Duration::from_secs(10);

    /// Merges recorded samples, which limits the memory between scrapes.
    pub fn upkeep(&self) {
        self.recorded.run_upkeep();
    }
}

/// The number of jobs in a write batch; at most 128.
const JOBS_BUCKETS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// Installs the process-wide recorder. Histograms have buckets; those of names that end in `_seconds` are for
/// durations.
///
/// # Errors
/// When a recorder is already installed.
pub fn install_metrics(service: &'static str) -> anyhow::Result<Metrics> {
    let recorded = builder(service)?.install_recorder()?;
    metrics::gauge!("build_info", "version" => env!("CARGO_PKG_VERSION")).set(1);
    Ok(Metrics { recorded, service })
}

fn builder(service: &'static str) -> anyhow::Result<PrometheusBuilder> {
    let builder = PrometheusBuilder::new()
        .add_global_label("service", service)
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS_BUCKETS)?
        .set_buckets_for_metric(Matcher::Suffix("_jobs".into()), &JOBS_BUCKETS)?
        // Full names take precedence over suffixes.
        .set_buckets_for_metric(Matcher::Full(LAG_METRIC.into()), &LAG_BUCKETS)?;
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An alert compares the lag with a value beyond the last bucket of other durations.
    #[test]
    fn lag_buckets_distinguish_minutes_from_hours() {
        let recorder = builder("test").unwrap().build_recorder();
        metrics::with_local_recorder(&recorder, || {
            for lag in [200.0, 4000.0] {
                metrics::histogram!(LAG_METRIC).record(lag);
                metrics::histogram!("broker_publish_duration_seconds").record(lag);
            }
        });
        let text = recorder.handle().render();
        for (metric, bucket, count) in [
            (LAG_METRIC, "30", 0),
            (LAG_METRIC, "300", 1),
            (LAG_METRIC, "3600", 1),
            (LAG_METRIC, "7200", 2),
            ("broker_publish_duration_seconds", "30", 0),
        ] {
            let line = format!(r#"{metric}_bucket{{service="test",le="{bucket}"}} {count}"#);
            assert!(text.lines().any(|found| found == line), "no {line} in:\n{text}");
        }
        assert!(!text.contains(r#"broker_publish_duration_seconds_bucket{service="test",le="60"}"#));
    }
}
