//! The program itself: it migrates, serves, and logs no secret.

use std::process::Command;

use domain::Mode;
use serde_json::json;
use test_kit::{Program, service_command, until};
use url::Url;

use crate::harness::{Harness, TRACE_ID, client};
use crate::receiver::{Receiver, reply};

pub(crate) fn command(harness: &Harness, argument: &str) -> Command {
    let (program, settings) = (env!("CARGO_BIN_EXE_webhook-dispatcher"), &harness.settings);
    let mut command = service_command(program, argument, &settings.database, &settings.broker);
    command
        .env("WAYBILL_WEBHOOKS__ALLOW_HTTP", "true")
        .env("WAYBILL_WEBHOOKS__ALLOWED_RANGES", "127.0.0.0/8")
        .env("WAYBILL_WEBHOOKS__RETRY_SECONDS", "0.1,0.1,0.1")
        .env("WAYBILL_WEBHOOKS__PER_ENDPOINT", "8")
        .env("WAYBILL_TELEMETRY__FILTER", "debug,lapin=warn");
    command
}

/// Starts the program; its internal and management addresses.
pub(crate) fn start(command: &mut Command) -> (Program, Url, Url) {
    let program = Program::start(command);
    let (internal, management) = (program.next_address(), program.next_address());
    (program, internal, management)
}

#[tokio::test]
async fn its_logs_hold_no_secret_and_its_webhooks_go_on_with_the_trace() {
    let mut harness = Harness::start().await;
    harness.crash().await;
    assert!(command(&harness, "migrate").status().unwrap().success(), "migrating twice changes nothing");
    assert!(!command(&harness, "dance").status().unwrap().success());
    let receiver = Receiver::start(|_, before| reply(if before == 0 { 500 } else { 200 }));
    let (program, internal, _) = start(&mut command(&harness, "serve"));
    let hooks = client(&internal, &harness.settings.internal.token);
    let url = format!("{}?token=hunter2", receiver.url());
    let created = hooks.create(harness.business, &json!({ "url": url })).await.unwrap();
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it arrives", async || receiver.count() == 2).await;
    let traceparent = receiver.received()[1].header("traceparent").to_owned();
    assert!(traceparent.starts_with(&format!("00-{TRACE_ID}-")), "{traceparent}");
    hooks.test(harness.business, &created.view.id.to_string()).await.unwrap();
    let log = program.stop();
    assert!(log.contains(&created.view.id.to_string()), "the endpoint's id is logged");
    let key = created.secret.strip_prefix("whsec_").unwrap();
    for secret in [key, "hunter2", "local-key-for", "local-internal-token", "sha256="] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

#[tokio::test]
async fn rewrapping_introduces_another_key() {
    const FORMER: &str = "local-key-for-signing-secrets-of-the-local-stack";
    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let mut harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let id = endpoint.view.id.to_string();
    let staged = harness.hooks.rotate_secret(harness.business, &id, &json!({})).await.unwrap();
    harness.crash().await;

    let rewrap = |previous: &str| {
        let mut command = command(&harness, "rewrap");
        command.env("WAYBILL_SECRETS__KEY", KEY).env("WAYBILL_SECRETS__PREVIOUS_KEYS", previous);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, said) = rewrap("local-some-other-key");
    assert!(code == Some(1) && said.contains("1 endpoints: no configured key decrypts"), "{said}");
    let (code, said) = rewrap(&format!("local-some-other-key,{FORMER}"));
    assert!(
        code == Some(0) && said.contains("1 endpoints: secrets are encrypted with the current key"),
        "{said}"
    );
    let (code, said) = rewrap("");
    assert!(code == Some(0) && said.contains("0 endpoints"), "a repeated run finds nothing: {said}");
    let mut broken = command(&harness, "rewrap");
    broken.env("WAYBILL_DATABASE__URL", "postgres://nobody@127.0.0.1:9/nothing");
    assert_eq!(broken.output().unwrap().status.code(), Some(2));
    let mut help = command(&harness, "rewrap");
    let output = help.arg("--help").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.contains("Usage: "), "{said}");

    // With the new key alone, both secrets sign.
    harness.settings.secrets.key = settings::Secret::new(KEY);
    harness.restart();
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it arrives", async || receiver.count() == 1).await;
    let received = receiver.received().remove(0);
    let (at, now) = (received.header("service-timestamp"), harness.clock.now().timestamp());
    for (secret, header) in
        [(&endpoint.secret, "service-signature"), (&staged.secret, "service-signature-next")]
    {
        let signature = received.header(header);
        let verified = webhook_signature::verify(secret, at, signature, &received.body, now, 60);
        assert_eq!(verified, Ok(()), "{header}");
    }
}

#[tokio::test]
async fn unreadable_secrets_are_reported_at_the_start() {
    let mut harness = Harness::start().await;
    harness.create(json!({ "url": "http://127.0.0.1:9/hook" })).await;
    harness.crash().await;
    let mut command = command(&harness, "serve");
    let (program, _, management) = start(command.env("WAYBILL_SECRETS__KEY", "local-another-key"));
    let metrics = management.join("metrics").unwrap();
    until("it is counted", async || {
        let text = test_kit::client().get(metrics.clone()).send().await.unwrap().text().await.unwrap();
        text.lines()
            .any(|line| line.starts_with("webhook_endpoints_with_unreadable_secret") && line.ends_with(" 1"))
    })
    .await;
    assert!(program.stop().contains("signing secrets are encrypted with a key that is neither"));
}

#[tokio::test]
async fn counters_exist_before_their_first_event() {
    let mut harness = Harness::start().await;
    harness.crash().await;
    let (program, _, management) = start(&mut command(&harness, "serve"));
    let metrics = management.join("metrics").unwrap();
    let read = async || {
        let page = test_kit::client().get(metrics.clone()).send().await.unwrap();
        page.text().await.unwrap()
    };
    let queue = r#"queue="webhook-dispatcher.events""#;
    // Consumers begin a moment after the service listens.
    until("the consumer has begun", async || {
        read().await.lines().any(|line| line.starts_with("messages_consumed_total{") && line.contains(queue))
    })
    .await;
    let text = read().await;
    let counter = |name: &str, labels: &[&str]| {
        let of_name = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
        let found = text.lines().filter(of_name).find(|line| labels.iter().all(|label| line.contains(label)));
        found.unwrap_or_else(|| panic!("{name} {labels:?} is missing in: {text}")).rsplit(' ').next().unwrap()
    };
    for name in [
        "webhook_breaker_trips_total",
        "webhook_outcomes_fenced_total",
        "webhook_held_back_overflow_total",
        "webhook_held_back_total",
        "webhook_recovered_total",
        "webhook_skipped_total",
        "webhook_taken_over_total",
    ] {
        assert_eq!(counter(name, &[]), "0", "{name}");
    }
    for outcome in ["handled", "dead_lettered", "requeued", "failing", "abandoned", "panicked"] {
        let outcome = format!("outcome=\"{outcome}\"");
        assert_eq!(counter("messages_consumed_total", &[queue, &outcome]), "0", "{outcome}");
    }
    for outcome in ["succeeded", "bad_status", "timeout", "connection", "refused"] {
        let outcome = format!("outcome=\"{outcome}\"");
        assert_eq!(counter("webhook_attempts_total", &[&outcome]), "0", "{outcome}");
    }
    program.stop();
}
