//! API keys: create, verify, rotate, revoke.

use domain::{Clock, Entropy};
use key_management::{Service, Settings};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let settings: Settings = settings::load()?;
    let telemetry = telemetry::init(&settings.telemetry, "key-management")?;
    let outcome = match std::env::args().nth(1).as_deref() {
        None | Some("serve") => serve(&settings).await,
        Some("migrate") => key_management::migrate(&settings.database).await,
        Some(other) => Err(anyhow::anyhow!("{other} is no command; there are serve and migrate")),
    };
    telemetry.stop();
    outcome
}

async fn serve(settings: &Settings) -> anyhow::Result<()> {
    let metrics = telemetry::install_metrics("key-management")?;
    Service::start(settings, metrics, Clock::system(), Entropy::from_system()?)?.run().await
}
