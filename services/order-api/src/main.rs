//! `order-api serve` (the default) and `order-api migrate`.

use order_api::settings::OrderApiSettings;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let settings: OrderApiSettings = settings::load()?;
    let telemetry = telemetry::init(&settings.telemetry, "order-api")?;
    let outcome = match std::env::args().nth(1).as_deref() {
        Some("migrate") => {
            postgres::migrate(&settings.database, vec![outbox::MIGRATIONS, order_api::store::MIGRATIONS])
                .await
        }
        Some("serve") | None => {
            let metrics = telemetry::install_metrics("order-api")?;
            order_api::app::start(settings, metrics)?.until_stopped().await
        }
        Some(other) => Err(anyhow::anyhow!("unknown command {other}: use serve or migrate")),
    };
    telemetry.stop();
    outcome
}
