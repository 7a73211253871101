//! The receiver, a child process that is queried for the received webhooks.

use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use demo::clients::Api;
use demo::eventually;
use reqwest::Method;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A running receiver. Dropping this ends it.
pub(super) struct Hooks {
    process: Child,
    api: Api,
}

/// A received webhook.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    pub(super) path: String,
    /// Microseconds since 1970.
    pub(super) at: i64,
    /// Without its prefix, like the order.
    pub(super) event: String,
    pub(super) order: String,
    pub(super) sequence: i64,
}

impl Hooks {
    pub(super) async fn start() -> anyhow::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("--receiver")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().context("the receiver's output")?;
        let port =
            BufReader::new(output).lines().next_line().await?.context("the receiver printed no port")?;
        let api = Api::new(format!("http://127.0.0.1:{}", port.trim()))?;
        Ok(Self { process, api })
    }

    pub(super) fn pid(&self) -> Option<u32> {
        self.process.id()
    }

    pub(super) fn origin(&self) -> &str {
        self.api.base()
    }

    pub(super) async fn count(&self) -> anyhow::Result<usize> {
        Ok(self.ask("/count").await?.parse()?)
    }

    pub(super) async fn forget(&self) -> anyhow::Result<()> {
        self.ask("/forget").await.map(drop)
    }

    /// All webhooks since the last reset, in order of arrival.
    pub(super) async fn arrivals(&self) -> anyhow::Result<Vec<Arrival>> {
        self.ask("/lines").await?.lines().map(parse).collect()
    }

    /// Waits for this many webhooks. Returns whether they arrived within `patience`.
    pub(super) async fn reaches(&self, count: usize, patience: Duration) -> anyhow::Result<bool> {
        let reached = eventually("the webhooks to arrive", patience, || async {
            Ok((self.count().await? >= count).then_some(()))
        });
        Ok(reached.await.is_ok())
    }

    async fn ask(&self, path: &str) -> anyhow::Result<String> {
        Ok(self.api.send(self.api.request(Method::GET, path)).await?.text)
    }
}

fn parse(line: &str) -> anyhow::Result<Arrival> {
    let mut words = line.split(' ').map(str::to_owned);
    let mut next = || words.next().with_context(|| format!("a short line: {line}"));
    Ok(Arrival {
        path: next()?,
        at: next()?.parse()?,
        event: next()?,
        order: next()?,
        sequence: next()?.parse().unwrap_or_default(),
    })
}
