//! Starts the service with its own database and virtual host, and publishes events as order-api's outbox would.

use chassis::Chassis;
use chrono::{DateTime, Utc};
use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection};
use domain::{
    BusinessId, Clock, CodStatus, DeliveryStatus, Entropy, EventId, EventKind, Mode, OrderId, Paise,
    TrackingCode,
};
use events::{Body, Envelope, OrderEvent, OrderSnapshot, ProgressData, queues};
use internal_api::webhooks::{
    CreatedEndpoint, DeliveryDetails, DeliveryState, DeliveryView, EndpointView, WebhooksClient,
};
use lapin::options::{QueueDeclareOptions, QueuePurgeOptions};
use lapin::types::FieldTable;
use lapin::{Channel, Connection, ConnectionProperties};
use messaging::{Broker, Outgoing, Publisher, Queue};
use serde::Serialize;
use serde_json::{Value, json};
use settings::{Brand, Environment, Events, Internal, Secret, Telemetry};
use telemetry::TraceContext;
use test_kit::{Service, until};
use tokio::task::JoinHandle;
use url::Url;
use webhook_dispatcher::{RetrySchedule, Secrets, Settings, Webhooks};

use crate::receiver::Receiver;

/// The trace that every published event belongs to.
pub(crate) const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// One running service, and a business that uses it.
pub(crate) struct Harness {
    pub hooks: WebhooksClient,
    pub business: BusinessId,
    pub clock: Clock,
    pub entropy: Entropy,
    pub settings: Settings,
    pub internal: Url,
    publisher: Publisher,
    _broker: Broker,
    running: JoinHandle<anyhow::Result<()>>,
}

