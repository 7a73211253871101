//! `with-business -- <command…>`: a stack of its own with a business that may order live, and the command beside it, told in
//! its environment where the APIs are and how to call them. `make test-api` runs Schemathesis so, `make test-pages` a browser.

use std::process::ExitCode;

use anyhow::{Context, bail};
use local_stack::{Servers, Stack, StackOptions, TestServers};
use reqwest::Method;
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};
use waybill_tests::{Business, smallest_order, text};

/// Far more than the runs can order for.
const TOP_UP_PAISE: i64 = 100_000_000;
const TOP_UPS: usize = 3;
/// What the command finds there from the start.
const ORDERS: usize = 4;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((separator, command)) = words.split_first() else {
        bail!("usage: with-business -- <command>...")
    };
    if separator != "--" || command.is_empty() {
        bail!("usage: with-business -- <command>...");
    }
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let stack = tokio::select! {
        stack = start() => stack?,
        _ = interrupt.recv() => return Ok(ExitCode::FAILURE),
        _ = terminate.recv() => return Ok(ExitCode::FAILURE),
    };
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(TOP_UP_PAISE).await?;
    for _ in 1..TOP_UPS {
        business.top_up(TOP_UP_PAISE).await?;
    }
    let live_key = business.live_key.clone().context("no live key")?;
    let (test, live) = (orders(&business, &business.test_key).await?, orders(&business, &live_key).await?);
    let mut child = Command::new("setpriv")
        .args(["--pdeathsig", "TERM", "--"])
        .args(command)
        .env("ORDER_API", stack.order_api_origin())
        .env("TEST_KEY", &business.test_key)
        .env("LIVE_KEY", &live_key)
        .env("FLEET_TOKEN", stack.fleet_token())
        .env("PORTAL", stack.portal_api())
        .env("OPERATOR_TOKEN", stack.operator_token())
        .env("MAIL_FOLDER", stack.directory().join("mails"))
        .env("TEST_ORDERS", test)
        .env("LIVE_ORDERS", live)
        .kill_on_drop(true)
        .spawn()
        .context("starting setpriv (of util-linux)")?;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            // The terminal told the command as well.
            _ = interrupt.recv() => {}
            _ = terminate.recv() => child.start_kill()?,
        }
    };
    stack.shut_down().await?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

async fn start() -> anyhow::Result<Stack> {
    let directory = Stack::test_directory()?;
    let servers: &'static TestServers = Servers::for_tests().await?;
    Stack::start_for_test(StackOptions::on_test_servers(&directory, servers)).await
}

/// Some orders, each as `id:trackingCode:event`, by which the command can ask for what exists.
async fn orders(business: &Business, key: &str) -> anyhow::Result<String> {
    let integration = business.integration(key)?;
    let mut known = Vec::new();
    for n in 0..ORDERS {
        let reference = format!("known-{n}");
        let placed = integration.create(&reference, &smallest_order(&reference)).await?.expect(201)?;
        let id = text(&placed, "id")?;
        let timeline = integration.call(Method::GET, &format!("/{id}/events"), None).await?.expect(200)?;
        let event = text(&timeline["data"][0], "id")?;
        known.push(format!("{id}:{}:{event}", text(&placed, "trackingCode")?));
    }
    Ok(known.join(","))
}
