//! Endpoints, subscriptions, deliveries, attempts, signing, retries.

use domain::{Clock, Entropy};
use webhook_dispatcher::{Service, Settings};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let settings: Settings = settings::load()?;
    let telemetry = telemetry::init(&settings.telemetry, "webhook-dispatcher")?;
    let outcome = match std::env::args().nth(1).as_deref() {
        None | Some("serve") => serve(&settings).await,
        Some("migrate") => webhook_dispatcher::migrate(&settings.database).await,
        Some(other) => Err(anyhow::anyhow!("{other} is no command; there are serve and migrate")),
    };
    telemetry.stop();
    outcome
}

async fn serve(settings: &Settings) -> anyhow::Result<()> {
    let metrics = telemetry::install_metrics("webhook-dispatcher")?;
    Service::start(settings, metrics, Clock::system(), Entropy::from_system()?)?.run().await
}