impl Harness {
    /// Retries within a second, and the machine's clock.
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}, Clock::system()).await
    }

    pub(crate) async fn start_with(adjust: impl FnOnce(&mut Settings), clock: Clock) -> Self {
        let broker = test_kit::broker().await;
        Self::begin(Settings { broker, ..settings().await }, adjust, clock)
    }

    /// As [`Harness::start`], without a broker, for tests that publish nothing.
    pub(crate) async fn unconnected() -> Self {
        Self::unconnected_with(|_| {}, Clock::system()).await
    }

    pub(crate) async fn unconnected_with(adjust: impl FnOnce(&mut Settings), clock: Clock) -> Self {
        Self::begin(settings().await, adjust, clock)
    }

    fn begin(mut settings: Settings, adjust: impl FnOnce(&mut Settings), clock: Clock) -> Self {
        adjust(&mut settings);
        let entropy = Entropy::from_system().expect("randomness");
        let broker = Broker::start(&settings.broker, "test");
        let (internal, running) = run(&settings, &clock, &entropy);
        let business = BusinessId::generate(&clock, &entropy);
        let hooks = client(&internal, &settings.internal.token);
        let publisher = broker.publisher();
        Self { hooks, business, clock, entropy, settings, internal, publisher, _broker: broker, running }
    }

    /// Aborts the service at any point, as a crash would, and starts another one.
    pub(crate) async fn crash_and_restart(&mut self) {
        self.crash().await;
        self.restart();
    }

    /// Starts the service again after a crash.
    pub(crate) fn restart(&mut self) {
        let (internal, running) = run(&self.settings, &self.clock, &self.entropy);
        self.hooks = client(&internal, &self.settings.internal.token);
        (self.internal, self.running) = (internal, running);
    }

    pub(crate) async fn crash(&mut self) {
        self.running.abort();
        let ended = (&mut self.running).await;
        assert!(ended.is_err_and(|error| error.is_cancelled()), "it ended without the abort");
    }

    /// Another tenant of the same service.
    pub(crate) fn new_business(&self) -> BusinessId {
        BusinessId::generate(&self.clock, &self.entropy)
    }

    pub(crate) async fn create(&self, input: Value) -> CreatedEndpoint {
        self.hooks.create(self.business, &input).await.expect("an endpoint")
    }

    /// An endpoint with the usual subscription.
    pub(crate) async fn endpoint(&self, receiver: &Receiver) -> CreatedEndpoint {
        self.create(json!({ "url": receiver.url() })).await
    }

    pub(crate) async fn view(&self, endpoint: &CreatedEndpoint) -> EndpointView {
        self.hooks.get(self.business, &endpoint.view.id.to_string()).await.expect("the endpoint")
    }

    pub(crate) async fn patch(&self, endpoint: &CreatedEndpoint, input: Value) -> EndpointView {
        let id = endpoint.view.id.to_string();
        self.hooks.update(self.business, &id, &input).await.expect("the endpoint, changed")
    }

    /// The endpoint's log, newest first.
    pub(crate) async fn deliveries(&self, endpoint: &CreatedEndpoint) -> Vec<DeliveryView> {
        let query = DeliveriesQuery { limit: Some(100), ..DeliveriesQuery::default() };
        let id = endpoint.view.id.to_string();
        self.hooks.deliveries(self.business, &id, &query.text()).await.expect("a log").data
    }

    /// Whether the endpoint's latest delivery has succeeded.
    pub(crate) async fn succeeded(&self, endpoint: &CreatedEndpoint) -> bool {
        let log = self.deliveries(endpoint).await;
        log.first().is_some_and(|one| one.status == DeliveryState::Succeeded)
    }

    pub(crate) async fn details(&self, delivery: &DeliveryView) -> DeliveryDetails {
        self.hooks.delivery(self.business, &delivery.id.to_string()).await.expect("a delivery")
    }

    pub(crate) fn new_order(&self, mode: Mode) -> TestOrder {
        let id = OrderId::generate(&self.clock, &self.entropy);
        TestOrder { business: self.business, id, reference: format!("shop-{id}"), mode }
    }

    pub(crate) fn envelope(&self, order: &TestOrder, sequence: i64, kind: EventKind) -> Envelope {
        order.envelope(
            EventId::generate(&self.clock, &self.entropy),
            sequence,
            kind,
            &self.entropy,
            &self.clock,
        )
    }

    /// As a relay publishes them: in this order, confirmed.
    pub(crate) async fn publish(&self, envelopes: &[Envelope]) {
        let messages = Vec::from_iter(envelopes.iter().map(outgoing));
        // The broker may just be coming back.
        until("the broker to take the events", async || self.publisher.publish(&messages).await.is_ok())
            .await;
    }

    /// As a relay does that does not know whether it has published them before.
    pub(crate) async fn publish_again(&self, envelopes: &[Envelope]) {
        let messages = Vec::from_iter(envelopes.iter().map(outgoing));
        until("the broker to take the events", async || {
            self.publisher.publish_again(&messages).await.is_ok()
        })
        .await;
    }

    /// Publishes the order's first event.
    pub(crate) async fn publish_created(&self, order: &TestOrder) -> Envelope {
        let envelope = self.envelope(order, 1, EventKind::OrderCreated);
        self.publish(std::slice::from_ref(&envelope)).await;
        envelope
    }

    /// The number of dead-lettered events.
    pub(crate) async fn dead_letters(&self) -> u32 {
        look_at(&self.channel().await, Queue::shared(queues::WEBHOOK_EVENTS).dead_letters())
            .await
            .message_count()
    }

    /// Call this after a crash. Otherwise the broker delivers again what was not acknowledged.
    pub(crate) async fn discard_messages(&self) {
        let channel = self.channel().await;
        let name = Queue::shared(queues::WEBHOOK_EVENTS).name().to_string();
        let no_consumer = async || look_at(&channel, name.clone()).await.consumer_count() == 0;
        until("the broker knows of the crash", no_consumer).await;
        channel.queue_purge(name.into(), QueuePurgeOptions::default()).await.expect("the queue");
    }

    async fn channel(&self) -> Channel {
        let url = self.settings.broker.url.expose();
        let connection =
            Connection::connect(url, ConnectionProperties::default()).await.expect("a connection");
        connection.create_channel().await.expect("a channel")
    }

    /// Inserts completed deliveries of the endpoint, newer than all others.
    pub(crate) async fn fill(&self, endpoint: &CreatedEndpoint, count: u32) {
        let (business, endpoint) = (self.business, endpoint.view.id);
        let fill = format!(
            "INSERT INTO events (event_id, business_id, kind, mode, body, occurred_at)
             SELECT 'evt_7' || lpad(n::text, 25, '0'), '{business}', 'wallet.low_balance', 'live', '', now()
             FROM generate_series(1, {count}) AS n;
             INSERT INTO deliveries (id, event_id, endpoint_id, business_id, kind, mode, in_turn, state, attempts,
                 earlier_attempts, created_at, completed_at)
             SELECT 'whd_7' || lpad(n::text, 25, '0'), 'evt_7' || lpad(n::text, 25, '0'), '{endpoint}', '{business}',
                 'wallet.low_balance', 'live', false, 'succeeded', 1, 0, now(), now()
             FROM generate_series(1, {count}) AS n"
        );
        self.connection().await.batch_execute(&fill).await.unwrap();
    }

    /// The number of rows in a table, or in `table WHERE condition`.
    pub(crate) async fn count(&self, from: &str) -> i64 {
        use diesel_async::RunQueryDsl;
        let count = diesel::dsl::sql::<diesel::sql_types::BigInt>(&format!("(SELECT count(*) FROM {from})"));
        diesel::select(count).first(&mut self.connection().await).await.expect("a number")
    }

    /// The text that a query returns.
    pub(crate) async fn text(&self, query: &str) -> String {
        use diesel_async::RunQueryDsl;
        let text = diesel::dsl::sql::<diesel::sql_types::Text>(&format!("({query})"));
        diesel::select(text).first(&mut self.connection().await).await.expect("a text")
    }

    /// The next attempts of all deliveries are due in that many seconds, by the database's clock, and pauses of breakers end.
    pub(crate) async fn set_due_in(&self, seconds: i32) {
        let due = format!(
            "UPDATE deliveries SET due_at = clock_timestamp() + interval '{seconds} seconds' WHERE due_at IS NOT NULL;
             UPDATE endpoint_health SET tripped_until = clock_timestamp() WHERE tripped_until IS NOT NULL"
        );
        self.connection().await.batch_execute(&due).await.expect("another time");
    }

    /// The events of such rows.
    pub(crate) async fn events_of(&self, from: &str) -> Vec<String> {
        use diesel_async::RunQueryDsl;
        let ids = diesel::dsl::sql::<diesel::sql_types::Array<diesel::sql_types::Text>>(&format!(
            "(SELECT array_agg(event_id) FROM {from})"
        ));
        diesel::select(ids).first(&mut self.connection().await).await.expect("events")
    }

    pub(crate) async fn connection(&self) -> AsyncPgConnection {
        AsyncPgConnection::establish(self.settings.database.url.expose()).await.expect("a connection")
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// An order with events.
#[derive(Clone, Debug)]
pub(crate) struct TestOrder {
    pub business: BusinessId,
    pub id: OrderId,
    pub reference: String,
    pub mode: Mode,
}

impl TestOrder {
    fn envelope(
        &self,
        id: EventId,
        sequence: i64,
        kind: EventKind,
        entropy: &Entropy,
        clock: &Clock,
    ) -> Envelope {
        Envelope {
            id,
            business_id: self.business,
            occurred_at: clock.now(),
            body: Body::Order(Box::new(OrderEvent {
                event: kind,
                sequence,
                mode: self.mode,
                order: OrderSnapshot {
                    id: self.id,
                    order_reference: self.reference.clone(),
                    tracking_code: TrackingCode::generate(self.mode, entropy),
                    tracking_url: "https://track.example/x".to_owned(),
                    status: DeliveryStatus::Created,
                    cod_status: CodStatus::Pending,
                },
                data: ProgressData::default(),
                delivery_fee_paise: Paise::new(4_900),
                refund_due: false,
                cod_expected_paise: None,
                recorded_at: None,
            })),
        }
    }
}

/// The kinds of a delivery from order to settled cash, in their order.
pub(crate) const LIFE: [EventKind; 8] = [
    EventKind::OrderCreated,
    EventKind::DriverAssigned,
    EventKind::OrderPickedUp,
    EventKind::OrderOutForDelivery,
    EventKind::OrderDelivered,
    EventKind::CodCollected,
    EventKind::CodHandedOver,
    EventKind::CodSettled,
];

async fn look_at(channel: &Channel, queue: String) -> lapin::Queue {
    let look = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
    channel.queue_declare(queue.into(), look, FieldTable::default()).await.expect("the queue")
}

pub(crate) fn client(internal: &Url, token: &Secret) -> WebhooksClient {
    WebhooksClient(test_kit::peer("webhook-dispatcher", internal, token))
}

/// A time for manual clocks.
pub(crate) fn some_day() -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_225_600, 0).expect("a time")
}

