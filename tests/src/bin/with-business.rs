//! `with-business -- <command…>`: starts a stack with a business that may place live orders, and runs the command with
//! its addresses and keys as environment variables. `make test-api` and `make test-pages` use it.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use local_stack::{Servers, Service, Stack, StackOptions, TestServers, free_port};
use reqwest::Method;
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};
use waybill_tests::{Business, smallest_order, text};

/// More than the runs can spend.
const TOP_UP_PAISE: i64 = 100_000_000;
const TOP_UPS: usize = 3;
/// Orders that exist from the start.
const ORDERS: usize = 4;

/// Run a command next to a stack with a business that may place live orders
#[derive(Parser)]
struct Arguments {
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let Arguments { command } = Arguments::parse();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let identity_provider = format!("http://127.0.0.1:{}", free_port()?);
    let stack = tokio::select! {
        stack = start(&identity_provider) => stack?,
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
        .args(&command)
        .env("ORDER_API", stack.order_api_origin())
        .env("TEST_KEY", &business.test_key)
        .env("LIVE_KEY", &live_key)
        .env("FLEET_TOKEN", stack.fleet_token())
        .env("PORTAL", stack.portal_api())
        .env("OPERATOR_CONSOLE", stack.operator_console())
        .env("OPERATOR_TOKEN", stack.operator_token())
        .env("IDENTITY_PROVIDER", &identity_provider)
        .env("MAIL_FOLDER", stack.directory().join("mails"))
        .env("TEST_ORDERS", test)
        .env("LIVE_ORDERS", live)
        .kill_on_drop(true)
        .spawn()
        .context("starting setpriv (of util-linux)")?;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            // The terminal sends the signal to the command too.
            _ = interrupt.recv() => {}
            _ = terminate.recv() => child.start_kill()?,
        }
    };
    stack.shut_down().await?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The staff can log in with an identity provider, which the tests of the pages start.
async fn start(identity_provider: &str) -> anyhow::Result<Stack> {
    let directory = Stack::test_directory()?;
    let servers: &'static TestServers = Servers::for_tests().await?;
    let single_sign_on = [
        ("WAYBILL_SSO__ISSUER", identity_provider),
        ("WAYBILL_SSO__CLIENT_ID", "waybill-RS256"),
        ("WAYBILL_SSO__CLIENT_SECRET", "a secret of the provider in tests"),
        ("WAYBILL_SSO__SCOPES", "email profile groups"),
        ("WAYBILL_SSO__ROLES", "ops=administrator"),
        ("WAYBILL_SSO__LABEL", "Log in with Delivery ID"),
    ];
    let options = StackOptions::on_test_servers(&directory, servers);
    let options = single_sign_on
        .into_iter()
        .fold(options, |options, (name, value)| options.variable(Service::PortalApi, name, value));
    Stack::start_for_test(options).await
}

/// Places some orders. Returns each as `id:trackingCode:event`.
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
