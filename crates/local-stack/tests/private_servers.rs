//! Private servers survive a kill with their data and leave nothing behind.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail their test by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use lapin::options::{BasicGetOptions, BasicPublishOptions, ConfirmSelectOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use local_stack::{Listener, Notice, Postgres, PostgresOptions, query};
use test_kit::OwnBroker;

fn test_directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("waybill-{name}-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    directory
}

fn ignored_notices() -> Listener {
    Arc::new(|_| {})
}

/// The command lines of all processes that mention the directory.
fn processes_of(directory: &Path) -> Vec<String> {
    let directory = directory.to_string_lossy().into_owned();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let words = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    words
        .map(|words| String::from_utf8_lossy(&words).into_owned())
        .filter(|words| words.contains(&directory))
        .collect()
}

fn postgres_options(directory: &Path) -> PostgresOptions {
    let port = local_stack::free_port().unwrap();
    let password = "letmein".to_owned();
    PostgresOptions {
        directory: directory.to_owned(),
        port,
        password,
        survives_power_cuts: false,
        language: None,
    }
}

#[tokio::test]
async fn postgres_keeps_committed_data_after_a_kill() {
    let directory = test_directory("postgres");
    let notices = Arc::new(Mutex::new(Vec::new()));
    let listener: Listener = {
        let notices = Arc::clone(&notices);
        Arc::new(move |notice| notices.lock().unwrap().push(notice.clone()))
    };
    let server = Postgres::start(&postgres_options(&directory), listener).await.unwrap();
    let url = server.create_database("shop", "secret").await.unwrap();
    query(&url, "CREATE TABLE kept (id int); INSERT INTO kept VALUES (7);").await.unwrap();

    let first = server.pid().unwrap();
    server.kill().await.unwrap();
    server.ready().await.unwrap();
    assert_ne!(server.pid().unwrap(), first);
    assert_eq!(query(&url, "SELECT id FROM kept;").await.unwrap(), "7");
    // An existing database is found by name, with its data.
    assert_eq!(server.create_database("shop", "secret").await.unwrap(), url);
    server.restart().await.unwrap();
    assert_eq!(query(&url, "SELECT id FROM kept;").await.unwrap(), "7");

    assert!(!processes_of(&directory).is_empty());
    drop(server);
    assert_eq!(processes_of(&directory), Vec::<String>::new());
    let deaths =
        notices.lock().unwrap().iter().filter(|notice| matches!(notice, Notice::Died { .. })).count();
    assert_eq!(deaths, 1, "a requested stop is not a death: {notices:?}");
    fs::remove_dir_all(&directory).unwrap();
}

#[tokio::test]
async fn postgres_runs_where_its_account_cannot_reach_the_checkout() {
    let closed = test_directory("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let directory = closed.join("stack");
    let options = postgres_options(&directory);
    let server = Postgres::start(&options, ignored_notices()).await.unwrap();
    let url = server.create_database("shop", "secret").await.unwrap();
    query(&url, "CREATE TABLE kept (id int);").await.unwrap();
    drop(server);

    let server = Postgres::start(&options, ignored_notices()).await.unwrap();
    query(&url, "SELECT id FROM kept;").await.unwrap();
    drop(server);
    let data = fs::canonicalize(directory.join("postgres")).unwrap();
    assert!(local_stack::forget(&directory).unwrap());
    assert!(!data.exists(), "{} is still there", data.display());
    fs::remove_dir_all(&closed).unwrap();
}

async fn channel(url: &str) -> Channel {
    let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
    connection.create_channel().await.unwrap()
}

#[tokio::test]
async fn rabbitmq_keeps_confirmed_messages_after_a_kill() {
    let own = OwnBroker::start().await;
    let before = channel(&own.url).await;
    let mut quorum = FieldTable::default();
    quorum.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    let durable = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    before.queue_declare("orders".into(), durable, quorum).await.unwrap();
    before.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
    let sent = before.basic_publish(
        "".into(),
        "orders".into(),
        BasicPublishOptions::default(),
        b"kept",
        BasicProperties::default(),
    );
    assert!(sent.await.unwrap().await.unwrap().is_ack());
    own.queues_are_on_disk(&["orders"]).await;

    own.server.kill().await.unwrap();
    own.server.ready().await.unwrap();
    let after = channel(&own.url).await;
    let got = after.basic_get("orders".into(), BasicGetOptions::default()).await.unwrap().unwrap();
    assert_eq!(got.delivery.data, b"kept");

    let OwnBroker { server, directory, .. } = own;
    assert!(!processes_of(directory.path()).is_empty());
    drop(server);
    assert_eq!(processes_of(directory.path()), Vec::<String>::new());
}