pub(crate) fn retries(text: &str) -> RetrySchedule {
    RetrySchedule::try_from(text.to_owned()).expect("a schedule")
}

pub(crate) fn run(
    settings: &Settings,
    clock: &Clock,
    entropy: &Entropy,
) -> (Url, JoinHandle<anyhow::Result<()>>) {
    let (settings, clock, entropy) = (settings.clone(), clock.clone(), entropy.clone());
    test_kit::in_background(move || {
        let chassis = Chassis::new(&settings, test_kit::metrics("webhook-dispatcher"), clock, entropy)
            .expect("a chassis");
        let service = webhook_dispatcher::start(&settings, chassis).expect("the service starts");
        (test_kit::url(service.internal), service.run())
    })
}

async fn settings() -> Settings {
    Settings {
        environment: Environment::Local,
        database: test_kit::database_of(Service::WebhookDispatcher).await,
        broker: settings::Broker::new(test_kit::unreachable_broker()),
        http: test_kit::listeners(),
        internal: Internal::default(),
        brand: Brand::default(),
        events: Events::default(),
        secrets: Secrets::default(),
        webhooks: Webhooks {
            allow_http: true,
            allowed_ranges: "127.0.0.0/8".parse().expect("a range"),
            retry_seconds: retries("0.1,0.1,0.1,0.1,0.1,0.1"),
            timeout_seconds: 5.0,
            ..Webhooks::default()
        },
        telemetry: Telemetry::default(),
    }
}

/// Query parameters of the log.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveriesQuery {
    pub limit: Option<usize>,
    pub starting_after: Option<String>,
    pub status: Option<String>,
    pub event: Option<String>,
    pub mode: Option<String>,
    pub response_status: Option<String>,
    pub order_reference: Option<String>,
    pub since: Option<String>,
    pub until: Option<String>,
}

impl DeliveriesQuery {
    pub(crate) fn text(&self) -> String {
        let fields = serde_json::to_value(self).expect("JSON");
        let mut url = Url::parse("http://log").expect("a URL");
        for (name, value) in fields.as_object().expect("fields").iter().filter(|(_, value)| !value.is_null())
        {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            url.query_pairs_mut().append_pair(name, &value);
        }
        url.query().unwrap_or_default().to_owned()
    }
}

fn outgoing(envelope: &Envelope) -> Outgoing {
    Outgoing {
        routing_key: envelope.routing_key().as_str().to_owned(),
        message_id: envelope.id.to_string(),
        body: serde_json::to_vec(envelope).expect("JSON"),
        trace: Some(TraceContext {
            traceparent: format!("00-{TRACE_ID}-00f067aa0ba902b7-01"),
            tracestate: None,
        }),
    }
}
