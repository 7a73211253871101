//! Brokers for these tests, and the events that go through them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::DateTime;
use domain::{BusinessId, Clock, Entropy, EventId};
use events::{Body, Envelope};
use lapin::options::QueueDeclareOptions;
use lapin::types::FieldTable;
use lapin::{Connection, ConnectionProperties};
use local_stack::{RabbitMq, RabbitMqOptions, RabbitMqPorts, Servers};
use messaging::{Broker, Outgoing};
use settings::Secret;

pub(crate) fn broker(url: &str) -> Broker {
    Broker::start(&settings::Broker::new(Secret::new(url)), "test")
}

/// A virtual host of the test's own on the shared server.
pub(crate) async fn vhost() -> String {
    Servers::for_tests().await.unwrap().create_vhost().await.unwrap()
}

/// Events with ids that are never the same twice in a run, of a kind that `portal-api.facts` is bound to.
pub(crate) struct Events {
    entropy: Entropy,
    clock: Clock,
}

impl Events {
    pub(crate) fn new() -> Self {
        Self { entropy: Entropy::from_system().unwrap(), clock: Clock::manual(DateTime::UNIX_EPOCH) }
    }

    pub(crate) fn funded(&self) -> Envelope {
        self.event(Body::WalletFunded {})
    }

    pub(crate) fn event(&self, body: Body) -> Envelope {
        Envelope {
            id: EventId::generate(&self.clock, &self.entropy),
            business_id: BusinessId::generate(&self.clock, &self.entropy),
            occurred_at: self.clock.now(),
            body,
        }
    }
}

pub(crate) fn outgoing(envelope: &Envelope) -> Outgoing {
    Outgoing {
        routing_key: envelope.routing_key().as_str().to_owned(),
        message_id: envelope.id.to_string(),
        body: serde_json::to_vec(envelope).unwrap(),
        trace: None,
    }
}

/// Waits for a condition, for at most 30 s.
pub(crate) async fn until(what: &str, condition: impl AsyncFn() -> bool) {
    let wait = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(30), wait).await.is_ok(), "not within 30 s: {what}");
}

/// The number of messages that are ready in a queue.
pub(crate) async fn ready_messages(url: &str, queue: &str) -> u32 {
    state(url, queue).await.message_count()
}

/// The number of subscriptions to a queue.
pub(crate) async fn consumers(url: &str, queue: &str) -> u32 {
    state(url, queue).await.consumer_count()
}

async fn state(url: &str, queue: &str) -> lapin::Queue {
    let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    let passive = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
    let state = channel.queue_declare(queue.into(), passive, FieldTable::default()).await.unwrap();
    connection.close(200, "done".into()).await.unwrap();
    state
}

/// A broker that one test may kill.
pub(crate) struct OwnBroker {
    pub(crate) server: RabbitMq,
    pub(crate) url: String,
    directory: PathBuf,
}

impl OwnBroker {
    pub(crate) async fn start(name: &str) -> Self {
        Self::with_settings(name, |_home| String::new()).await
    }

    /// With further settings, as in `rabbitmq.conf`, and the files that they name, made in the folder given.
    pub(crate) async fn with_settings(name: &str, settings: impl FnOnce(&Path) -> String) -> Self {
        let directory = std::env::temp_dir().join(format!("waybill-messaging-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let further = directory.join("rabbitmq/conf.d");
        std::fs::create_dir_all(&further).unwrap();
        std::fs::write(further.join("further.conf"), settings(&directory)).unwrap();
        let options = RabbitMqOptions {
            directory: directory.clone(),
            ports: RabbitMqPorts::free(&Entropy::from_system().unwrap()).unwrap(),
            password: "letmein".into(),
        };
        let server = RabbitMq::start(&options, Arc::new(|_| {})).await.unwrap();
        let url = server.create_vhost("tested").await.unwrap();
        Self { server, url, directory }
    }

    /// RabbitMQ 3.10 saves the names of new quorum queues only twice a second, and loses a queue in a crash before that.
    pub(crate) async fn queues_are_on_disk(&self) {
        let names =
            self.directory.join("rabbitmq/data/waybill@localhost/quorum/waybill@localhost/names.dets");
        until("the queues' names are on disk", async || {
            let names = std::fs::read(&names).unwrap_or_default();
            ["webhook-dispatcher.events", "wallet.refunds", "portal-api.facts"].iter().all(|queue| {
                let name = format!("tested_{queue}");
                names.windows(name.len()).any(|bytes| bytes == name.as_bytes())
            })
        })
        .await;
    }

    pub(crate) fn end(self) {
        drop(self.server);
        let _left = std::fs::remove_dir_all(&self.directory);
    }
}
