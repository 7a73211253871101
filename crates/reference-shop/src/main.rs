//! `reference-shop`, the shop's command line. `serve` receives webhooks; `order`, `sync` and `show` do the work of the
//! checkout and the staff. Settings are environment variables; the README lists them.

use std::io::Write;
use std::net::SocketAddr;

use anyhow::{Context, bail};
use clap::{Parser, ValueEnum};
use reference_shop::{LocalOrder, LocalOrderId, NewOrder, Shop, ShopSettings, SyncOutcome, WEBHOOK_PATH};

/// The backend of a small shop that integrates Waybill
#[derive(Parser)]
enum Arguments {
    /// Receive webhooks until Ctrl-C or SIGTERM
    Serve {
        /// The address to listen on: address:port
        address: SocketAddr,
    },
    /// Confirm a sample order and create its delivery
    Order {
        id: String,
        #[arg(default_value = "cod")]
        payment: PaymentType,
    },
    /// Retry creating the delivery of one order
    Sync { id: String },
    /// Print one order, or the newest 20
    Show { id: Option<String> },
}

#[derive(Clone, Copy, ValueEnum)]
enum PaymentType {
    Cod,
    Prepaid,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let log = settings::Telemetry { format: settings::LogFormat::Pretty, ..Default::default() };
    let telemetry = telemetry::init(&log, "reference-shop")?;
    let shop = Shop::open(settings::load::<ShopSettings>()?).await?;
    let result = run(&shop, arguments).await;
    telemetry.stop();
    result
}

async fn run(shop: &Shop, arguments: Arguments) -> anyhow::Result<()> {
    match arguments {
        Arguments::Serve { address } => serve(shop, address).await,
        Arguments::Order { id, payment } => {
            let order = match payment {
                PaymentType::Cod => NewOrder::sample(&id),
                PaymentType::Prepaid => NewOrder::sample_prepaid(&id),
            };
            sync(shop, &shop.confirm_order(order).await?).await
        }
        Arguments::Sync { id } => sync(shop, &LocalOrderId::parse(&id)?).await,
        Arguments::Show { id: Some(id) } => {
            let order = shop.order(&LocalOrderId::parse(&id)?).await?.context("there is no such order")?;
            print(&line(&order))
        }
        Arguments::Show { id: None } => {
            shop.orders(20).await?.iter().try_for_each(|order| print(&line(order)))
        }
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
            print(&format!("{id}: delivery created, {}", delivery.tracking_url))
        }
        SyncOutcome::AlreadyCreated(delivery) => {
            print(&format!("{id}: delivery exists already, {}", delivery.tracking_url))
        }
        SyncOutcome::InProgress => print(&format!("{id}: another attempt is in progress")),
        SyncOutcome::Failed { status, code, message } => {
            let status = status.map_or("no response".into(), |status| status.to_string());
            let code = code.unwrap_or_default();
            bail!("{id}: {message} ({status} {code}) The order is stored; retry with `sync {id}`.")
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
