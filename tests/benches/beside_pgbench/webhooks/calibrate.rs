//! What the machine can do at all: pgbench making the commits of an order, and a bare loop of HTTP calls to the receiver.

use std::time::Duration;

use local_stack::{Stack, say};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::hooks::Hooks;
use crate::orders;
use crate::{compare, order};

const TIME: Duration = Duration::from_secs(5);
const PGBENCH_CLIENTS: usize = 32;
/// As many as the dispatcher sends at once by default.
const CONNECTIONS: usize = 32;
/// As long as a webhook's body.
const BODY: &str = r#"{"id":"evt_01KAKPXA3M0000000000000000","event":"order.created","sequence":1,"mode":"test","occurredAt":"2026-01-01T00:00:00.000Z","order":{"id":"ord_01KAKPXA3M0000000000000000","serviceOrderId":"ord_01KAKPXA3M0000000000000000","orderReference":"shop-ord_01KAKPXA3M0000000000000000","trackingCode":"TEST-0000-0000-0000-0","trackingUrl":"https://tracking.example/track/0000-0000-0000","status":"created","codStatus":"pending"},"data":{}}"#;

#[derive(Clone, Copy)]
pub(crate) struct Calibration {
    /// Not where the stack is kept from run to run.
    pgbench: Option<f64>,
    posts: f64,
}

impl Calibration {
    pub(crate) fn text(&self) -> String {
        let pgbench = self.pgbench.map_or(String::new(), |rate| {
            format!(" pgbench, {PGBENCH_CLIENTS} clients, the commits of an order: {rate:.0}/s;")
        });
        let posts = self.posts;
        format!(
            "Calibration:{pgbench} a bare POST loop over {CONNECTIONS} connections to the same receiver: {posts:.0}/s"
        )
    }

    /// A rate beside both.
    pub(crate) fn beside(&self, per_second: f64) -> String {
        let pgbench =
            self.pgbench.map_or(String::new(), |rate| format!(", {:.2} × pgbench", per_second / rate));
        format!("{per_second:.0}/s ({:.2} × bare POST{pgbench})", per_second / self.posts)
    }
}

pub(crate) async fn calibrate(stack: &Stack, hooks: &Hooks) -> anyhow::Result<Calibration> {
    // pgbench writes what an order of ours looks like, so that there must be one.
    let target = order::target(&stack.order_api_origin(), &orders::test_key(stack).await?)?;
    compare::warm_up(stack, &target).await?;
    say("Calibrating");
    let pgbench = orders::baseline(stack).await?.run(PGBENCH_CLIENTS, TIME).await?.per_second;
    Ok(Calibration { pgbench: Some(pgbench), ..of_posts(hooks).await? })
}

/// Without pgbench.
pub(crate) async fn of_posts(hooks: &Hooks) -> anyhow::Result<Calibration> {
    let posts = bare_posts(&format!("{}/bare", hooks.origin())).await?;
    hooks.forget().await?;
    Ok(Calibration { pgbench: None, posts })
}

/// The client that the dispatcher uses, without anything around it.
async fn bare_posts(url: &str) -> anyhow::Result<f64> {
    let http = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build()?;
    let begun = Instant::now();
    let mut callers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (http, url) = (http.clone(), url.to_owned());
        callers.spawn(async move {
            let mut calls = 0_u32;
            while begun.elapsed() < TIME {
                http.post(&url).body(BODY).send().await?.error_for_status()?.bytes().await?;
                calls += 1;
            }
            anyhow::Ok(calls)
        });
    }
    let mut calls = 0;
    while let Some(caller) = callers.join_next().await {
        calls += caller??;
    }
    Ok(f64::from(calls) / begun.elapsed().as_secs_f64())
}
