//! `reference-shop`: the shop from the command line. `serve` receives webhooks; `order`, `sync` and `show` are what a
//! website's checkout and its staff would do. Settings come from the environment, as the README tells.

use std::io::Write;
use std::net::SocketAddr;

use anyhow::{Context, bail};
use reference_shop::{LocalOrder, LocalOrderId, NewOrder, Shop, ShopSettings, SyncOutcome, WEBHOOK_PATH};

const USAGE: &str = "\
usage: reference-shop serve <address:port>           receive webhooks until Ctrl-C or SIGTERM
       reference-shop order <id> [cod|prepaid]       confirm a sample order, and create its delivery
       reference-shop sync <id>                      try again to create the delivery of one order
       reference-shop show [<id>]                    one order, or the newest 20";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if !matches!(
        arguments[..],
        ["serve", _] | ["order", _] | ["order", _, "cod" | "prepaid"] | ["sync", _] | ["show"] | ["show", _]
    ) {
        bail!(USAGE);
    }
    let log = settings::Telemetry { format: settings::LogFormat::Pretty, ..Default::default() };
    let telemetry = telemetry::init(&log, "reference-shop")?;
    let shop = Shop::open(settings::load::<ShopSettings>()?).await?;
    let result = run(&shop, &arguments).await;
    telemetry.stop();
    result
}

async fn run(shop: &Shop, arguments: &[&str]) -> anyhow::Result<()> {
    match *arguments {
        ["serve", address] => serve(shop, address.parse().context("the address to listen on")?).await,
        ["order", id, "prepaid"] => {
            let id = shop.confirm_order(NewOrder::sample_prepaid(id)).await?;
            sync(shop, &id).await
        }
        ["order", id, ..] => {
            let id = shop.confirm_order(NewOrder::sample(id)).await?;
            sync(shop, &id).await
        }
        ["sync", id] => sync(shop, &LocalOrderId::parse(id)?).await,
        ["show", id] => {
            let order = shop.order(&LocalOrderId::parse(id)?).await?.context("there is no such order")?;
            print(&line(&order))
        }
        _ => shop.orders(20).await?.iter().try_for_each(|order| print(&line(order))),
    }
}

async fn serve(shop: &Shop, address: SocketAddr) -> anyhow::Result<()> {
    let (address, server) = shop.serve_webhooks(address).await?;
    print(&format!("receiving webhooks at http://{address}{WEBHOOK_PATH}"))?;
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminate.recv() => {}
    }
    Ok(server.stop().await?)
}

async fn sync(shop: &Shop, id: &LocalOrderId) -> anyhow::Result<()> {
    match shop.sync_order(id).await? {
        SyncOutcome::Created(delivery) | SyncOutcome::Recovered(delivery) => {
            print(&format!("{id}: the delivery is created, {}", delivery.tracking_url))
        }
        SyncOutcome::AlreadyCreated(delivery) => {
            print(&format!("{id}: the delivery was created before, {}", delivery.tracking_url))
        }
        SyncOutcome::InProgress => print(&format!("{id}: another attempt is under way")),
        SyncOutcome::Failed { status, code, message } => {
            let status = status.map_or("no answer".into(), |status| status.to_string());
            let code = code.unwrap_or_default();
            bail!("{id}: {message} ({status} {code}) The order is kept; try again with `sync {id}`.")
        }
    }
}

fn line(order: &LocalOrder) -> String {
    let delivery = order.delivery.as_ref();
    let field = |text: Option<&str>| text.unwrap_or("-").to_owned();
    format!(
        "{}  {}  {}  {}  {}",
        order.id,
        order.sync_status,
        field(delivery.map(|delivery| delivery.status.as_str())),
        field(delivery.map(|delivery| delivery.tracking_url.as_str())),
        field(order.sync_error.as_deref()),
    )
}

fn print(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
