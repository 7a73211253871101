//! The `reference-shop` program as a separate process.

use std::process::Output;

use reference_shop::ShopSettings;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::bench::{API_KEY, Bench, event};
use crate::remote::Next;

fn command(settings: &ShopSettings, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reference-shop"));
    command
        .args(arguments)
        .env_clear()
        .env("WAYBILL_DATABASE__URL", settings.database.url.expose())
        .env("WAYBILL_BASE_URL", settings.base_url.as_str())
        .env("WAYBILL_API_KEY", settings.api_key.expose())
        .env("WAYBILL_WEBHOOK_SECRET", crate::bench::SECRET)
        .kill_on_drop(true);
    command
}

async fn run(settings: &ShopSettings, arguments: &[&str]) -> Output {
    let output = command(settings, arguments).output().await.unwrap();
    for text in [&output.stdout, &output.stderr] {
        assert!(!String::from_utf8_lossy(text).contains(API_KEY), "the key is shown nowhere");
    }
    output
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_placed_retried_and_shown() {
    let bench = Bench::new().await;
    bench.remote.next([Next::Answer(402, json!({"message": "The wallet balance is too low.", "code": "x"}))]);
    let refused = run(&bench.settings, &["order", "A-1", "prepaid"]).await;
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("The wallet balance is too low. (402 x)"));

    let synced = run(&bench.settings, &["sync", "A-1"]).await;
    assert!(synced.status.success(), "{synced:?}");
    let shown = run(&bench.settings, &["show", "A-1"]).await;
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("A-1  created  created  https://track.example/TRACK-A-1  -"), "{shown}");

    let repeated = run(&bench.settings, &["order", "A-1"]).await;
    assert!(!repeated.status.success());
    assert_eq!(bench.remote.seen().len(), 2);
    let usage = run(&bench.settings, &["sync-everything"]).await;
    assert!(String::from_utf8_lossy(&usage.stderr).contains("Usage:"));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_serves_until_the_stop_signal() {
    let bench = Bench::new().await;
    bench.created("A-1").await;
    let mut serving = command(&bench.settings, &["serve", "127.0.0.1:0"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(serving.stdout.take().unwrap()).lines();
    let url = loop {
        let line = lines.next_line().await.unwrap().expect("it says where it listens");
        if let Some(url) = line.strip_prefix("receiving webhooks at ") {
            break url.to_owned();
        }
    };
    let body = serde_json::to_vec(&event("order.delivered", 5, "A-1", "delivered")).unwrap();
    let now = domain::Clock::system().now().timestamp();
    let response = test_kit::client()
        .post(url)
        .header("Service-Timestamp", now)
        .header("Service-Signature", webhook_signature::sign(crate::bench::SECRET, now, &body))
        .body(body)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status().as_u16(), 200);
    bench.processed("evt_A-1_5").await;

    let process = serving.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &process]).status().await.unwrap().success());
    assert!(serving.wait().await.unwrap().success());
}
