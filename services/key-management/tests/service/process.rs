//! The program itself: it migrates, serves, and stops without forgetting.

use std::process::Command;

use domain::Mode;
use serde_json::json;
use test_kit::{Program, service_command};

use crate::harness::{Harness, client};

fn command(harness: &Harness, argument: &str) -> Command {
    let settings = &harness.settings;
    service_command(env!("CARGO_BIN_EXE_key-management"), argument, &settings.database, &settings.broker)
}

#[tokio::test]
async fn the_program_migrates_serves_and_stops_without_forgetting() {
    // Only its database and broker are used here; a second instance is nothing unusual.
    let harness = Harness::connected().await;
    assert!(command(&harness, "migrate").status().unwrap().success(), "migrating twice changes nothing");
    assert!(!command(&harness, "dance").status().unwrap().success());

    let program = Program::start(&mut command(&harness, "serve"));
    let (internal, _) = program.serves().await;
    let keys = client(&internal, &harness.settings.internal.token);

    let created =
        keys.create(harness.business, None, &json!({"mode": Mode::Test, "name": "shop"})).await.unwrap();
    assert!(keys.verify(&created.key).await.unwrap().key.is_some());
    let log = program.stop();
    assert!(harness.view(&created).await.last_used_at.is_some(), "the last use was written at the end");

    assert!(log.contains(&created.view.id.to_string()), "the key's id is logged");
    assert!(!log.contains(&created.key), "the key is not");
}
