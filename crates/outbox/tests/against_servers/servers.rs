//! A migrated database, a broker, a relay between them, and a recording consumer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{BusinessId, Clock, Entropy, EventId};
use events::{Body, EXCHANGE, Envelope, binding, queues};
use lapin::options::{QueueBindOptions, QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Connection, ConnectionProperties};
use local_stack::query;
use messaging::{Broker, Handler, Queue, Rejection};
use outbox::{Outbox, Relay, Unit};
use postgres::{Database, StoreError};
use settings::Secret;
use test_kit::until;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A new database with the outbox's tables.
pub(crate) async fn database() -> (Database, String) {
    let settings = test_kit::database().await;
    postgres::migrate(&settings, vec![outbox::MIGRATIONS], postgres::ROWS).await.unwrap();
    (Database::new(&settings).unwrap(), settings.url.expose().to_owned())
}

pub(crate) fn broker(url: &str) -> Broker {
    Broker::start(&settings::Broker::new(Secret::new(url)), "test")
}

/// Events of a kind that `portal-api.facts` is bound to.
#[derive(Clone)]
pub(crate) struct Events {
    entropy: Entropy,
    clock: Clock,
    /// A commit wakes a relay with this outbox. Any other one finds the events later, as if another process had written
    /// them.
    pub(crate) outbox: Outbox,
}

impl Events {
    pub(crate) fn new() -> Self {
        let (entropy, clock) = (Entropy::from_system().unwrap(), Clock::system());
        Self { entropy, clock, outbox: Outbox::default() }
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    pub(crate) fn funded(&self) -> Envelope {
        Envelope {
            id: EventId::generate(&self.clock, &self.entropy),
            business_id: BusinessId::generate(&self.clock, &self.entropy),
            occurred_at: self.now(),
            body: Body::WalletFunded {},
        }
    }

    /// Commits `count` new events to the outbox.
    pub(crate) async fn commit(&self, database: &Database, count: usize) -> Result<Vec<EventId>, StoreError> {
        self.commit_all(database, (0..count).map(|_| self.funded()).collect()).await
    }

    pub(crate) fn first_test_order(&self) -> Envelope {
        Envelope { body: Body::FirstTestOrder {}, ..self.funded() }
    }

    pub(crate) async fn commit_all(
        &self,
        database: &Database,
        envelopes: Vec<Envelope>,
    ) -> Result<Vec<EventId>, StoreError> {
        database
            .transaction(async |conn| self.outbox.enqueue(conn, &envelopes, self.now()).await)
            .await
            .map(|()| envelopes.iter().map(|envelope| envelope.id).collect())
    }
}

#[derive(Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<HashMap<EventId, Received>>>);

#[derive(Clone, Default)]
pub(crate) struct Received {
    pub(crate) times: usize,
    /// Whether the latest one may have been published before.
    pub(crate) is_again: bool,
    /// The latest trace.
    pub(crate) trace: Option<String>,
}

impl Recorder {
    pub(crate) fn received(&self) -> HashMap<EventId, Received> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn has_all(&self, ids: &[EventId]) -> bool {
        let received = self.0.lock().unwrap();
        ids.iter().all(|id| received.contains_key(id))
    }

    /// Consumes the facts until the returned task is stopped.
    pub(crate) fn listen(&self, broker: &Broker) -> Running {
        let (broker, recorder) = (broker.clone(), self.clone());
        Running::start(|stop| messaging::consume(broker, Queue::shared(queues::FACTS), 32, recorder, stop))
    }

    fn record(&self, event: EventId, is_again: bool) {
        let mut received = self.0.lock().unwrap();
        let Received { times, .. } = received.entry(event).or_default();
        let trace = telemetry::trace_id(&tracing::Span::current());
        let now = Received { times: *times + 1, is_again, trace };
        received.insert(event, now);
    }
}

impl Handler for Recorder {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        self.record(envelope.id, false);
        Ok(())
    }

    async fn handle_again(&self, envelope: Envelope) -> Result<(), Rejection> {
        self.record(envelope.id, true);
        Ok(())
    }
}

pub(crate) fn unit(database: &Database, outbox: &Outbox, clock: Clock) -> Unit {
    Unit { database: database.clone(), clock, entropy: Entropy::seeded(1), outbox: outbox.clone() }
}

/// A task that ends on request.
pub(crate) struct Running {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) fn start<F: Future<Output = ()> + Send + 'static>(
        task: impl FnOnce(CancellationToken) -> F,
    ) -> Self {
        let stop = CancellationToken::new();
        Self { task: tokio::spawn(task(stop.clone())), stop }
    }

    pub(crate) fn relay(database: &Database, broker: &Broker, outbox: &Outbox, clock: Clock) -> Self {
        let relay = Relay::new(&unit(database, outbox, clock), broker.publisher());
        Self::start(|stop| relay.run(stop))
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        tokio::time::timeout(Duration::from_secs(15), self.task).await.unwrap().unwrap();
    }
}

pub(crate) async fn count(url: &str, sql: &str) -> u64 {
    query(url, sql).await.unwrap().parse().unwrap()
}

pub(crate) async fn waiting(url: &str) -> u64 {
    count(url, "SELECT count(*) FROM outbox_messages").await
}

/// Adds or removes a binding of a queue.
pub(crate) async fn bind(url: &str, queue: &str, binding: &str, is_bound: bool) {
    let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    let (queue, exchange, binding) = (queue.into(), EXCHANGE.into(), binding.into());
    let arguments = FieldTable::default();
    if is_bound {
        channel.queue_bind(queue, exchange, binding, QueueBindOptions::default(), arguments).await.unwrap();
    } else {
        channel.queue_unbind(queue, exchange, binding, arguments).await.unwrap();
    }
    connection.close(200, "done".into()).await.unwrap();
}

/// Creates a queue that takes at most `length` events of this kind, and refuses further ones.
pub(crate) async fn short_queue(url: &str, name: &str, binding: &str, length: i64) {
    let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    let mut arguments = FieldTable::default();
    arguments.insert("x-max-length".into(), AMQPValue::LongLongInt(length));
    arguments.insert("x-overflow".into(), AMQPValue::LongString("reject-publish".into()));
    let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    channel.queue_declare(name.into(), options, arguments).await.unwrap();
    connection.close(200, "done".into()).await.unwrap();
    bind(url, name, binding, true).await;
}

pub(crate) async fn delete_queue(url: &str, name: &str) {
    let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    channel.queue_delete(name.into(), QueueDeleteOptions::default()).await.unwrap();
    connection.close(200, "done".into()).await.unwrap();
}

/// Lets a relay create the queues, and removes the binding for funded wallets. Returns the broker of a service that
/// creates no queues, and so does not restore this one.
pub(crate) async fn without_a_queue_for_funded(
    database: &Database,
    vhost: &str,
    (maker, events, recorder): (&Broker, &Events, &Recorder),
) -> Broker {
    let making = Running::relay(database, maker, &Outbox::default(), Clock::system());
    let first = events.commit(database, 1).await.unwrap();
    until("the queues exist", async || recorder.has_all(&first)).await;
    making.stop().await;
    bind(vhost, Queue::shared(queues::FACTS).name(), binding::WALLET_FUNDED, false).await;
    let platform = settings::Broker { declare: false, ..settings::Broker::new(Secret::new(vhost)) };
    Broker::start(&platform, "test")
}
