//! Initialises logs and traces.

use std::time::Duration;

use anyhow::Context as _;
use opentelemetry::global;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use settings::LogFormat;
use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::export;

/// The time limit for exporting the last spans, after the rest of the service has stopped within the platform's 25 s.
const STOP_MAX: Duration = Duration::from_secs(1);
/// Spans of endless work. They add fields to log lines, but are not exported.
const ENDLESS: &str = "worker";
/// Libraries whose own spans are not exported.
const FOREIGN: [&str; 6] = ["actix", "h2", "hyper", "lapin", "opentelemetry", "reqwest"];

/// Keeps the exporter alive, and exports the remaining spans when the service stops.
pub struct Telemetry {
    provider: SdkTracerProvider,
}

impl Telemetry {
    /// Exports the last spans, within a second.
    pub fn stop(self) {
        if let Err(error) = self.provider.shutdown_with_timeout(STOP_MAX) {
            tracing::warn!(%error, "exporting the last traces failed");
        }
    }
}

/// Starts logs on standard output and, with a collector, traces over OTLP/HTTP. Trace ids are always created and
/// propagated, whatever the log filter.
///
/// # Errors
/// When the filter or the collector's address is invalid, or telemetry is already initialised.
pub fn init(settings: &settings::Telemetry, service: &'static str) -> anyhow::Result<Telemetry> {
    global::set_text_map_propagator(TraceContextPropagator::new());
    let provider = export::tracer_provider(settings, service)?;
    global::set_tracer_provider(provider.clone());
    let traces = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer(service))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_filter(filter_fn(is_traced).with_max_level_hint(LevelFilter::INFO));
    let filter = EnvFilter::try_new(&settings.filter).context("WAYBILL_TELEMETRY__FILTER")?;
    let lines = match settings.format {
        LogFormat::Json => fmt::layer().json().flatten_event(true).with_current_span(false).boxed(),
        LogFormat::Pretty => fmt::layer().with_target(false).boxed(),
    };
    tracing_subscriber::registry().with(traces).with(lines.with_filter(filter)).try_init()?;
    Ok(Telemetry { provider })
}

/// # Errors
/// Describes the format of a filter when the filter is invalid.
pub fn check_filter(settings: &settings::Telemetry) -> Result<(), &'static str> {
    match EnvFilter::try_new(&settings.filter) {
        Ok(_) => Ok(()),
        Err(_) => Err("must be levels, by module where wanted, such as info,wallet=debug"),
    }
}

fn is_traced(metadata: &Metadata<'_>) -> bool {
    *metadata.level() <= LevelFilter::INFO
        && metadata.name() != ENDLESS
        && !FOREIGN.iter().any(|foreign| metadata.target().starts_with(foreign))
}
