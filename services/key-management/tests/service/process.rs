//! The program itself: it migrates, serves, and stops without forgetting.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use domain::Mode;
use serde_json::{Value, json};
use url::Url;

use crate::harness::{Harness, client, until};

/// A running program, killed at the end of the test whatever happens.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already, as it should.
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

fn command(harness: &Harness, argument: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_key-management"));
    command
        .arg(argument)
        .env("WAYBILL_DATABASE__URL", harness.settings.database.url.expose())
        .env("WAYBILL_BROKER__URL", harness.settings.broker.url.expose())
        .env("WAYBILL_HTTP__INTERNAL", "127.0.0.1:0")
        .env("WAYBILL_HTTP__MANAGEMENT", "127.0.0.1:0")
        .stdout(Stdio::piped());
    command
}

/// The address in the next log line that tells of a listener.
fn next_address(log: &mut BufReader<ChildStdout>) -> Url {
    loop {
        let mut line = String::new();
        assert_ne!(log.read_line(&mut line).expect("a log line"), 0, "the program ended early");
        let line: Value = serde_json::from_str(&line).expect("log lines are JSON");
        if line["message"] == "listening" {
            let address = line["address"].as_str().expect("an address");
            return Url::parse(&format!("http://{address}/")).expect("a URL");
        }
    }
}

#[tokio::test]
async fn the_program_migrates_serves_and_stops_without_forgetting() {
    // Only its database and broker are used here; a second instance is nothing unusual.
    let harness = Harness::start().await;
    assert!(command(&harness, "migrate").status().unwrap().success(), "migrating twice changes nothing");
    assert!(!command(&harness, "dance").status().unwrap().success());

    let mut program = Program(command(&harness, "serve").spawn().unwrap());
    let mut log = BufReader::new(program.0.stdout.take().unwrap());
    let (internal, management) = (next_address(&mut log), next_address(&mut log));
    let keys = client(&internal, &harness.settings.internal.token);
    until("the program is ready", async || {
        let ready = reqwest::get(management.join("health/ready").unwrap()).await;
        ready.is_ok_and(|answer| answer.status().is_success())
    })
    .await;

    let created = keys.create(harness.business, &json!({"mode": Mode::Test, "name": "shop"})).await.unwrap();
    assert!(keys.verify(&created.key).await.unwrap().verdict.is_some());
    let id = program.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(program.0.wait().unwrap().success());
    assert!(harness.view(&created).await.last_used_at.is_some(), "the last use was written at the end");

    let rest = log.lines().map_while(Result::ok).collect::<Vec<_>>().join("\n");
    assert!(rest.contains(&created.view.id.to_string()), "the key's id is logged");
    assert!(!rest.contains(&created.key), "the key is not");
}
