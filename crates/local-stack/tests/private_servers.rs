//! Servers of one's own: they survive being killed with their data, and leave nothing behind.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail their test by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lapin::options::{BasicGetOptions, BasicPublishOptions, ConfirmSelectOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use local_stack::{
    Listener, Notice, Postgres, PostgresOptions, RabbitMq, RabbitMqOptions, RabbitMqPorts, query,
};

fn test_directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("waybill-{name}-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    directory
}

fn unheard() -> Listener {
    Arc::new(|_| {})
}

/// The words of every process that mentions the directory.
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
    PostgresOptions { directory: directory.to_owned(), port, password, survives_power_cuts: false }
}

#[tokio::test]
async fn postgres_comes_back_from_a_kill_with_what_was_committed() {
    let directory = test_directory("postgres");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener: Listener = {
        let heard = Arc::clone(&heard);
        Arc::new(move |notice| heard.lock().unwrap().push(notice.clone()))
    };
    let server = Postgres::start(&postgres_options(&directory), listener).await.unwrap();
    let url = server.create_database("shop", "secret").await.unwrap();
    query(&url, "CREATE TABLE kept (id int); INSERT INTO kept VALUES (7);").await.unwrap();

    let first = server.pid().unwrap();
    server.kill().await.unwrap();
    server.ready().await.unwrap();
    assert_ne!(server.pid().unwrap(), first);
    assert_eq!(query(&url, "SELECT id FROM kept;").await.unwrap(), "7");
    // Again by name: an existing database is found, with its data.
    assert_eq!(server.create_database("shop", "secret").await.unwrap(), url);
    server.restart().await.unwrap();
    assert_eq!(query(&url, "SELECT id FROM kept;").await.unwrap(), "7");

    assert!(!processes_of(&directory).is_empty());
    drop(server);
    assert_eq!(processes_of(&directory), Vec::<String>::new());
    let deaths = heard.lock().unwrap().iter().filter(|notice| matches!(notice, Notice::Died { .. })).count();
    assert_eq!(deaths, 1, "a stop that was asked for is no death: {heard:?}");
    fs::remove_dir_all(&directory).unwrap();
}

#[tokio::test]
async fn postgres_runs_where_its_account_cannot_reach_the_checkout() {
    let closed = test_directory("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let directory = closed.join("stack");
    let options = postgres_options(&directory);
    let server = Postgres::start(&options, unheard()).await.unwrap();
    let url = server.create_database("shop", "secret").await.unwrap();
    query(&url, "CREATE TABLE kept (id int);").await.unwrap();
    drop(server);

    let server = Postgres::start(&options, unheard()).await.unwrap();
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

/// A RabbitMQ of the 3.10 series saves the names of new quorum queues only twice a second, and a queue whose name was
/// not saved is lost in a crash, messages and all. This is about messages.
async fn queue_is_on_disk(directory: &Path) {
    let names = directory.join("rabbitmq/data/waybill@localhost/quorum/waybill@localhost/names.dets");
    for _ in 0..500 {
        let names = fs::read(&names).unwrap_or_default();
        if names.windows(11).any(|bytes| bytes == b"shop_orders") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the queue's name was not saved within 10 s");
}

#[tokio::test]
async fn rabbitmq_comes_back_from_a_kill_with_what_was_confirmed() {
    let directory = test_directory("rabbitmq");
    let ports = RabbitMqPorts {
        amqp: local_stack::free_port().unwrap(),
        distribution: local_stack::free_port().unwrap(),
        epmd: local_stack::free_port().unwrap(),
    };
    let options = RabbitMqOptions { directory: directory.clone(), ports, password: "letmein".into() };
    let server = RabbitMq::start(&options, unheard()).await.unwrap();
    let url = server.create_vhost("shop").await.unwrap();

    let before = channel(&url).await;
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
    queue_is_on_disk(&directory).await;

    server.kill().await.unwrap();
    server.ready().await.unwrap();
    let after = channel(&url).await;
    let got = after.basic_get("orders".into(), BasicGetOptions::default()).await.unwrap().unwrap();
    assert_eq!(got.delivery.data, b"kept");

    assert!(!processes_of(&directory).is_empty());
    drop(server);
    assert_eq!(processes_of(&directory), Vec::<String>::new());
    fs::remove_dir_all(&directory).unwrap();
}
