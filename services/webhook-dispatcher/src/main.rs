//! Endpoints, subscriptions, deliveries, attempts, signing, retries.

fn main() -> anyhow::Result<()> {
    chassis::main(webhook_dispatcher::MIGRATIONS, webhook_dispatcher::start)
}
